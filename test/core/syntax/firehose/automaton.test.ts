import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { matcherOf } from "../../../../core/syntax/firehose/automaton.ts"
import { parseRegex } from "../../../../core/syntax/firehose/regex.ts"
import type { RegexNode } from "../../../../core/syntax/firehose/regexTree.ts"

const compile = (pattern: string) => {
  const { tree } = parseRegex(pattern)
  return tree === undefined ? undefined : matcherOf(tree)
}

const fits = (pattern: string, value: string): boolean => {
  const matcher = compile(pattern)
  if (matcher === undefined) {
    throw new Error(`${pattern} is not run`)
  }
  return matcher(value)
}

/** Every end of a stretch from `start` that fits: the definition of each node, with no thought of speed. */
const ends = (node: RegexNode, text: string, start: number): ReadonlySet<number> => {
  const all = Array.from({ length: text.length - start + 1 }, (_, index) => start + index)
  const where = (test: (end: number) => boolean) => new Set(all.filter(test))
  const after = (starts: Iterable<number>, part: RegexNode) =>
    new Set([...starts].flatMap((at) => [...ends(part, text, at)]))
  switch (node._tag) {
    case "Empty":
      return new Set([start])
    case "None":
      return new Set()
    case "AnyString":
      return new Set(all)
    case "AnyCharacter":
      return where((end) => end === start + 1)
    case "Literal":
      return where((end) => text.slice(start, end) === node.text)
    case "Class": {
      const code = text.charCodeAt(start)
      const inside = node.ranges.some(({ from, to }) => from <= code && code <= to)
      return where((end) => end === start + 1 && inside !== node.negated)
    }
    case "Concat":
      return node.parts.reduce<ReadonlySet<number>>((starts, part) => after(starts, part), new Set([start]))
    case "Union":
      return new Set(node.parts.flatMap((part) => [...ends(part, text, start)]))
    case "Intersection":
      return where((end) => node.parts.every((part) => ends(part, text, start).has(end)))
    case "Complement": {
      const inner = ends(node.part, text, start)
      return where((end) => !inner.has(end))
    }
    case "Repeat": {
      let reached: ReadonlySet<number> = new Set([start])
      for (let count = 0; count < node.min; count++) {
        reached = after(reached, node.part)
      }
      const found = new Set(reached)
      for (let count = node.min; count < (node.max ?? node.min + text.length + 1); count++) {
        reached = after(reached, node.part)
        for (const end of reached) found.add(end)
      }
      return found
    }
    case "Interval":
      return where((end) => {
        const digits = text.slice(start, end)
        const hasWidth = node.digits === 0 || digits.length === node.digits
        return /^[0-9]+$/.test(digits) && hasWidth && Number(digits) >= node.from && Number(digits) <= node.to
      })
  }
}

const leaf: fc.Arbitrary<RegexNode> = fc.oneof(
  fc.constantFrom<RegexNode>(
    { _tag: "Empty" },
    { _tag: "None" },
    { _tag: "AnyString" },
    { _tag: "AnyCharacter" },
    { _tag: "Literal", text: "a" },
    { _tag: "Literal", text: "ab" },
    { _tag: "Literal", text: "1" },
    { _tag: "Interval", from: 1, to: 12, digits: 0 },
    { _tag: "Interval", from: 1, to: 12, digits: 2 },
    { _tag: "Interval", from: 0, to: 210, digits: 0 }
  ),
  fc.record({
    _tag: fc.constant("Class" as const),
    negated: fc.boolean(),
    ranges: fc.constantFrom(
      [{ from: 97, to: 97 }],
      [{ from: 49, to: 98 }],
      [
        { from: 98, to: 98 },
        { from: 48, to: 49 }
      ]
    )
  })
)
const tree = fc.letrec<{ node: RegexNode }>((tie) => {
  const parts = fc.array(tie("node"), { minLength: 1, maxLength: 3 })
  return {
    node: fc.oneof(
      { depthSize: "small", maxDepth: 4, withCrossShrink: true },
      leaf,
      parts.map((found): RegexNode => ({ _tag: "Concat", parts: found })),
      parts.map((found): RegexNode => ({ _tag: "Union", parts: found })),
      parts.map((found): RegexNode => ({ _tag: "Intersection", parts: found })),
      tie("node").map((part): RegexNode => ({ _tag: "Complement", part })),
      fc.tuple(tie("node"), fc.nat(2), fc.option(fc.nat(2), { nil: undefined })).map(
        ([part, min, more]): RegexNode => ({
          _tag: "Repeat",
          part,
          min,
          max: more === undefined ? undefined : min + more
        })
      )
    )
  }
}).node

