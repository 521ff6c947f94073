/** Schema for an optional whole number in a request. */
import { Schema } from "effect"

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
}) => {
  const message = `Expected a whole number from ${min} to ${max}`
  return Schema.optionalWith(
    Schema.Number.pipe(Schema.filter((n) => (Number.isInteger(n) && n >= min && n <= max) || message)).annotations({
      jsonSchema: { type: "integer", minimum: min, maximum: max, default: fallback, ...documented }
    }),
    { exact: true, default: () => fallback }
  )
}
