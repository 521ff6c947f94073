import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { matcherInTurns } from "../../../../core/syntax/regex/matcher.ts"
import { Budget } from "../../../../core/syntax/regex/nfa.ts"
import { parseRegex } from "../../../../core/syntax/regex/parser.ts"
import type { RegexNode } from "../../../../core/syntax/regex/tree.ts"
import { anyTree, matchesNaively, shortText } from "./naiveMatcher.ts"
import { finish } from "../../../../core/work/turns.ts"
import { sized } from "../../../long.ts"

const matcherOf = (tree: RegexNode, budget: Budget) => finish(matcherInTurns(tree, budget))

const compile = (pattern: string) => {
  const { tree } = parseRegex(pattern)
  return tree === undefined ? undefined : matcherOf(tree, new Budget())
}

const matches = (pattern: string, value: string): boolean => {
  const matcher = compile(pattern)
  if (matcher === undefined) {
    throw new Error(`Cannot compile "${pattern}"`)
  }
  return matcher.matches(value)
}

/** Patterns with the same meaning in JavaScript. */
const commonPattern = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("a", "b", "ab", ".", "[ab]", "[^a]", "[a-c0-9]", "\\.", "\\*", "é", "🍕", "[🍕-🍟]", "()"),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `${one}${other}`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,}", "{0,2}", "{0}"))
      .map(([part, sign]) => `(${part})${sign}`)
  )
})).pattern

