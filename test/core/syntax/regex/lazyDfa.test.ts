import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { layoutInTurns } from "../../../../core/syntax/regex/layout.ts"
import { LazyDfa } from "../../../../core/syntax/regex/lazyDfa.ts"
import { nfaOf } from "../../../../core/syntax/regex/matcher.ts"
import { Budget } from "../../../../core/syntax/regex/nfa.ts"
import { parseRegex } from "../../../../core/syntax/regex/parser.ts"
import type { RegexNode } from "../../../../core/syntax/regex/tree.ts"
import { anyTree, matchesNaively, shortText } from "./naiveMatcher.ts"
import { finish } from "../../../../core/work/turns.ts"
import { sized } from "../../../long.ts"

const dfaOf = (tree: RegexNode, maxCells: number): LazyDfa | undefined => {
  const budget = new Budget()
  const nfa = nfaOf(tree, budget)
  const layout = nfa && finish(layoutInTurns(nfa, budget))
  return layout && new LazyDfa(layout, maxCells)
}

describe("LazyDfa", () => {
  it("agrees with the naive matcher for every cache size", () => {
    const maxCells = fc.constantFrom(1, 20, 40, 80, 65_536)
    fc.assert(
      fc.property(anyTree, maxCells, fc.array(shortText, { minLength: 5, maxLength: 10 }), (tree, cells, values) => {
        const dfa = dfaOf(tree, cells)
        fc.pre(dfa !== undefined)
        for (const value of [...values, ...values]) {
          assert.strictEqual(dfa?.matches(value), matchesNaively(tree, value), JSON.stringify(value))
        }
      }),
      { numRuns: sized(375, 1_500) }
    )
  })

  it("agrees with JavaScript on long values and large patterns for every cache size", () => {
    const patterns = [
      "[ab]*a[ab]{70}",
      "(a|ba){1,90}b?",
      "([ab]{1,9}c){3,40}",
      "a*(b{30,40}|(ab){20,64})*",
      ".*a.{40}b.*"
    ]
    const value = fc.string({ unit: fc.constantFrom("a", "b", "ab", "abb", "c", "🍕"), minLength: 20, maxLength: 150 })
    const cells = fc.constantFrom(1, 100, 1000, 65_536)
    fc.assert(
      fc.property(
        fc.constantFrom(...patterns),
        cells,
        fc.array(value, { maxLength: 5 }),
        (pattern, maxCells, values) => {
          const { tree } = parseRegex(pattern)
          const dfa = tree && dfaOf(tree, maxCells)
          const expected = new RegExp(`^(?:${pattern})$`, "su")
          for (const one of values) assert.strictEqual(dfa?.matches(one), expected.test(one), one)
        }
      ),
      { numRuns: 300 }
    )
  })

  it("handles hash collisions of position sets", () => {
    // Each character leads to a new set; with this many sets some share a hash.
    const { tree } = parseRegex("[ab]*a[ab]{61}")
    const dfa = tree && dfaOf(tree, 100_000_000)
    let seed = 1
    const letter = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return seed & 0x10000 ? "a" : "b"
    }
    for (let count = 0; count < 8000; count++) {
      const value = Array.from({ length: 64 }, letter).join("")
      assert.strictEqual(dfa?.matches(value), value.at(-62) === "a", value)
    }
  })

  it("reads a surrogate pair as one character", () => {
    const dfa = dfaOf({ _tag: "AnyCharacter" }, 1000)
    assert.isTrue(dfa?.matches("🍕"))
    assert.isTrue(dfa?.matches("\ud83c"))
    assert.isFalse(dfa?.matches("\udf55\ud83c"))
    assert.isFalse(dfa?.matches("🍕🍕"))
  })
})
