import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { AnchorIndex } from "../../../core/engine/AnchorIndex.ts"
import { addTerm, readTerms } from "../../../core/engine/eventTerms.ts"
import { Fingerprints } from "../../../core/engine/fingerprints.ts"
import { Pool } from "../../../core/engine/Pool.ts"
import { Spaces } from "../../../core/engine/spaces.ts"
import { readEvent } from "../../../fixtures/languages.ts"
import { randomFrom } from "../../../fixtures/random.ts"

interface Term {
  readonly high: number
  readonly low: number
}

const noSource = { spaces: new Spaces(), fingerprints: new Fingerprints(1), maxPhraseLength: 1 }
const empty = Either.getOrThrow(readEvent("x", { data: { id: "1", text: "" } }, 0))

/** Candidates for an event with this one term. */
const programsFor = (index: AnchorIndex, { high, low }: Term): Array<number> => {
  readTerms(empty, noSource)
  addTerm(high, low)
  const count = index.findCandidates(1)
  return [...index.candidates.slice(0, count)]
}

const withoutGuard = (programs: ReadonlyMap<number, number>): Array<number> =>
  [...programs].filter(([, guard]) => guard === 0).map(([program]) => program)

describe("AnchorIndex", () => {
  it("agrees with a map of lists while crowded terms are added and removed", () => {
    for (let seed = 1; seed <= 4; seed++) {
      const random = randomFrom(seed)
      const pool = new Pool()
      const index = new AnchorIndex(pool, false)
      const model = new Map<Term, Map<number, number>>()
      // Two tables and few home buckets, so that probe sequences overlap.
      const terms = Array.from({ length: 240 }, (_, number) => ({
        high: ((number & 1) << 26) | ((number >> 1) << 14) | 1,
        low: Math.floor(random() * 8) << 28
      }))
      for (let step = 0; step < 6_000; step++) {
        // Some terms are used far more often: they get posting lists.
        const term = terms[Math.floor(random() ** 3 * terms.length)] ?? { high: 1, low: 1 }
        const programs = model.get(term) ?? new Map<number, number>()
        model.set(term, programs)
        const isGrowing = step % 2_000 < 1_200
        if (random() < (isGrowing ? 0.8 : 0.2)) {
          // An event without the guard's term is no candidate.
          const guard = random() < 0.3 ? 77 : 0
          const program = pool.allocate(2)
          index.prefetch(term.high)
          index.add(term.high, term.low, program, guard)
          programs.set(program, guard)
        } else if (programs.size > 0) {
          const held = [...programs.keys()]
          const program = held[Math.floor(random() * held.length)] ?? 0
          index.prefetch(term.high)
          index.remove(term.high, term.low, program)
          programs.delete(program)
        }
        if (step % 50 === 0) {
          const all = new Set([...model.values()].flatMap(withoutGuard))
          for (const one of terms) {
            const found = new Set(programsFor(index, one))
            const missing = withoutGuard(model.get(one) ?? new Map()).filter((program) => !found.has(program))
            // False positives by an equal tag are allowed, but never a removed program.
            const removed = [...found].filter((program) => !all.has(program))
            assert.deepStrictEqual({ missing, removed }, { missing: [], removed: [] })
          }
        }
      }
    }
  })

  it("frees its memory when everything is removed", () => {
    const index = new AnchorIndex(new Pool(), false)
    const before = index.bytes
    const terms = Array.from({ length: 100_000 }, (_, number) => Math.imul(number + 1, 0x9e3779b1))
    for (const term of terms) index.add(term, Math.imul(term, 0x85ebca6b), 5, 0)
    assert.isAbove(index.bytes, before + 8 * terms.length)
    for (const term of terms) index.remove(term, Math.imul(term, 0x85ebca6b), 5)
    assert.strictEqual(index.bytes, before)
  })
})
