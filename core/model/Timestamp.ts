/** The time format of the wire and the domain: RFC 3339, UTC, milliseconds, `Z`. */
import { DateTime, Effect, ParseResult, Schema } from "effect"
import { instantOf } from "../text/json.ts"

export const Timestamp = Schema.String.pipe(
  Schema.pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  Schema.brand("Timestamp")
).annotations({ jsonSchema: { type: "string", format: "date-time" } })
export type Timestamp = typeof Timestamp.Type

/**
 * A time in a request: any RFC 3339 time, or a date, which means its start in UTC. Describe the property, not this type:
 * its `jsonSchema` replaces a description.
 */
export const FromRequest: Schema.Schema<Timestamp, string> = Schema.transformOrFail(Schema.String, Timestamp, {
  strict: true,
  decode: (text, _, ast) => {
    const millis = instantOf(text)
    return millis === undefined || missingDay(text) !== undefined
      ? ParseResult.fail(new ParseResult.Type(ast, text))
      : ParseResult.succeed(fromMillis(millis))
  },
  encode: ParseResult.succeed
}).annotations({
  message: ({ actual }) => ({
    message: missingDay(actual) ?? "Expected a time such as 2027-01-31T12:00:00Z, or a date such as 2027-01-31",
    override: true
  }),
  jsonSchema: { type: "string", anyOf: [{ format: "date-time" }, { format: "date" }] }
})

/**
 * An error message for a time on a day that does not exist, such as the 30th of February: `Date` would move it to the
 * next month. Undefined for any other value.
 */
export const missingDay = (value: unknown): string | undefined => {
  const day = typeof value === "string" ? /^\d{4}-\d\d-\d\d(?![^T ])/.exec(value)?.[0] : undefined
  if (day === undefined) return undefined
  const millis = Date.parse(day)
  const exists = !Number.isNaN(millis) && fromMillis(millis).startsWith(day)
  return exists ? undefined : `The day ${day} does not exist`
}

/** The year must have four digits. */
export const fromDate = (date: Date): Timestamp => date.toISOString() as Timestamp

export const fromMillis = (millis: number): Timestamp => fromDate(new Date(millis))

export const DAY_MILLIS = 86_400_000

/** The start of the month in UTC, `months` later. */
export const monthStart = (millis: number, months = 0): number => {
  const date = new Date(millis)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months)
}

export const now: Effect.Effect<Timestamp> = Effect.map(DateTime.now, (time) => fromDate(DateTime.toDateUtc(time)))
