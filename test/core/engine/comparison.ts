/** Compares the engine with the evaluator while random rules are added and removed and random events arrive. */
import { Either } from "effect"
import { Engine } from "../../../core/engine/Engine.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { randomEvent, randomRule } from "../../../fixtures/generators.ts"
import { type PlatformId, readEvent } from "../../../fixtures/languages.ts"
import { randomFrom } from "../../../fixtures/random.ts"

export interface Compared {
  /** Pairs of a rule and an event. */
  readonly comparisons: number
  readonly matches: number
  /** The first disagreement. */
  readonly difference: string | undefined
}

const NOW = Date.parse("2026-11-15T12:00:00Z")

export interface Scenario {
  readonly platform: PlatformId
  readonly seed: number
  /** In each step some rules change and one event is matched. */
  readonly steps: number
  /** Approximate number of rules at the end. */
  readonly rules: number
}

/** From the first rule to the removal of the last. */
export const compare = ({ platform, seed, steps, rules: most }: Scenario): Compared => {
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
        if (rules.has(rule)) return { comparisons, matches, difference: `Rule number ${rule} was returned twice` }
        rules.set(rule, expression)
      }
    }
    const record = randomEvent(platform, random)
    const event = Either.getOrThrow(readEvent(platform, record, NOW))
    const expected = [...rules].filter(([, expression]) => evaluate(expression, event)).map(([rule]) => rule)
    const matched = [...engine.match(event)]
    comparisons += rules.size
    matches += expected.length
    const wrong = differenceOf(matched, expected)
    if (wrong !== undefined) {
      const difference = `${platform}, seed ${seed}, step ${step}: ${JSON.stringify(rules.get(wrong))}\n${JSON.stringify(record)}\nengine ${matched.includes(wrong)}, evaluator ${expected.includes(wrong)}`
      return { comparisons, matches, difference }
    }
  }
  for (const rule of rules.keys()) engine.remove(rule)
  const left = engine.stats.rules + engine.stats.unindexed
  const difference = left === 0 ? undefined : `${platform}, seed ${seed}: rules are left after all were removed`
  return { comparisons, matches, difference }
}

// ---- helpers ----

const differenceOf = (matched: ReadonlyArray<number>, expected: ReadonlyArray<number>): number | undefined =>
  expected.find((rule) => !matched.includes(rule)) ??
  matched.find((rule, index) => !expected.includes(rule) || matched.indexOf(rule) !== index)