const shortText = fc.string({ unit: fc.constantFrom("a", "b", "0", "1", "2"), maxLength: 5 })

/** Patterns that mean the same in JavaScript. */
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

describe("matcherOf", () => {
  const cases: ReadonlyArray<readonly [pattern: string, fitting: ReadonlyArray<string>, other: ReadonlyArray<string>]> =
    [
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
  for (const [pattern, fitting, other] of cases) {
    it(`runs ${pattern}`, () => {
      for (const value of fitting) assert.isTrue(fits(pattern, value), JSON.stringify(value))
      for (const value of other) assert.isFalse(fits(pattern, value), JSON.stringify(value))
    })
  }

  it("agrees with JavaScript where the dialects mean the same", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "5", ".", "*", "é", "🍕", "🍔"), maxLength: 6 })
    fc.assert(
      fc.property(commonPattern, fc.array(text, { minLength: 3, maxLength: 6 }), (pattern, values) => {
        const expected = new RegExp(`^(?:${pattern})$`, "su")
        for (const value of values) assert.strictEqual(fits(pattern, value), expected.test(value), value)
      }),
      { numRuns: 1000 }
    )
  })

  it("agrees with the plain definition, for the signs that JavaScript lacks too", () => {
    fc.assert(
      fc.property(tree, fc.array(shortText, { minLength: 3, maxLength: 6 }), (node, values) => {
        const matcher = matcherOf(node)
        // A complement of large spans may unfold beyond the budget; what happens then has a test of its own.
        fc.pre(matcher !== undefined)
        for (const value of values) {
          assert.strictEqual(matcher?.(value), ends(node, value, 0).has(value.length), JSON.stringify(value))
        }
      }),
      { numRuns: 1500 }
    )
  })

  it("takes for <n-m> the numbers between and no other", () => {
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
            assert.strictEqual(matcher?.(written(value)), inside, `${pattern} ${value}`)
            assert.strictEqual(matcher?.(`0${written(value)}`), inside && !hasWidth, `${pattern} 0${value}`)
          }
        }
      })
    )
  })

  it("gives the same answer again after other values", () => {
    const matcher = compile("(a|b)*c")
    for (let count = 0; count < 3; count++) {
      assert.isTrue(matcher?.("abac"))
      assert.isFalse(matcher?.("aba"))
      assert.isFalse(matcher?.(""))
    }
  })

  it("runs or refuses hostile patterns without hanging", () => {
    const long = `${"a".repeat(3000)}!`
    for (const pattern of [
      "(a+)+",
      "(a|a)*",
      "(a*)*b",
      "(a|aa)+$",
      "([a-z]+)*!!",
      `${"a?".repeat(500)}${"a".repeat(500)}`,
      "(.*.*.*.*.*.*.*.*)x",
      "[a-z]{1,1000}{1,1000}",
      "([a-z]{1,90}){1,90}",
      "~(.*a.{18}b)",
      "~((a|b)*a(a|b){30})",
      "~(~(~(.*a.{8})b)c)",
      "(.{1,60}a)&(.{1,70}b)&(.{1,80}c)",
      "(.*a.{40})&(.*b.{50})&(.*c.{60})&(.*d.{70})",
      "<1-999999999>{500}",
      `a${"*".repeat(4000)}`,
      `a${"{1}".repeat(2500)}`,
      `a${"{0}".repeat(2500)}`,
      `a${"?*{1,}".repeat(1000)}`,
      `(${"()".repeat(40)}){999999}`,
      `${"(".repeat(49)}a${")*".repeat(49)}`
    ]) {
      compile(pattern)?.(long)
    }
  })

  it("takes no tree that unfolds beyond its states", () => {
    const a: RegexNode = { _tag: "Literal", text: "a" }
    const often = (part: RegexNode): RegexNode => ({ _tag: "Repeat", part, min: 1, max: 100_000 })
    assert.isUndefined(matcherOf(often(often(a))))
    assert.isUndefined(compile("~((a|b)*a(a|b){30})"))
  })
})
