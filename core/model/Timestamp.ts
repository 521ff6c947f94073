/** The time format of the wire and the domain: RFC 3339, UTC, milliseconds, `Z`. */
import { DateTime, Effect, Schema } from "effect"

export const Timestamp = Schema.String.pipe(
  Schema.pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  Schema.brand("Timestamp")
).annotations({ jsonSchema: { type: "string", format: "date-time" } })
export type Timestamp = typeof Timestamp.Type

/** The year must have four digits. */
export const fromDate = (date: Date): Timestamp => date.toISOString() as Timestamp

export const fromMillis = (millis: number): Timestamp => fromDate(new Date(millis))

export const DAY_MILLIS = 86_400_000

export const now: Effect.Effect<Timestamp> = Effect.map(DateTime.now, (time) => fromDate(DateTime.toDateUtc(time)))
