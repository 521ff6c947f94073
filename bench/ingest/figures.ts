/** The few statistics that the benchmark of ingest is told in. */

/** The value below which this share of them lies. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

export interface Verdict {
  readonly title: string
  readonly floor: string
  readonly reached: number
  readonly isMet: boolean
}
