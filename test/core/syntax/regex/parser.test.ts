/** Tests of the parser for Lucene's regular-expression dialect. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { parseRegex } from "../../../../core/syntax/regex/parser.ts"
import type { RegexNode } from "../../../../core/syntax/regex/tree.ts"
import { sized } from "../../../long.ts"

const show = (node: RegexNode): string => {
  switch (node._tag) {
    case "Literal":
      return `'${node.text}'`
    case "AnyCharacter":
      return "."
    case "Class":
      return `[${node.negated ? "^" : ""}${node.ranges.map(({ from, to }) => `${String.fromCodePoint(from)}-${String.fromCodePoint(to)}`).join("")}]`
    case "Concat":
      return node.parts.map(show).join(" ")
    case "Union":
      return `(${node.parts.map(show).join(" | ")})`
    case "Intersection":
      return `(${node.parts.map(show).join(" & ")})`
    case "Complement":
      return `~${show(node.part)}`
    case "Repeat":
      return `${show(node.part)}{${node.min},${node.max ?? ""}}`
    case "Interval":
      return `<${node.from}-${node.to}:${node.digits}>`
    default:
      return node._tag
  }
}

const patterns: ReadonlyArray<readonly [pattern: string, tree: string]> = [
  ["abc", "'abc'"],
  [".*\\/page\\/[0-9]+.*", ".{0,} '/page/' [0-9]{1,} .{0,}"],
  [".*\\.(pdf|xml)", ".{0,} '.' ('pdf' | 'xml')"],
  ["a|b|c", "('a' | 'b' | 'c')"],
  ["ab?c", "'a' 'b'{0,1} 'c'"],
  ["a{2}b{2,}c{2,3}", "'a'{2,2} 'b'{2,} 'c'{2,3}"],
  ["[^a-c\\]x]", "[^a-c]-]x-x]"],
  ["a&~b", "('a' & ~'b')"],
  ["~~a", "'a'"],
  ["a@#", "'a' AnyString None"],
  ["()", "Empty"],
  ['"a+b"c', "'a+bc'"],
  ["<01-31>", "<1-31:2>"],
  ["<5-100>", "<5-100:0>"],
  ["a*?", "'a'{0,}{0,1}"],
  ["^a$", "'^a$'"],
  ["💥+", "'💥'{1,}"]
]

const wrong: ReadonlyArray<readonly [pattern: string, code: string, start: number]> = [
  ["", "regex-empty", 0],
  ["a\\d", "regex-shorthand", 1],
  ["[\\w]", "regex-shorthand", 1],
  ["a\\b", "regex-escape", 1],
  ["a(", "regex-syntax", 1],
  ["a)", "regex-syntax", 1],
  ["[a", "regex-syntax", 0],
  ["[]", "regex-syntax", 0],
  ["[z-a]", "regex-syntax", 1],
  ["[a-]", "regex-syntax", 2],
  ["a{", "regex-syntax", 1],
  ["a{3,1}", "regex-syntax", 1],
  ["a|", "regex-syntax", 2],
  ["a\\", "regex-syntax", 1],
  ["*a", "regex-nothing-to-repeat", 0],
  ["(?i)a", "regex-group", 0],
  ["<a>", "regex-syntax", 0],
  ['"a', "regex-syntax", 0],
  ["(a{1000}){1000}", "regex-too-large", 0],
  [`${"(".repeat(51)}a${")".repeat(51)}`, "regex-too-large", 50]
]

describe("parseRegex", () => {
  for (const [pattern, tree] of patterns) {
    it(`parses ${pattern} to ${tree}`, () => {
      const parsed = parseRegex(pattern)
      assert.isDefined(parsed.tree, JSON.stringify(parsed.issues))
      assert.strictEqual(parsed.tree && show(parsed.tree), tree)
    })
  }

  for (const [pattern, code, start] of wrong) {
    it(`reports ${code} for ${pattern.slice(0, 60)}`, () => {
      const { tree, issues } = parseRegex(pattern)
      const error = issues.find((issue) => issue.severity === "error")
      assert.isUndefined(tree)
      assert.strictEqual(error?.code, code)
      assert.strictEqual(error?.start, start)
    })
  }

  it("says what to do about groups that are nested too deep", () => {
    const [issue] = parseRegex(`${"(".repeat(60)}a${")".repeat(60)}`).issues
    assert.strictEqual(
      issue?.message,
      "Groups in the pattern are nested 60 levels deep, at most 50 are allowed: remove those that are not needed"
    )
  })

  it("returns a tree or an error for any pattern, with spans inside the pattern", () => {
    const signs = fc.stringOf(fc.constantFrom(...'ab01.*+?|&~@#"()[]{}<>-^$\\,/é💥'), { maxLength: 40 })
    fc.assert(
      fc.property(fc.oneof(signs, fc.fullUnicodeString()), (pattern) => {
        const { tree, issues } = parseRegex(pattern)
        assert.strictEqual(
          tree === undefined,
          issues.some((issue) => issue.severity === "error")
        )
        for (const { start, end } of issues) {
          assert.isTrue(0 <= start && start <= end && end <= pattern.length, `${start}-${end} of ${pattern.length}`)
        }
      }),
      { numRuns: sized(1_250, 5_000) }
    )
  })
})
