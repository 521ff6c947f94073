import { assert, describe, it } from "@effect/vitest"
import { randomFrom } from "../../../bench/random.ts"
import { AnchorIndex, LIST_HEAD } from "../../../core/engine/AnchorIndex.ts"
import { Pool } from "../../../core/engine/Pool.ts"

/** Postings of a term as [program, filter], in any order. */
const postingsOf = (index: AnchorIndex, pool: Pool, high: number, low: number): ReadonlyArray<string> => {
  const segment = index.segmentOf(high)
  const slot = index.find(segment, high, low)
  if (slot < 0) return []
  const held = segment[slot + 2] ?? 0
  if (held > 0) return [`${held} ${segment[slot + 3]}`]
  const list = pool.chunkOf(~held)
  const at = pool.offsetOf(~held)
  return Array.from({ length: list[at] ?? 0 }, (_, posting) => {
    const place = at + LIST_HEAD + 2 * posting
    return `${list[place]} ${list[place + 1]}`
  }).sort()
}

describe("AnchorIndex", () => {
  it("holds what a map of lists would hold, however terms crowd and come and go", () => {
    for (let seed = 1; seed <= 4; seed++) {
      const random = randomFrom(seed)
      const pool = new Pool()
      const index = new AnchorIndex(pool)
      const model = new Map<string, Map<number, number>>()
      // Few segments and near places: searches run into one another.
      const terms = Array.from({ length: 300 }, (_, number) => ({
        high: ((number % 2) << 24) | (1 + Math.floor(random() * 64)),
        low: number
      }))
      for (let step = 0; step < 6_000; step++) {
        const { high, low } = terms[Math.floor(random() * terms.length)] ?? { high: 1, low: 1 }
        const key = `${high} ${low}`
        const programs = model.get(key) ?? new Map<number, number>()
        model.set(key, programs)
        const isGrowing = step % 2_000 < 1_200
        if (random() < (isGrowing ? 0.8 : 0.2)) {
          const program = 1 + step
          const filter = Math.floor(random() * 100)
          index.add(high, low, program, filter)
          programs.set(program, filter)
        } else {
          const [program = 0] = [...programs.keys()]
          index.remove(high, low, program)
          programs.delete(program)
        }
        if (step % 50 === 0) {
          for (const term of terms) {
            const expected = [...(model.get(`${term.high} ${term.low}`) ?? [])].map(
              ([program, filter]) => `${program} ${filter}`
            )
            assert.deepStrictEqual(postingsOf(index, pool, term.high, term.low), expected.sort())
          }
        }
      }
    }
  })

  it("gives back what it took when everything is removed", () => {
    const pool = new Pool()
    const index = new AnchorIndex(pool)
    const empty = index.bytes
    const terms = Array.from({ length: 20_000 }, (_, number) => Math.imul(number + 1, 0x9e3779b1))
    for (const term of terms) index.add(term, 1, 5, 0)
    const full = index.bytes
    for (const term of terms) index.remove(term, 1, 5)
    assert.isAbove(full, 8 * empty)
    // The gate stays as wide as it was.
    assert.isBelow(index.bytes, full / 4)
  })
})
