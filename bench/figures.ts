/** Figures that a benchmark reports to bench/run.mjs, and statistics for them. */
import process from "node:process"

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly better: "lower" | "higher"
  /** At most this if lower is better, otherwise at least this. */
  readonly target?: number | undefined
}

/** A run of a few seconds that only shows that everything works. */
export const isSmoke: boolean = process.argv.includes("--smoke")

/** bench/run.mjs checks the targets and compares with the last release. */
export const reportFigures = (figures: ReadonlyArray<Figure>): void => {
  process.send?.(figures)
}

/** The value below which this share of the values lies. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)
