import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { draw } from "../../cli/drawing.ts"
import * as Firehose from "../../core/syntax/firehose/language.ts"
import type { Issue } from "../../core/syntax/issues/issue.ts"
import * as X from "../../core/syntax/x/language.ts"
import { cpuMillisOf } from "../cpuMillis.ts"

const issue = (start: number, end: number, more: Partial<Issue> = {}): Issue => ({
  severity: "error",
  code: "test",
  span: { start, end },
  message: "Something is wrong here",
  ...more
})

/** The drawn lines without the message. */
const drawnSpan = (text: string, start: number, end: number): ReadonlyArray<string> =>
  draw(text, [issue(start, end)])
    .split("\n")
    .slice(2)

const golden = (...lines: ReadonlyArray<string>): string => lines.join("\n")

describe("draw", () => {
  it("shows message, span, expected tokens and fix", () => {
    const drawing = draw("cat AND dog", [
      issue(4, 7, {
        message: '"AND" is not needed',
        expected: ["a space", '"AND" in quotes'],
        fix: { message: 'Remove "AND"', text: "cat dog" }
      })
    ])
    assert.strictEqual(
      drawing,
      golden(
        'error: "AND" is not needed',
        "  |",
        "  | cat AND dog",
        "  |     ^^^",
        '  = expected: a space, "AND" in quotes',
        '  = fix: Remove "AND"',
        "  |   cat dog"
      )
    )
  })

  it("draws each issue separately, as error or warning", () => {
    const drawing = draw("cat dog", [issue(0, 3), issue(4, 7, { severity: "warning", message: "Hardly useful" })])
    assert.strictEqual(
      drawing,
      golden(
        "error: Something is wrong here",
        "  |",
        "  | cat dog",
        "  | ^^^",
        "",
        "warning: Hardly useful",
        "  |",
        "  | cat dog",
        "  |     ^^^"
      )
    )
  })

  it("is empty without issues", () => {
    assert.strictEqual(draw("cat", []), "")
  })

  const spans: ReadonlyArray<
    readonly [name: string, text: string, start: number, end: number, shown: string, marks: string]
  > = [
    ["an empty span", "cat dog", 4, 4, "cat dog", "    ^"],
    ["the end of the rule", "cat (", 5, 5, "cat (", "     ^"],
    ["wide characters before", "東京 cat", 3, 6, "東京 cat", "     ^^^"],
    ["wide characters inside", "cat 東京", 4, 6, "cat 東京", "    ^^^^"],
    ["full-width signs", "＃cat x", 5, 6, "＃cat x", "      ^"],
    ["Hangul", "서울 x", 3, 4, "서울 x", "     ^"],
    ["an emoji", "🍕 x", 3, 4, "🍕 x", "   ^"],
    ["joined emoji", "👨‍👩‍👧 x", 9, 10, "👨‍👩‍👧 x", "   ^"],
    ["a flag", "🇨🇭 x", 5, 6, "🇨🇭 x", "   ^"],
    ["a symbol in emoji style", "❤️ x", 3, 4, "❤️ x", "   ^"],
    ["a keycap", "1️⃣ x", 4, 5, "1️⃣ x", "   ^"],
    ["combining marks", "cafe\u0301 x", 6, 7, "cafe\u0301 x", "     ^"],
    ["many marks on one letter", `z${"\u0301".repeat(30)} x`, 32, 33, `z${"\u0301".repeat(30)} x`, "  ^"],
    ["a mark without a letter", "\u0301 x", 2, 3, "◌\u0301 x", "  ^"],
    ["a span inside a character", "👨‍👩‍👧 x", 2, 3, "👨‍👩‍👧 x", "^^"],
    ["a tab", "a\tx", 2, 3, "a x", "  ^"],
    ["NUL", "a\0x", 2, 3, "a␀x", "  ^"],
    ["an escape sequence", "\u001b[31mred", 5, 8, "␛[31mred", "     ^^^"],
    ["a direction control", "a\u202ex", 2, 3, "a�x", "  ^"],
    ["an invisible space", "a\u200bx", 2, 3, "a�x", "  ^"],
    ["a lone surrogate", "a\ud83cx", 2, 3, "a�x", "  ^"],
    ["a carriage return", "a\rx", 2, 3, "a x", "  ^"]
  ]
  for (const [name, text, start, end, shown, marks] of spans) {
    it(`underlines the right columns with ${name}`, () => {
      assert.deepStrictEqual(drawnSpan(text, start, end), [`  | ${shown}`, `  | ${marks}`])
    })
  }

  it("shows the line of the span, with its number", () => {
    assert.deepStrictEqual(drawnSpan("cat\ndog bird\nfish", 8, 12), ["2 | dog bird", "  |     ^^^^"])
    assert.deepStrictEqual(drawnSpan("cat\ndog", 0, 3), ["1 | cat", "  | ^^^"])
  })

  it("underlines a span over several lines to the end of its first line", () => {
    assert.deepStrictEqual(drawnSpan("cat\ndog bird\nfish", 8, 15), ["2 | dog bird", "  |     ^^^^"])
  })

  it("truncates a long rule around the span", () => {
    const before = "abcdefghi ".repeat(10)
    const after = " jklmnopqr".repeat(10)
    assert.deepStrictEqual(drawnSpan(`${before}HERE${after}`, 100, 104), [
      "  | …ghi abcdefghi abcdefghi HERE jklmnopqr jklmnopqr jklmnopqr jklmnopqr jklmn…",
      "  |                          ^^^^"
    ])
  })

  it("truncates only the end of a long rule when the span is near the start", () => {
    const [shown, marks] = drawnSpan(`cat HERE${" jklmnopqr".repeat(20)}`, 4, 8)
    assert.match(shown ?? "", /^ {2}\| cat HERE jklm.*…$/)
    assert.strictEqual(marks, "  |     ^^^^")
  })

  it("truncates only the start of a long rule when the span is near the end", () => {
    const [shown, marks] = drawnSpan(`${"abcdefghi ".repeat(20)}HERE`, 200, 204)
    assert.match(shown ?? "", /^ {2}\| ….*HERE$/)
    assert.strictEqual((marks ?? "").indexOf("^"), (shown ?? "").indexOf("HERE"))
  })

  it("truncates a long fix around its first change", () => {
    const text = `${"abcdefghi ".repeat(20)}WRONG`
    const fix = { message: "Fix it", text: `${"abcdefghi ".repeat(20)}RIGHT` }
    assert.match(draw(text, [issue(200, 205, { fix })]), /\n {2}\| {3}…[a-i ]+RIGHT$/)
  })

  it("lists only a few of the expected tokens", () => {
    const expected = ["a", "b", "c", "d", "e", "f", "g"]
    assert.include(draw("x", [issue(0, 1, { expected })]), "= expected: a, b, c, d, e and 2 more")
  })

  it("is fast for a rule of ten million characters", () => {
    const text = "東".repeat(10_000_000)
    let drawing = ""
    const millis = cpuMillisOf(() => {
      drawing = draw(text, X.check(text).issues)
    })
    assert.isBelow(millis, 500)
    assert.isBelow(drawing.length, 1000)
  })

  it("draws every issue of any rule within the width and without control characters", () => {
    const character = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(..."abc \"'():-~#@$[]{}/\\*?^ANDORT") },
      fc.constantFrom("東", "🍕", "👨‍👩‍👧", "\u0301", "\u202e", "\u0000", "\u001b", "\ud800", "\t", "\n", "\r", "é")
    )
    fc.assert(
      fc.property(fc.array(character, { maxLength: 200 }), (characters) => {
        const text = characters.join("")
        for (const { issues } of [X.check(text), Firehose.check(text)]) {
          for (const one of issues) {
            const lines = draw(text, [one]).split("\n")
            const [, , shown = "", marks = ""] = lines
            assert.match(lines[0] ?? "", /^(error|warning): /)
            assert.match(marks, /^ +\| +\^+$/)
            assert.isAtMost([...shown].length, 84 + 3 * (shown.match(/[\u0301\u200d]/g) ?? []).length * 3)
            assert.isAtMost(marks.length, 84)
            // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
            assert.notMatch(lines.join(""), /[\0-\x1f\x7f\u202e]|\p{Surrogate}/u)
          }
        }
      }),
      { numRuns: 300 }
    )
  })
})
