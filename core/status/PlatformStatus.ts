/** How each platform is doing: its stream, its rules, what it allows. */
import { Clock, Effect, Option, Schema } from "effect"
import { PlatformCoverage } from "../coverage/Coverage.ts"
import { platformCoverage, snapshotOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import type { StorageUnavailable } from "../model/Errors.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { type Platform, Platforms, StreamState, type StreamStatus } from "../platforms/Platform.ts"
import { type Comparison, Registrations, type Standing } from "../rules/Registrations.ts"
import { RuleStore } from "../rules/RuleStore.ts"

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
    last_event_at: optional(
      Timestamp.Timestamp,
      "When the last event came in. upstream: of those that the platform sends, which are those that meet a rule. local: of all that are handed in, whether they meet a rule or not"
    ),
    last_error: optional(Trouble, "What went wrong last, also when all is well again")
  }),
  rules: Schema.Struct({
    wanted: Schema.Number.annotations({ description: "Rules that the platform should hold for this server" }),
    limit: optional(Schema.Number, "How many rules the platform takes, where it says so"),
    drift: optional(
      Schema.Struct({
        checked_at: Timestamp.Timestamp,
        missing: Schema.Number.annotations({ description: "Wanted, and the platform does not take them now" }),
        orphaned: Schema.Number.annotations({ description: "Of this server, wanted by nobody, still to be removed" }),
        foreign: Schema.Number.annotations({ description: "On the platform, but not of this server; never touched" })
      }),
      "What was left when store and platform were last compared; that is done every two minutes"
    ),
    error: optional(Trouble, "Why the last comparison did not work")
  }),
  coverage: Schema.propertySignature(PlatformCoverage).annotations({
    description: "When it was watched in the last 24 hours, and when not"
  }),
  usage: optional(
    Schema.Struct({ used: Schema.Number, limit: Schema.Number }),
    "Events of the billing period, where the platform says so"
  )
}).annotations({ identifier: "PlatformStatus" })
export type PlatformStatus = typeof PlatformStatus.Type

export const platformStatus: Effect.Effect<
  ReadonlyArray<PlatformStatus>,
  StorageUnavailable,
  Platforms | Registrations | RuleStore | StreamStore
> = Effect.gen(function* () {
  const platforms = yield* Platforms
  const registrations = yield* Registrations
  const store = yield* RuleStore
  const streams = yield* StreamStore
  const now = yield* Clock.currentTimeMillis
  return yield* Effect.forEach(yield* platforms.all, (platform) =>
    Effect.gen(function* () {
      const standing = yield* registrations.standing(platform.id)
      const snapshot = yield* snapshotOf(streams, platform.id)
      return {
        ...statusOf(platform, yield* platform.status, standing, yield* store.wanted(platform.id)),
        coverage: platformCoverage(platform.id, snapshot, { from: Option.some(now - DAY_MILLIS), to: now })
      }
    })
  )
})

// ---- helpers ----

const BEREFT = "The platform does not hold the rules to watch for: they are registered again as soon as it takes them"

const DAY_MILLIS = 86_400_000

const statusOf = (platform: Platform, stream: StreamStatus, standing: Standing, wanted: number) => {
  const { since, lastEventAt, lastError } = stream
  const { comparison, error } = standing
  // A stream that is not opened for want of rules does not notice that it could not be.
  const refusal = Option.filter(error, ({ isRefused }) => isRefused && stream.state === "idle")
  // Nor does it know that there should be rules.
  const isBereft = stream.state === "idle" && wanted > 0
  const state = Option.isSome(refusal) ? "refused" : isBereft ? "waiting" : stream.state
  const detail = Option.match(refusal, {
    onNone: () => (isBereft ? BEREFT : stream.detail),
    onSome: ({ message }) => message
  })
  const lastEvent = Option.map(lastEventAt, Timestamp.fromMillis)
  return {
    platform: platform.id,
    source: platform.capabilities.isRemote ? ("upstream" as const) : ("local" as const),
    summary: [
      detail,
      [`${count(wanted, "rule")} to watch for`, ...Option.match(comparison, NO_DRIFT)].join(", "),
      ...Option.toArray(Option.map(error, ({ message }) => message)).filter((message) => message !== detail),
      Option.match(lastEvent, {
        onNone: () => "No event has come in since the start",
        onSome: (at) => `The last event came in at ${at}`
      })
    ].join(". "),
    stream: {
      state,
      detail,
      since: Timestamp.fromMillis(since),
      ...spread(lastEvent, (at) => ({ last_event_at: at })),
      ...spread(lastError, ({ at, message }) => ({ last_error: { at: Timestamp.fromMillis(at), message } }))
    },
    rules: {
      wanted,
      ...spread(comparison, ({ at, missing, orphaned, foreign, ruleLimit }) => ({
        ...spread(ruleLimit, (limit) => ({ limit })),
        drift: { checked_at: at, missing, orphaned, foreign }
      })),
      ...spread(error, ({ at, message }) => ({ error: { at, message } }))
    },
    ...spread(
      Option.flatMap(comparison, ({ usage }) => usage),
      (usage) => ({ usage })
    )
  }
}

const driftInWords = ({ missing, orphaned, foreign, ruleLimit, usage }: Comparison): ReadonlyArray<string> => [
  ...(missing === 0 ? [] : [`the platform does not take ${count(missing, "rule")} of them now`]),
  ...(orphaned === 0 ? [] : [`${count(orphaned, "rule")} still to be removed there`]),
  ...(foreign === 0 ? [] : [`${count(foreign, "rule")} there of someone else`]),
  ...Option.toArray(Option.map(ruleLimit, (limit) => `${limit} allowed`)),
  ...Option.toArray(Option.map(usage, ({ used, limit }) => `${used} of ${limit} events of the billing period used`))
]

const NO_DRIFT = { onNone: (): ReadonlyArray<string> => [], onSome: driftInWords }

const spread = <A, B extends object>(option: Option.Option<A>, use: (value: A) => B): B | Record<never, never> =>
  Option.match(option, { onNone: () => ({}), onSome: use })

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
