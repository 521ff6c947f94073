/** Figures that a benchmark reports to bench/run.mjs, and statistics for them. */
import type { Profiler } from "node:inspector"
import process from "node:process"

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly better: "lower" | "higher"
  /** At most this if lower is better, otherwise at least this. */
  readonly target?: number | undefined
  /** The lowest and the highest value of all rounds. */
  readonly spread?: readonly [lowest: number, highest: number] | undefined
}

/** A run of a few seconds that only shows that everything works. */
export const isSmoke: boolean = process.argv.includes("--smoke")

/** bench/run.mjs checks the targets and compares with the last release. */
export const reportFigures = (figures: ReadonlyArray<Figure>): void => {
  process.send?.(figures)
}

export const isMissed = ({ value, better, target }: Figure): boolean =>
  target !== undefined && !(better === "higher" ? value >= target : value <= target)

/** Less is better. Of several rounds: the median, with their spread. */
export const lower = (measured: Measured): Figure => ({ ...overRounds(measured), better: "lower" })

/** More is better. */
export const higher = (measured: Measured): Figure => ({ ...overRounds(measured), better: "higher" })

/** A line of columns, the first one at the left. */
export const tableRow = (
  [title = "", ...columns]: ReadonlyArray<string>,
  widths: { readonly first: number; readonly other: number }
): string => `  ${title.padEnd(widths.first)}${columns.map((column) => column.padStart(widths.other)).join("")}`

/** User and system time of this process. */
export const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Starts a CPU profile of this process. The returned function ends it and lists the functions that took most time. */
export const startProfile = async (): Promise<() => Promise<ReadonlyArray<string>>> => {
  const { Session } = await import("node:inspector/promises")
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.start")
  return async () => {
    const { profile } = await session.post("Profiler.stop")
    session.disconnect()
    return hottest(profile)
  }
}

/** The value below which this share of the values lies. */
export const quantile = (values: ArrayLike<number>, share: number): number =>
  Float64Array.from(values).sort()[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

// ---- helpers ----

type Measured = Pick<Figure, "name" | "unit" | "target"> & { readonly of: number | ReadonlyArray<number> }

const overRounds = ({ of, ...figure }: Measured) =>
  typeof of === "number"
    ? { ...figure, value: of }
    : { ...figure, value: median(of), spread: [Math.min(...of), Math.max(...of)] as const }

const SHOWN_FUNCTIONS = 15

/** By time in the function itself, as a share of the time in which the process worked. */
const hottest = ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ReadonlyArray<string> => {
  const micros = new Map<number, number>()
  for (const [i, node] of samples.entries()) micros.set(node, (micros.get(node) ?? 0) + (timeDeltas[i] ?? 0))
  const byFunction = new Map<string, number>()
  for (const { id, callFrame } of nodes) {
    const { functionName, url, lineNumber } = callFrame
    if (functionName === "(idle)") continue
    const place = url === "" ? "" : ` ${url.slice(url.lastIndexOf("/") + 1)}:${lineNumber + 1}`
    const name = `${functionName || "(anonymous)"}${place}`
    byFunction.set(name, (byFunction.get(name) ?? 0) + (micros.get(id) ?? 0))
  }
  const total = [...byFunction.values()].reduce((sum, time) => sum + time, 0)
  return [...byFunction]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN_FUNCTIONS)
    .map(([name, time]) => `${((time / total) * 100).toFixed(1).padStart(5)} % ${name}`)
}
