/** Whole numbers in a range: in requests, settings and command-line options. */
import { Schema } from "effect"
import { shownValue } from "../text/shownValue.ts"

export interface Range {
  readonly min: number
  readonly max: number
}

/** For an error message. */
export const describeRange = ({ min, max }: Range): string => `a whole number from ${min} to ${max}`

/** Undefined if the text is not a whole number in the range. */
export const parseWholeNumber = (text: string, range: Range): number | undefined =>
  /^\d{1,15}$/.test(text) && isWithin(Number(text), range) ? Number(text) : undefined

export const WholeNumber = (range: Range) =>
  Schema.Number.pipe(
    Schema.filter((value) => Number.isInteger(value) && isWithin(value, range), {
      message: ({ actual }) => ({
        message: `Expected ${describeRange(range)}, got ${shownValue(actual)}`,
        override: true
      })
    })
  )

/** An optional field of a request. */
export const wholeNumber = ({
  min = 1,
  max,
  fallback,
  ...documented
}: {
  readonly min?: number
  readonly max: number
  readonly fallback: number
  readonly description?: string
}) =>
  Schema.optionalWith(
    WholeNumber({ min, max }).annotations({
      jsonSchema: { type: "integer", minimum: min, maximum: max, default: fallback, ...documented }
    }),
    { exact: true, default: () => fallback }
  )

// ---- helpers ----

const isWithin = (value: number, { min, max }: Range): boolean => value >= min && value <= max
