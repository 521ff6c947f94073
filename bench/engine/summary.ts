/** Summarizes the races: a table, and the reported figures. */
import { type Figure, higher, lower, median, tableRow } from "../figures.ts"
import type { Race, Result } from "./race.ts"

export const OURS = "earshot"
export const RECORDS = "earshot, whole records"
export const PARSE = "JSON.parse alone"
export const CLOSURES = "map + closures"
export const POSTGRES = "postgres + rum"
export const LUCENE = "lucene monitor"

/** The number of rules at which whole records have a target. */
export const RECORDS_SIZE = 100_000

export const recordsFigure = (count: number): string => `CPU of whole records over JSON.parse alone at ${count}`

export const tableOf = (races: ReadonlyArray<Race>): string =>
  races
    .map(({ workload, count, results }) =>
      [
        `\n${workload}, ${count} rules`,
        row(HEADINGS),
        ...results.map((result) => row(cellsOf(result, results[0])))
      ].join("\n")
    )
    .join("\n")

export const differencesOf = (races: ReadonlyArray<Race>): ReadonlyArray<string> =>
  races.flatMap(({ workload, count, results }) =>
    results.flatMap(({ title, difference }) =>
      difference === undefined ? [] : [`${workload}, ${count} rules, ${title}: ${difference}`]
    )
  )

/** For the sizes with targets, else for the last size measured. */
export const figuresOf = (races: ReadonlyArray<Race>): ReadonlyArray<Figure> => {
  const posts = races.filter(({ workload }) => workload === "posts")
  const large = posts.filter(({ count }) => RATIO_TARGETS.has(count))
  return (large.length > 0 ? large : posts.slice(-1)).flatMap(({ count, results }) => [
    ...[LUCENE, POSTGRES, CLOSURES].flatMap((peer) => ratioFigure(peer, count, results)),
    ...recordFigures(count, results),
    ...callFigures(count, results[0])
  ])
}

// ---- helpers ----

const HEADINGS = ["", "events/s", "CPU µs", "lowest–highest", "matches", "bytes/rule", "add µs", "× slower"]

const cellsOf = (result: Result, ours: Result | undefined): ReadonlyArray<string> => {
  const { title, figures, micros, matchesPerEvent } = result
  const shown = (value: number | undefined, digits: number) => value?.toFixed(value < 1_000 ? digits : 0) ?? "-"
  return [
    title,
    (1e6 / median(micros)).toFixed(0),
    shown(median(micros), 1),
    `${shown(Math.min(...micros), 1)}–${shown(Math.max(...micros), 1)}`,
    shown(matchesPerEvent, 3),
    shown(figures.bytesPerRule, 0),
    shown(figures.addMicros, 1),
    ours === undefined || ours === result ? "" : ratioOf(ours, result).toFixed(1)
  ]
}

/** By round: what slows down a whole round affects both sides. */
const ratiosOf = (ours: Result, theirs: Result): ReadonlyArray<number> =>
  ours.micros.map((micros, round) => (theirs.micros[round] ?? Number.NaN) / micros)

const ratioOf = (ours: Result, theirs: Result): number => median(ratiosOf(ours, theirs))

/** Minimum speed-up over a peer, by number of rules. */
const RATIO_TARGETS: ReadonlyMap<number, Readonly<Record<string, number>>> = new Map([
  [100_000, { [LUCENE]: 200, [POSTGRES]: 400, [CLOSURES]: 15 }],
  [1_000_000, { [LUCENE]: 300 }]
])

/** Compared with the peer's fastest variant. Empty if the peer was not run. */
const ratioFigure = (peer: string, count: number, results: ReadonlyArray<Result>): ReadonlyArray<Figure> => {
  const [ours, ...others] = results
  const peers = others.filter(({ title }) => title.startsWith(peer))
  if (ours === undefined || peers.length === 0) return []
  const [fastest = []] = peers.map((one) => ratiosOf(ours, one)).sort((a, b) => median(a) - median(b))
  const target = RATIO_TARGETS.get(count)?.[peer]
  return [higher({ name: `times as fast as ${peer} at ${count}`, of: fastest, unit: "×", target })]
}

/** At most this many times `JSON.parse` alone: 150,000 records per second where it makes 285,000. */
const RECORDS_TARGET = 1.9

/** From the JSON text of a record to its matches, over `JSON.parse` of the same text. */
const recordFigures = (count: number, results: ReadonlyArray<Result>): ReadonlyArray<Figure> => {
  const parse = results.find(({ title }) => title === PARSE)
  const records = results.find(({ title }) => title === RECORDS)
  if (parse === undefined || records === undefined) return []
  const target = count === RECORDS_SIZE ? RECORDS_TARGET : undefined
  return [lower({ name: recordsFigure(count), of: ratiosOf(parse, records), unit: "×", target })]
}

const callFigures = (count: number, ours: Result | undefined): ReadonlyArray<Figure> => {
  const { bytesPerRule, calls } = ours?.figures ?? {}
  const figure = (name: string, of: number | undefined, unit: string, most: number): ReadonlyArray<Figure> =>
    of === undefined ? [] : [lower({ name, of, unit, target: RATIO_TARGETS.has(count) ? most : undefined })]
  return [
    ...figure(`bytes per rule at ${count}`, bytesPerRule, "bytes", 150),
    ...figure(`replace p99 at ${count}`, calls && 1_000 * calls.replaceP99, "µs", 30),
    ...figure(`longest add while growing to ${count}`, calls?.longestAdd, "ms", 2),
    ...figure(`longest replace at ${count}`, calls?.longestReplace, "ms", 2),
    ...figure(`longest match while replacing at ${count}`, calls?.longestMatch, "ms", 2)
  ]
}

function row(cells: ReadonlyArray<string>): string {
  return tableRow(cells, { first: 28, other: 15 })
}
