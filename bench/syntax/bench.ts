/** Measures the CPU time of parsing and checking a typical rule. */
import * as Firehose from "../../core/syntax/firehose/language.ts"
import * as X from "../../core/syntax/x/language.ts"
import { checkRule } from "../../fixtures/languages.ts"
import { cpuMicros, isSmoke, lower, median, reportFigures } from "../figures.ts"
import { firehoseRules, xRules } from "./rules.ts"

const ROUNDS = isSmoke ? 1 : 25
const WARM_UP_ROUNDS = isSmoke ? 0 : 5
const MICROS_PER_BATCH = 20_000

/** CPU per rule. */
const MAX_MICROS = 50

interface Reader {
  readonly title: string
  readonly rules: ReadonlyArray<string>
  /** True if the rule was parsed without error. */
  readonly read: (rule: string) => boolean
}

const readers: ReadonlyArray<Reader> = [
  { title: "firehose, parse", rules: firehoseRules, read: (rule) => Firehose.parse(rule).ast !== undefined },
  { title: "firehose, check", rules: firehoseRules, read: (rule) => checkRule("firehose", rule).rule !== undefined },
  { title: "x, parse", rules: xRules, read: (rule) => X.parse(rule).rule !== undefined },
  { title: "x, check", rules: xRules, read: (rule) => checkRule("x", rule).rule !== undefined }
]

for (const { title, rules, read } of readers) {
  for (const rule of rules) if (!read(rule)) throw new Error(`"${title}" does not parse: ${rule}`)
}

const micros = measure(readers)
const length = firehoseRules.reduce((sum, rule) => sum + rule.length, 0) / firehoseRules.length
console.log(
  `CPU per rule of ${length.toFixed(0)} characters on average; check also reports issues and returns the canonical text and the expression\n`
)
for (const [title, values] of micros) {
  console.log(
    `  ${title.padEnd(26)}${median(values).toFixed(1).padStart(8)} µs   (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`
  )
}

reportFigures(
  [...micros].map(([title, values]) =>
    lower({ name: title, of: values, unit: "µs", target: title.endsWith("parse") ? MAX_MICROS : undefined })
  )
)

// ---- helpers ----

/** Readers take turns within each round, so that background load affects all equally. */
function measure(all: ReadonlyArray<Reader>): ReadonlyMap<string, ReadonlyArray<number>> {
  const micros = new Map(all.map(({ title }) => [title, [] as number[]]))
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const { title, rules, read } of all) {
      const perRule = batch(rules, read)
      if (round >= 0) micros.get(title)?.push(perRule)
    }
  }
  return micros
}

function batch(rules: ReadonlyArray<string>, read: (rule: string) => boolean): number {
  const start = cpuMicros()
  let count = 0
  while (cpuMicros() - start < MICROS_PER_BATCH) {
    for (const rule of rules) read(rule)
    count += rules.length
  }
  return (cpuMicros() - start) / count
}
