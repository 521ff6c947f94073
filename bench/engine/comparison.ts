/** Puts random rules in and out of an engine, hands it random events, and holds every answer against the plain evaluator. */
import { Either } from "effect"
import { Engine } from "../../core/engine/Engine.ts"
import { holds } from "../../core/syntax/expression/evaluate.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { type PlatformId, readEvent } from "../../test/platforms.ts"
import { randomFrom } from "../random.ts"
import { randomEvent, randomRule } from "./world.ts"

export interface Compared {
  /** Pairs of one rule and one event. */
  readonly comparisons: number
  readonly matches: number
  /** What the engine and the evaluator do not agree on, the first of it. */
  readonly difference: string | undefined
}

const NOW = Date.parse("2026-11-15T12:00:00Z")

export interface Life {
  readonly platform: PlatformId
  readonly seed: number
  /** Times that some rules change and an event comes. */
  readonly steps: number
  /** About how many rules there are in the end. */
  readonly rules: number
}

/** One life of an engine, from the first rule to the removal of the last. */
export const compare = ({ platform, seed, steps, rules: most }: Life): Compared => {
  const random = randomFrom(seed)
  const engine = new Engine({ seed })
  const rules = new Map<number, Expression>()
  let comparisons = 0
  let matches = 0
  for (let step = 0; step < steps; step++) {
    const known = [...rules.keys()]
    for (let changes = Math.floor((random() * most) / 12); changes > 0; changes--) {
      if (known.length > 0 && random() < rules.size / most / 2) {
        const [rule = 0] = known.splice(Math.floor(random() * known.length), 1)
        engine.remove(rule)
        rules.delete(rule)
      } else {
        const expression = randomRule(platform, random)
        const rule = engine.add(expression)
        if (rules.has(rule)) return { comparisons, matches, difference: `Rule number ${rule} was given twice` }
        rules.set(rule, expression)
      }
    }
    const record = randomEvent(platform, random)
    const event = Either.getOrThrow(readEvent(platform, record, NOW))
    const expected = [...rules].filter(([, expression]) => holds(expression, event)).map(([rule]) => rule)
    const met = [...engine.match(event)]
    comparisons += rules.size
    matches += expected.length
    const wrong = differenceOf(met, expected)
    if (wrong !== undefined) {
      const difference = `${platform}, seed ${seed}, step ${step}: ${JSON.stringify(rules.get(wrong))}\n${JSON.stringify(record)}\nengine ${met.includes(wrong)}, evaluator ${expected.includes(wrong)}`
      return { comparisons, matches, difference }
    }
  }
  for (const rule of rules.keys()) engine.remove(rule)
  const left = engine.stats.rules + engine.stats.unindexed
  const difference = left === 0 ? undefined : `${platform}, seed ${seed}: rules are left after the last was removed`
  return { comparisons, matches, difference }
}

// ---- helpers ----

const differenceOf = (met: ReadonlyArray<number>, expected: ReadonlyArray<number>): number | undefined =>
  expected.find((rule) => !met.includes(rule)) ??
  met.find((rule, index) => !expected.includes(rule) || met.indexOf(rule) !== index)
