/** CPU time of reading a typical rule of 200 characters: ours beside the Lucene parsers of npm, over the same rules. */
import process from "node:process"
import liqe from "liqe"
import lucene from "lucene"
import * as Firehose from "../../core/syntax/firehose/language.ts"
import * as X from "../../core/syntax/x/language.ts"
import { checkRule } from "../../test/platforms.ts"
import { type Figure, handIn, isSmoke, median } from "../figures.ts"
import { firehoseRules, xRules } from "./rules.ts"

const ROUNDS = isSmoke ? 1 : 25
const WARM_UP_ROUNDS = isSmoke ? 0 : 5
const MICROS_PER_BATCH = 20_000

/** The most CPU that reading one rule may take, and how many times faster than the faster peer it must be. */
const MOST_MICROS = 50
const LEAST_RATIO = 3

interface Reader {
  readonly title: string
  readonly rules: ReadonlyArray<string>
  /** True when the rule was read without an error. */
  readonly read: (rule: string) => boolean
}

const readers: ReadonlyArray<Reader> = [
  { title: "earshot firehose, parse", rules: firehoseRules, read: (rule) => Firehose.parse(rule).ast !== undefined },
  {
    title: "earshot firehose, check",
    rules: firehoseRules,
    read: (rule) => checkRule("firehose", rule).rule !== undefined
  },
  { title: "lucene, parse", rules: firehoseRules, read: (rule) => lucene.parse(rule) !== undefined },
  { title: "liqe, parse", rules: firehoseRules, read: (rule) => liqe.parse(rule) !== undefined },
  { title: "earshot x, parse", rules: xRules, read: (rule) => X.parse(rule).rule !== undefined },
  { title: "earshot x, check", rules: xRules, read: (rule) => checkRule("x", rule).rule !== undefined }
]

for (const { title, rules, read } of readers) {
  for (const rule of rules) if (!read(rule)) throw new Error(`"${title}" does not take: ${rule}`)
}

const micros = measure(readers)
const length = firehoseRules.reduce((sum, rule) => sum + rule.length, 0) / firehoseRules.length
console.log(
  `CPU per rule of ${length.toFixed(0)} characters on average; check also explains mistakes, gives the canonical text and the meaning\n`
)
for (const [title, values] of micros) {
  console.log(
    `  ${title.padEnd(26)}${median(values).toFixed(1).padStart(8)} µs   (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`
  )
}

const ours = micros.get("earshot firehose, parse") ?? []
const ratios = ["lucene, parse", "liqe, parse"].map((peer) => ({
  peer,
  ratio: median(ours.map((value, round) => (micros.get(peer)?.[round] ?? Number.NaN) / value))
}))
console.log()
for (const { peer, ratio } of ratios) console.log(`  ${ratio.toFixed(1)} × faster than ${peer}`)

handIn([
  ...[...micros]
    .filter(([title]) => title.startsWith("earshot"))
    .map(([title, values]): Figure => {
      const floor = title.endsWith("parse") ? MOST_MICROS : undefined
      return { name: title.slice("earshot ".length), value: median(values), unit: "µs", better: "lower", floor }
    }),
  ...ratios.map(
    ({ peer, ratio }): Figure => ({
      name: `firehose, parse: times as fast as ${peer}`,
      value: ratio,
      unit: "×",
      better: "higher",
      floor: LEAST_RATIO
    })
  )
])

// ---- helpers ----

/** One reader after the other in each round: whatever else the machine does falls on all alike. */
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

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
