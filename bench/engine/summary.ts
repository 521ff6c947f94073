/** What the races say: a table of the figures, and the floors with what was reached. */
import type { Race, Result } from "./race.ts"

export interface Verdict {
  readonly title: string
  readonly floor: string
  /** Absent where a peer or a size was not measured. */
  readonly reached: string | undefined
  readonly isMet: boolean
}

export const OURS = "earshot"
export const RECORDS = "earshot, whole records"
export const CLOSURES = "map + closures"
export const POSTGRES = "postgres + rum"
export const LUCENE = "lucene monitor"

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

export const verdictsOf = (races: ReadonlyArray<Race>): ReadonlyArray<Verdict> => {
  const at = (count: number) => races.find((race) => race.workload === "posts" && race.count === count)?.results ?? []
  return [
    ratio(LUCENE, 100_000, at(100_000), 200),
    ratio(LUCENE, 1_000_000, at(1_000_000), 300),
    ratio(POSTGRES, 100_000, at(100_000), 400),
    ratio(CLOSURES, 100_000, at(100_000), 15),
    ...[100_000, 1_000_000].flatMap((count) => {
      const result = at(count)[0]
      const calls = result?.figures.calls
      return [
        most(`bytes per rule at ${count}`, result?.figures.bytesPerRule, 150, "bytes"),
        most(`replace p99 at ${count}`, calls && 1_000 * calls.replaceP99, 30, "µs"),
        most(`longest add while growing to ${count}`, calls?.longestAdd, 2, "ms"),
        most(`longest replace at ${count}`, calls?.longestReplace, 2, "ms"),
        most(`longest match while replacing at ${count}`, calls?.longestMatch, 2, "ms")
      ]
    })
  ]
}

export const verdictLine = ({ title, floor, reached, isMet }: Verdict): string =>
  `  ${title.padEnd(44)}${floor.padStart(14)}   ${reached === undefined ? "not measured" : `${reached} ${isMet ? "" : "MISSED"}`}`.trimEnd()

// ---- helpers ----

const HEADINGS = [
  "",
  "events/s",
  "CPU µs",
  "lowest–highest",
  "p50 µs",
  "p99 µs",
  "matches",
  "bytes/rule",
  "add µs",
  "× slower"
]

const cellsOf = (result: Result, ours: Result | undefined): ReadonlyArray<string> => {
  const { title, figures, micros, matchesPerEvent, latency } = result
  const shown = (value: number | undefined, digits: number) => value?.toFixed(value < 1_000 ? digits : 0) ?? "-"
  return [
    title,
    (1e6 / median(micros)).toFixed(0),
    shown(median(micros), 1),
    `${shown(Math.min(...micros), 1)}–${shown(Math.max(...micros), 1)}`,
    shown(latency?.p50Micros, 1),
    shown(latency?.p99Micros, 1),
    shown(matchesPerEvent, 3),
    shown(figures.bytesPerRule, 0),
    shown(figures.addMicros, 1),
    ours === undefined || ours === result ? "" : ratioOf(ours, result).toFixed(1)
  ]
}

/** Round by round, then the median: what slows a whole round slows both sides of its ratio. */
const ratioOf = (ours: Result, theirs: Result): number =>
  median(ours.micros.map((micros, round) => (theirs.micros[round] ?? Number.NaN) / micros))

/** Against the better of the peer's ways, where it was run in several. */
const ratio = (peer: string, count: number, results: ReadonlyArray<Result>, floor: number): Verdict => {
  const [ours] = results
  const peers = results.filter(({ title }) => title.startsWith(peer))
  const reached =
    ours === undefined || peers.length === 0 ? undefined : Math.min(...peers.map((one) => ratioOf(ours, one)))
  return {
    title: `times as fast as ${peer} at ${count}`,
    floor: `at least ${floor}`,
    reached: reached?.toFixed(1),
    isMet: reached === undefined || reached >= floor
  }
}

const most = (title: string, reached: number | undefined, floor: number, unit: string): Verdict => ({
  title,
  floor: `at most ${floor}`,
  reached: reached === undefined ? undefined : `${reached.toFixed(1)} ${unit}`,
  isMet: reached === undefined || reached <= floor
})

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

function row([title = "", ...columns]: ReadonlyArray<string>): string {
  return `  ${title.padEnd(28)}${columns.map((column) => column.padStart(15)).join("")}`
}
