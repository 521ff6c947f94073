/** What a benchmark hands in to bench/run.mjs, and the few statistics that it is told in. */
import process from "node:process"

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly better: "lower" | "higher"
  /** The most that it may be where lower is better, else the least. */
  readonly floor?: number | undefined
}

/** Nothing is measured well: a few seconds in which everything runs once, to see that it does. */
export const isSmoke: boolean = process.argv.includes("--smoke")

/** Floors are judged there, and the figures compared with those of the last release. */
export const handIn = (figures: ReadonlyArray<Figure>): void => {
  process.send?.(figures)
}

/** The value below which this share of them lies. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)
