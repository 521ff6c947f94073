/** How each platform is doing: its stream, its rules, what it allows. */
import { Effect, Option, Schema } from "effect"
import { type Platform, Platforms, StreamState } from "./Platform.ts"
import { PlatformId } from "./PlatformId.ts"
import { type Comparison, Registrations, type Standing } from "./Registrations.ts"
import * as Timestamp from "./Timestamp.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })

const Trouble = Schema.Struct({ at: Timestamp.Timestamp, message: Schema.String })

export const PlatformStatus = Schema.Struct({
  platform: PlatformId,
  source: Schema.Literal("upstream", "local").annotations({
    description: "upstream: the real platform. local: it runs in this process, on events that are handed in"
  }),
  summary: Schema.String.annotations({ description: "All of the below that matters now, in words" }),
  stream: Schema.Struct({
    state: StreamState,
    detail: Schema.String,
    since: Timestamp.Timestamp,
    last_event_at: optional(Timestamp.Timestamp, "When the last event came in"),
    last_error: optional(Trouble, "What went wrong last, also when all is well again")
  }),
  rules: optional(
    Schema.Struct({
      checked_at: Timestamp.Timestamp,
      wanted: Schema.Number.annotations({ description: "Rules that the platform should hold for this server" }),
      missing: Schema.Number.annotations({ description: "Of those: the platform does not take them now" }),
      orphaned: Schema.Number.annotations({ description: "Of this server, wanted by nobody, still to be removed" }),
      foreign: Schema.Number.annotations({ description: "On the platform, but not of this server; never touched" }),
      limit: optional(Schema.Number, "How many rules the platform takes, where it says so")
    }),
    "What the platform held when it was last compared with the store"
  ),
  rules_error: optional(Trouble, "Why the last comparison did not work"),
  usage: optional(
    Schema.Struct({ used: Schema.Number, limit: Schema.Number }),
    "Events of the billing period, where the platform says so"
  )
}).annotations({ identifier: "PlatformStatus" })
export type PlatformStatus = typeof PlatformStatus.Type

export const platformStatus: Effect.Effect<
  ReadonlyArray<PlatformStatus>,
  never,
  Platforms | Registrations
> = Effect.gen(function* () {
  const platforms = yield* Platforms
  const registrations = yield* Registrations
  return yield* Effect.forEach(yield* platforms.all, (platform) =>
    Effect.flatMap(registrations.standing(platform.id), (standing) => statusOf(platform, standing))
  )
})

// ---- helpers ----

const timestamp = (millis: number) => Timestamp.fromDate(new Date(millis))

const statusOf = (platform: Platform, { comparison, error }: Standing) =>
  Effect.map(platform.status, ({ state, detail, since, lastEventAt, lastError }): PlatformStatus => {
    const rules = Option.getOrUndefined(comparison)
    const lastEvent = Option.getOrUndefined(Option.map(lastEventAt, timestamp))
    return {
      platform: platform.id,
      source: platform.capabilities.isRemote ? "upstream" : "local",
      summary: [
        detail,
        ...Option.toArray(Option.map(comparison, rulesInWords)),
        ...Option.toArray(Option.map(error, ({ message }) => message)),
        lastEvent === undefined ? "No event has come in since the start" : `The last event came in at ${lastEvent}`
      ].join(". "),
      stream: {
        state,
        detail,
        since: timestamp(since),
        ...(lastEvent !== undefined && { last_event_at: lastEvent }),
        ...spread(lastError, ({ at, message }) => ({ last_error: { at: timestamp(at), message } }))
      },
      ...(rules !== undefined && {
        rules: {
          checked_at: rules.at,
          wanted: rules.wanted,
          missing: rules.missing,
          orphaned: rules.orphaned,
          foreign: rules.foreign,
          ...spread(rules.ruleLimit, (limit) => ({ limit }))
        },
        ...spread(rules.usage, (usage) => ({ usage }))
      }),
      ...spread(error, (trouble) => ({ rules_error: trouble }))
    }
  })

const spread = <A, B extends object>(option: Option.Option<A>, use: (value: A) => B): B | Record<never, never> =>
  Option.match(option, { onNone: () => ({}), onSome: use })

const rulesInWords = ({ wanted, missing, orphaned, foreign, ruleLimit, usage }: Comparison): string =>
  [
    `${count(wanted, "rule")} to watch for`,
    ...(missing === 0 ? [] : [`the platform does not take ${count(missing, "rule")} of them now`]),
    ...(orphaned === 0 ? [] : [`${count(orphaned, "rule")} still to be removed there`]),
    ...(foreign === 0 ? [] : [`${count(foreign, "rule")} there of someone else`]),
    ...Option.toArray(Option.map(ruleLimit, (limit) => `${limit} allowed`)),
    ...Option.toArray(Option.map(usage, ({ used, limit }) => `${used} of ${limit} events of the billing period used`))
  ].join(", ")

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
