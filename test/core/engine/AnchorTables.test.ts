import { assert, describe, it } from "@effect/vitest"
import { AnchorTables, layout } from "../../../core/engine/AnchorTables.ts"
import { bitAt } from "../../../core/engine/CountingBitset.ts"
import { randomFrom } from "../../../fixtures/random.ts"

describe("AnchorTables", () => {
  it("marks exactly the cells that have an anchor", () => {
    for (let seed = 1; seed <= 4; seed++) {
      const random = randomFrom(seed)
      const tables = new AnchorTables(false)
      // Several terms per cell, in the first or the last buckets: probing wraps around.
      const terms = Array.from({ length: 300 }, (_, number) => ({
        high: (seed % 2 === 0 ? 0 : 0x1ffffff - (300 << 9)) + (number << 9),
        low: Math.floor(random() * 0x80) << 25
      }))
      const held = new Set<(typeof terms)[number]>()
      for (let step = 0; step < 10_000; step++) {
        const term = terms[Math.floor(random() * terms.length)]
        if (term === undefined) continue
        const isGrowing = step % 2_500 < 1_500
        if (!held.has(term) && isGrowing) {
          tables.insert(term.high, term.low, 0, 1)
          held.add(term)
        } else if (held.has(term) && !isGrowing) {
          tables.remove(term.high, tables.first(term.high, term.low))
          held.delete(term)
        }
        const cell = term.high >>> layout.CELL_SHIFT
        const isHeld = [...held].some(({ high }) => high >>> layout.CELL_SHIFT === cell)
        assert.strictEqual(bitAt(tables.usedCells, cell), isHeld ? 1 : 0)
      }
      for (const { high, low } of held) tables.remove(high, tables.first(high, low))
      assert.isTrue(tables.usedCells.every((word) => word === 0))
    }
  })
})