describe("matcherInTurns", () => {
  const cases: ReadonlyArray<readonly [pattern: string, hits: ReadonlyArray<string>, misses: ReadonlyArray<string>]> = [
    [".*\\/page\\/[0-9]+.*", ["/page/1", "https://a/page/22?x"], ["/page/", "/page/x"]],
    [".*\\.(pdf|xml)", ["a.pdf", ".xml"], ["apdf", "a.pdf "]],
    ["ab?c", ["abc", "ac"], ["abbc", "xabc", "abcx"]],
    ["(ab){2,3}", ["abab", "ababab"], ["ab", "abababab"]],
    ["~(.*foo.*)", ["", "fo", "bar"], ["foo", "a foo b"]],
    ["a~(b)c", ["ac", "axc", "abbc"], ["abc", "a"]],
    ["(.*a.*)&(.*b.*)&(.*c.*)", ["abc", "cab"], ["ab", "ac", ""]],
    ["(a&b)|c", ["c"], ["a", "b", ""]],
    ["@", ["", "anything\n"], []],
    ["a#|b", ["b"], ["a", "a#"]],
    ["<1-31>", ["1", "01", "0031", "31", "9"], ["0", "32", "", "a", "310"]],
    ["<01-31>", ["01", "31"], ["1", "001", "00", "32"]],
    ["<7-1200>", ["7", "10", "999", "1000", "1200"], ["6", "1201", "9999", "10000"]],
    ["<5-5>", ["5"], ["4", "6", "55", "05"]],
    [".", ["a", "🍕", "\n"], ["", "ab", "🍕🍕"]],
    ['"a.b"c', ["a.bc"], ["axbc"]],
    ["a^b$", ["a^b$"], ["ab"]],
    ["a?*+{1}{0,1}", ["", "a", "aaa"], ["b"]],
    ["(){1000}a", ["a"], ["", "aa"]],
    ["(a{0})b", ["b"], ["ab"]],
    ["(a*)*b", ["b", "aab"], ["a"]],
    ["[^a-zcé]", ["A", "1", "🍕"], ["a", "d", "z", "é"]]
  ]
  for (const [pattern, hits, misses] of cases) {
    it(`matches ${pattern}`, () => {
      for (const value of hits) assert.isTrue(matches(pattern, value), JSON.stringify(value))
      for (const value of misses) assert.isFalse(matches(pattern, value), JSON.stringify(value))
    })
  }

  it("agrees with JavaScript where the dialects agree", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "5", ".", "*", "é", "🍕", "🍔"), maxLength: 6 })
    fc.assert(
      fc.property(commonPattern, fc.array(text, { minLength: 3, maxLength: 6 }), (pattern, values) => {
        const expected = new RegExp(`^(?:${pattern})$`, "su")
        for (const value of values) assert.strictEqual(matches(pattern, value), expected.test(value), value)
      }),
      { numRuns: sized(250, 1_000) }
    )
  })

  it("agrees with the naive matcher, also for operators that JavaScript lacks", () => {
    fc.assert(
      fc.property(anyTree, fc.array(shortText, { minLength: 3, maxLength: 6 }), (node, values) => {
        const matcher = matcherOf(node, new Budget())
        // A complement can exceed the budget; that case has its own test.
        fc.pre(matcher !== undefined)
        for (const value of values) {
          assert.strictEqual(matcher?.matches(value), matchesNaively(node, value), JSON.stringify(value))
        }
      }),
      { numRuns: sized(375, 1_500) }
    )
  })

  it("matches exactly the numbers from n to m for <n-m>", () => {
    const number = fc.oneof(fc.nat(30), fc.nat(2000))
    fc.assert(
      fc.property(number, number, fc.boolean(), (one, other, padded) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)]
        const written = (value: number) => String(value).padStart(padded ? 4 : 0, "0")
        const hasWidth = padded || String(low).length === String(high).length
        const pattern = `<${written(low)}-${written(high)}>`
        const matcher = compile(pattern)
        for (const value of [0, low - 1, low, low + 1, (low + high) >> 1, high - 1, high, high + 1, 10 * high, 99]) {
          if (value >= 0) {
            const inside = low <= value && value <= high
            assert.strictEqual(matcher?.matches(written(value)), inside, `${pattern} ${value}`)
            assert.strictEqual(matcher?.matches(`0${written(value)}`), inside && !hasWidth, `${pattern} 0${value}`)
          }
        }
      })
    )
  })

  it("returns the same result again after other values", () => {
    const matcher = compile("(a|b)*c")
    for (let count = 0; count < 3; count++) {
      assert.isTrue(matcher?.matches("abac"))
      assert.isFalse(matcher?.matches("aba"))
      assert.isFalse(matcher?.matches(""))
    }
  })

  const hostile: ReadonlyArray<readonly [pattern: string, compiles: boolean]> = [
    ["(a+)+", true],
    ["(a|a)*", true],
    ["(a*)*b", true],
    ["(a|aa)+$", true],
    ["([a-z]+)*!!", true],
    ["(a|b|ab)*c{0,90}", true],
    [`${"a?".repeat(90)}${"a".repeat(500)}`, true],
    [`${"a?".repeat(1500)}a`, false],
    ["(.*.*.*.*.*.*.*.*)x", true],
    ["([a-z]{1,90}){1,15}", true],
    ["([a-z]{1,90}){1,90}", false],
    ["[ab]*a[ab]{1300}", true],
    ["[ab]*a[ab]{1600}", false],
    [".*a.{9900}", false],
    ["(a?b?){800}", false],
    ["~(.*a.{18}b)", true],
    ["~((a|b)*a(a|b){30})", true],
    ["x~((a|b)*a(a|b){30})", false],
    ["~(~(~(.*a.{5})b)c)", true],
    ["(.{1,60}a)&(.{1,70}b)&(.{1,80}c)", true],
    ["(.*a.{40})&(.*b.{50})&(.*c.{60})&(.*d.{70})", true],
    ["x((.*a.{4})&(.*b.{5})&(.*c.{6})&(.*d.{7}))", true],
    ["x((.*a.{40})&(.*b.{50})&(.*c.{60})&(.*d.{70}))", false],
    ["<1-999999999>{500}", false],
    [`a${"*".repeat(4000)}`, true],
    ["@".repeat(8000), false],
    [".*".repeat(4000), false],
    ["(ab)*".repeat(1600), false],
    [`~(${"[^a]b".repeat(1600)})c`, false],
    [`(${".a".repeat(700)}&${".*a".repeat(700)})`, false],
    [`a${"{1}".repeat(2500)}`, true],
    [`a${"{0}".repeat(2500)}`, true],
    [`a${"?*{1,}".repeat(1000)}`, true],
    [`(${"()".repeat(40)}){999999}`, true],
    [`${"(".repeat(49)}a${")*".repeat(49)}`, true]
  ]
  for (const [pattern, compiles] of hostile) {
    const title = pattern.length > 50 ? `${pattern.slice(0, 50)}…` : pattern
    it(`${compiles ? "compiles" : "rejects"} ${title} without hanging`, () => {
      const matcher = compile(pattern)
      assert.strictEqual(matcher !== undefined, compiles)
      matcher?.matches(`${"ab".repeat(2000)}${"a".repeat(3000)}!`)
    })
  }

  it("matches a union of 600 words", () => {
    const word = (index: number) => `${(index * 7919).toString(36)}.example`
    const words = Array.from({ length: 600 }, (_, index) => word(index))
    const matcher = compile(`https?://(.*\\.)?(${words.join("|").replaceAll(".", "\\.")})/.*`)
    for (const one of words) {
      assert.isTrue(matcher?.matches(`https://www.${one}/a`), one)
      assert.isFalse(matcher?.matches(`https://www.${one}x/a`), one)
    }
  })

  it("rejects a tree that needs too many states", () => {
    const a: RegexNode = { _tag: "Literal", text: "a" }
    const often = (part: RegexNode): RegexNode => ({ _tag: "Repeat", part, min: 1, max: 100_000 })
    assert.isUndefined(matcherOf(often(often(a)), new Budget()))
  })

  it("spends one budget on all patterns of a rule", () => {
    const budget = new Budget()
    const { tree } = parseRegex("[ab]*a[ab]{600}")
    const taken = [1, 2, 3].map(() => (tree && matcherOf(tree, budget)) !== undefined)
    assert.deepStrictEqual(taken, [true, true, false])
  })
})
