/** Untrusted text on a terminal: no control characters, everything visible, and no line too wide. */
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { cellsOf, fitted, visible, visibleJson, visibleLines, widthOf } from "../../cli/terminal.ts"

const HIDDEN =
  /\p{Cc}|[\u2028\u2029\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/u

describe("visible", () => {
  const cases: ReadonlyArray<readonly [name: string, text: string, shown: string]> = [
    ["an escape sequence", "\u001b[2Ja\u001b]0;b\u0007", "␛[2Ja␛]0;b␇"],
    ["8-bit control characters", "\u009b2J\u0085", "�2J�"],
    ["line ends and tabs", "a\r\n\tb", "a ␊ b"],
    ["changes of text direction", "\u202egnp.exe\u2069", "�gnp.exe�"],
    ["invisible characters", "a\u200bb\ufeff\u00ad", "a�b��"],
    ["text hidden in tag characters", "hi\u{e0068}\u{e0069}\u{e0100}", "hi���"],
    ["a lone surrogate", "\ud83d!", "�!"],
    ["other scripts and emoji unchanged", "Zürich 漢字 हिन्दी 👩‍👩‍👧 e\u0301", "Zürich 漢字 हिन्दी 👩‍👩‍👧 e\u0301"]
  ]
  for (const [name, text, shown] of cases) {
    it(`shows ${name}`, () => assert.strictEqual(visible(text), shown))
  }

  it.prop("leaves no control or invisible character in any text", [FastCheck.string({ unit: "binary" })], ([text]) => {
    assert.notMatch(visible(text), HIDDEN)
  })
})

describe("visibleLines", () => {
  it("keeps the line feeds", () => assert.strictEqual(visibleLines("a\n\u001b[2Jb"), "a\n␛[2Jb"))
})

describe("visibleJson", () => {
  it("escapes what JSON.stringify leaves as it is", () => {
    assert.strictEqual(visibleJson({ a: "\u001b\u009b\u202e\u{e0041}" }), '{"a":"\\u001b\\u009b\\u202e\\udb40\\udc41"}')
  })

  it.prop(
    "is the same JSON without control or invisible characters",
    [FastCheck.jsonValue({ stringUnit: "binary" })],
    ([value]) => {
      const json = visibleJson(value, 2)
      assert.deepStrictEqual(JSON.parse(json), JSON.parse(JSON.stringify(value)))
      assert.notMatch(json.replaceAll("\n", ""), HIDDEN)
    }
  )
})

describe("fitted", () => {
  it("truncates only text that is too wide", () => {
    assert.strictEqual(fitted("abc漢", 5), "abc漢")
    assert.strictEqual(fitted("abc漢", 4), "abc…")
    assert.strictEqual(fitted("漢字漢字", 6), "漢字…")
    assert.strictEqual(fitted("a".repeat(100_000), 10), "aaaaaaaaa…")
  })

  it.prop(
    "is never too wide, and has no control or invisible character",
    [FastCheck.string({ unit: "binary", maxLength: 60 }), FastCheck.integer({ min: 1, max: 40 })],
    ([text, columns]) => {
      const line = fitted(text, columns)
      assert.notMatch(line, HIDDEN)
      assert.isAtMost(widthOf(cellsOf(line, 0, line.length)), columns)
    }
  )
})
