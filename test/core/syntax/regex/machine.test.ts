import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { automatonOf } from "../../../../core/syntax/regex/automaton.ts"
import { Budget } from "../../../../core/syntax/regex/draft.ts"
import { layoutOf } from "../../../../core/syntax/regex/layout.ts"
import { Machine } from "../../../../core/syntax/regex/machine.ts"
import { parseRegex } from "../../../../core/syntax/regex/regex.ts"
import type { RegexNode } from "../../../../core/syntax/regex/regexTree.ts"
import { fitsByDefinition, regexTree, shortText } from "./regexDefinition.ts"

const machineOf = (tree: RegexNode, maxCells: number): Machine | undefined => {
  const budget = new Budget()
  const automaton = automatonOf(tree, budget)
  const layout = automaton && layoutOf(automaton, budget)
  return layout && new Machine(layout, maxCells)
}

describe("Machine", () => {
  it("agrees with the plain definition, however little it may remember", () => {
    const maxCells = fc.constantFrom(1, 20, 40, 80, 65_536)
    fc.assert(
      fc.property(regexTree, maxCells, fc.array(shortText, { minLength: 5, maxLength: 10 }), (tree, cells, values) => {
        const machine = machineOf(tree, cells)
        fc.pre(machine !== undefined)
        for (const value of [...values, ...values]) {
          assert.strictEqual(machine?.fits(value), fitsByDefinition(tree, value), JSON.stringify(value))
        }
      }),
      { numRuns: 1500 }
    )
  })

  it("agrees with JavaScript on long values and patterns of many positions, however little it may remember", () => {
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
          const machine = tree && machineOf(tree, maxCells)
          const expected = new RegExp(`^(?:${pattern})$`, "su")
          for (const one of values) assert.strictEqual(machine?.fits(one), expected.test(one), one)
        }
      ),
      { numRuns: 300 }
    )
  })

  it("tells apart sets of one hash", () => {
    // Each character leads to a set never met before, so many that some of them share a hash.
    const { tree } = parseRegex("[ab]*a[ab]{61}")
    const machine = tree && machineOf(tree, 100_000_000)
    let seed = 1
    const letter = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return seed & 0x10000 ? "a" : "b"
    }
    for (let count = 0; count < 8000; count++) {
      const value = Array.from({ length: 64 }, letter).join("")
      assert.strictEqual(machine?.fits(value), value.at(-62) === "a", value)
    }
  })

  it("tells characters beyond the first plane from their halves", () => {
    const machine = machineOf({ _tag: "AnyCharacter" }, 1000)
    assert.isTrue(machine?.fits("🍕"))
    assert.isTrue(machine?.fits("\ud83c"))
    assert.isFalse(machine?.fits("\udf55\ud83c"))
    assert.isFalse(machine?.fits("🍕🍕"))
  })
})
