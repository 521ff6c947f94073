/** Checks that the engine frees memory: adds and removes 100,000 rules, 100 times. */

import process from "node:process"
import { Engine } from "../../core/engine/Engine.ts"
import { coarseFields } from "../../core/syntax/expression/FieldNames.ts"
import { Random } from "../../fixtures/distributions.ts"
import { languageOf } from "../../fixtures/languages.ts"
import { heapBytes } from "./peers/memory.ts"
import { expressionOf } from "./workload/expression.ts"
import { makeRule, postFields } from "./workload/rules.ts"

const RULES = 100_000
const ROUNDS = 100
/** Rounds until pools and free lists have reached their final sizes. */
const FIRST_ROUNDS = 10
/** Allowed growth from the first rounds to the last. */
const MAX_GROWTH = 1.02

if (globalThis.gc === undefined)
  throw new Error('Cannot measure memory without --expose-gc: use "npm run churn:engine"')

const random = new Random(7)
const expressions = Array.from({ length: RULES }, () =>
  expressionOf("x", makeRule(random, postFields, { rarity: 10_000, names: 0.85 }))
)
const before = heapBytes()
const engine = new Engine({ seed: 1, largeCapacity: true, coarseFields: coarseFields(languageOf("x").fieldNames) })
const figures: Array<Figures> = []
console.log(`${RULES} rules added, then removed in random order, ${ROUNDS} times`)
console.log("round   index MB full   index MB empty   heap and buffers MB   resident MB")
for (let round = 1; round <= ROUNDS; round++) {
  const numbers = expressions.map((expression) => engine.add(expression))
  const full = engine.stats.bytes
  shuffle(numbers)
  for (const number of numbers) engine.remove(number)
  const { bytes: empty, reserved, rules } = engine.stats
  if (rules !== 0) throw new Error(`${rules} rules are left after all were removed`)
  const held = heapBytes() - before - reserved
  const resident = process.memoryUsage.rss()
  figures.push({ full, empty, held, resident })
  if (round <= 3 || round % 10 === 0) {
    console.log(
      `${String(round).padStart(5)}${[full, empty, held, resident].map((bytes, column) => (bytes / 1e6).toFixed(1).padStart([16, 17, 22, 14][column] ?? 0)).join("")}`
    )
  }
}

const growths = (["full", "empty", "held", "resident"] as const).map((figure) => ({
  figure,
  growth: medianOf(figures.slice(-FIRST_ROUNDS), figure) / medianOf(figures.slice(0, FIRST_ROUNDS), figure)
}))
const isFlat = growths.every(({ growth }) => growth <= MAX_GROWTH)
console.log(
  `\n${isFlat ? "Flat" : "GROWS"}: the last ${FIRST_ROUNDS} rounds against the first, ${growths.map(({ figure, growth }) => `${figure} × ${growth.toFixed(3)}`).join(", ")}; at most × ${MAX_GROWTH}`
)
process.exitCode = isFlat ? 0 : 1

// ---- helpers ----

/** Bytes. */
interface Figures {
  readonly full: number
  readonly empty: number
  readonly held: number
  readonly resident: number
}

/** Not the maximum: in some rounds the garbage collector leaves a megabyte. */
function medianOf(rounds: ReadonlyArray<Figures>, figure: keyof Figures): number {
  return rounds.map((round) => round[figure]).sort((a, b) => a - b)[rounds.length >> 1] ?? Number.NaN
}

function shuffle(numbers: Array<number>): void {
  for (let last = numbers.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const moved = numbers[last] ?? 0
    numbers[last] = numbers[other] ?? 0
    numbers[other] = moved
  }
}
