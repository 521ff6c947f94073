/** Text of strangers on a terminal: nothing acts, everything is seen, and no line is wider than it may be. */
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { cellsOf, fitted, visible, widthOf } from "../../cli/terminal.ts"

const ACTS =
  /\p{Cc}|[\u2028\u2029\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/u

describe("visible", () => {
  const shown: ReadonlyArray<readonly [what: string, text: string, seen: string]> = [
    ["an escape sequence", "\u001b[2Ja\u001b]0;b\u0007", "␛[2Ja␛]0;b␇"],
    ["controls of eight bits", "\u009b2J\u0085", "�2J�"],
    ["line ends and tabs", "a\r\n\tb", "a ␊ b"],
    ["directions turned round", "\u202egnp.exe\u2069", "�gnp.exe�"],
    ["what shows nothing", "a\u200bb\ufeff\u00ad", "a�b��"],
    ["words hidden in tags", "hi\u{e0068}\u{e0069}\u{e0100}", "hi���"],
    ["half of a pair", "\ud83d!", "�!"],
    ["other scripts and faces as they are", "Zürich 漢字 हिन्दी 👩‍👩‍👧 e\u0301", "Zürich 漢字 हिन्दी 👩‍👩‍👧 e\u0301"]
  ]
  for (const [what, text, seen] of shown) {
    it(`shows ${what}`, () => assert.strictEqual(visible(text), seen))
  }

  it.prop("leaves nothing in any text that acts", [FastCheck.string({ unit: "binary" })], ([text]) => {
    assert.notMatch(visible(text), ACTS)
  })
})

describe("fitted", () => {
  it("leaves alone what fits, to the column", () => {
    assert.strictEqual(fitted("abc漢", 5), "abc漢")
    assert.strictEqual(fitted("abc漢", 4), "abc…")
    assert.strictEqual(fitted("漢字漢字", 6), "漢字…")
    assert.strictEqual(fitted("a".repeat(100_000), 10), "aaaaaaaaa…")
  })

  it.prop(
    "is never wider than it may be, and never acts",
    [FastCheck.string({ unit: "binary", maxLength: 60 }), FastCheck.integer({ min: 1, max: 40 })],
    ([text, columns]) => {
      const line = fitted(text, columns)
      assert.notMatch(line, ACTS)
      assert.isAtMost(widthOf(cellsOf(line, 0, line.length)), columns)
    }
  )
})
