/** The status of each platform: stream, rules, coverage and usage. */
import { Option, Schema } from "effect"
import { BudgetUsage } from "../budget/BudgetUsage.ts"
import { PlatformCoverage } from "../coverage/Coverage.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Owner } from "../ownership/Servers.ts"
import { type Platform, StreamState, type StreamStatus } from "../platforms/Platform.ts"
import type { SyncStatus } from "../rules/Registrations.ts"
import { type Comparison, describeNewer } from "../rules/reconcilePlatform.ts"
import { counted } from "../text/counted.ts"

const Problem = Schema.Struct({ at: Timestamp.Timestamp, message: Schema.String })

export const PlatformStatus = Schema.Struct({
  platform: PlatformId,
  source: Schema.Literal("upstream", "local").annotations({
    description:
      "upstream: a service on the network, the platform's own unless `address` is there. local: runs in this process on published events"
  }),
  address: optional(
    Schema.String,
    "The service that is set in place of the platform's own, such as a simulator or a proxy: scheme, host and port"
  ),
  demo_feed: optional(Schema.Literal(true), "The server makes up events of this platform, to try rules on"),
  summary: Schema.String.annotations({ description: "The current state in plain text" }),
  stream: Schema.Struct({
    state: StreamState,
    detail: Schema.String,
    since: Timestamp.Timestamp,
    last_event_at: optional(
      Timestamp.Timestamp,
      "When the last event was received. upstream: only events that match a rule. local: all published events"
    ),
    last_error: optional(Problem, "The last error, even if it is over")
  }),
  owner: optional(
    Schema.Struct({
      server: optional(Schema.String, "Its host and process, for the operator"),
      epoch: Schema.Number.annotations({ description: "Each owner has a higher one than the owner before it" }),
      since: Timestamp.Timestamp,
      alive: Schema.Boolean.annotations({
        description: "false: it has stopped, and another server takes over within seconds"
      })
    }),
    "The one of several servers that watches the platform"
  ),
  rules: Schema.Struct({
    wanted: Schema.Number.annotations({ description: "Rules that the platform should hold for this server" }),
    limit: optional(Schema.Number, "The maximum number of rules, if the platform reports it"),
    drift: optional(
      Schema.Struct({
        checked_at: Timestamp.Timestamp,
        missing: Schema.Number.annotations({ description: "Wanted, but the platform does not accept them now" }),
        missing_since: optional(Timestamp.Timestamp, "When the first of the missing rules failed"),
        orphaned: Schema.Number.annotations({
          description: "Registered by this server, no longer wanted, still to be removed"
        }),
        foreign: Schema.Number.annotations({ description: "Registered by someone else; never touched" }),
        newer: optional(
          Schema.Number,
          "Those of the foreign rules that another server made from a copy of this store, if there are any"
        )
      }),
      "Differences left after the last comparison of store and platform, which runs every 20 seconds, or every two minutes with many rules"
    ),
    error: optional(Problem, "Why the last comparison failed")
  }),
  coverage: Schema.propertySignature(PlatformCoverage).annotations({
    description: "When the platform was watched in the last 24 hours"
  }),
  usage: optional(
    Schema.Struct({ used: Schema.Number, limit: Schema.Number, reported_at: Timestamp.Timestamp }),
    "Events of the billing period as the platform counts them, if it reports them. Asked for at most every two minutes, so it may differ from `budget`"
  ),
  budget: optional(BudgetUsage, "Posts received in this month, for a platform that charges for them")
}).annotations({ identifier: "PlatformStatus" })
export type PlatformStatus = typeof PlatformStatus.Type

/** What a status needs of a platform. */
type Named = Pick<Platform, "id" | "capabilities">

interface Facts {
  readonly stream: StreamStatus
  readonly sync: SyncStatus
  /** Number of rules that the platform should hold. */
  readonly wanted: number
  readonly coverage: PlatformCoverage
  readonly budget: Option.Option<BudgetUsage>
  readonly owner: Option.Option<Owner>
  readonly isOperator: boolean
}

export const statusOf = (platform: Named, facts: Facts): PlatformStatus => {
  const { wanted, coverage, budget } = facts
  const { address } = platform.capabilities
  const { state, detail, since, lastEventAt, lastError } = streamNow(platform, facts)
  const { comparison } = facts.sync
  // Nothing is compared while the platform is off, and the detail says why.
  const error = state === "off" ? Option.none() : facts.sync.error
  const lastEvent = Option.map(lastEventAt, Timestamp.fromMillis)
  return {
    platform: platform.id,
    source: platform.capabilities.isRemote ? "upstream" : "local",
    ...(address !== undefined && { address }),
    ...(platform.capabilities.hasDemoFeed && { demo_feed: true }),
    summary: [
      detail,
      ...(address === undefined ? [] : [`It is connected to ${address}, not to the platform's own service`]),
      [
        `${counted(wanted, "rule")} to watch for`,
        ...Option.match(comparison, { onNone: () => [], onSome: describeDrift })
      ].join(", "),
      ...Option.toArray(Option.flatMapNullable(budget, ({ warning }) => warning)),
      ...Option.toArray(Option.map(error, ({ message }) => message)).filter((message) => message !== detail),
      Option.match(lastEvent, {
        onNone: () => "No event received since the start",
        onSome: (at) => `Last event received at ${at}`
      })
    ].join(". "),
    stream: {
      state,
      detail,
      since: Timestamp.fromMillis(since),
      ...spread(lastEvent, (at) => ({ last_event_at: at })),
      ...spread(lastError, ({ at, message }) => ({ last_error: { at: Timestamp.fromMillis(at), message } }))
    },
    ...spread(facts.owner, ({ server, epoch, since, isAlive }) => ({
      owner: { ...(facts.isOperator && { server }), epoch, since, alive: isAlive }
    })),
    rules: {
      wanted,
      ...spread(comparison, ({ at, missing, missingSince, orphaned, foreign, newer, ruleLimit }) => ({
        ...spread(ruleLimit, (limit) => ({ limit })),
        drift: {
          checked_at: at,
          missing,
          ...spread(missingSince, (since) => ({ missing_since: since })),
          orphaned,
          foreign,
          ...(newer > 0 && { newer })
        }
      })),
      ...spread(error, ({ at, message }) => ({ error: { at, message } }))
    },
    ...spread(
      Option.flatMap(comparison, ({ usage }) => usage),
      ({ at, used, limit }) => ({ usage: { used, limit, reported_at: Timestamp.fromMillis(at) } })
    ),
    ...spread(budget, (budget) => ({ budget })),
    coverage
  }
}

/** Whether the one of several servers that watched the platform has stopped. */
export const isOrphaned = (platform: Named, owner: Option.Option<Owner>): boolean =>
  platform.capabilities.isRemote && Option.exists(owner, ({ isAlive }) => !isAlive)

// ---- helpers ----

const streamNow = (platform: Named, { stream, sync, wanted, budget, owner }: Facts): StreamStatus => {
  if (stream.state === "off") return stream
  if (isOrphaned(platform, owner)) return { ...stream, state: "waiting", detail: OWNER_GONE }
  const ownedSince = Option.match(owner, { onNone: () => 0, onSome: ({ since }) => Date.parse(since) })
  const isOfOwner = ({ at }: { readonly at: Timestamp.Timestamp }) => Date.parse(at) >= ownedSince
  const comparison = Option.filter(sync.comparison, isOfOwner)
  const error = Option.filter(sync.error, isOfOwner)
  const connecting: StreamStatus = {
    ...stream,
    state: "connecting",
    detail: CONNECTING,
    since: Math.max(stream.since, ownedSince)
  }
  // A new owner has compared the rules before it opens the stream. Until then it has the state of before.
  const isNew = wanted > 0 && Option.isNone(comparison) && Option.isNone(error)
  if (isNew && stream.since < ownedSince) return connecting
  if (stream.state !== "idle") return stream
  // A stream without rules is never opened, so it cannot report a refusal or lost rules.
  const refusal = Option.filter(error, ({ isRefused }) => isRefused)
  if (Option.isSome(refusal)) return { ...stream, state: "refused", detail: refusal.value.message }
  const hasLostRules = Option.isSome(error) || Option.exists(comparison, ({ missing }) => missing > 0)
  if (wanted > 0) return hasLostRules ? { ...stream, state: "waiting", detail: RULES_LOST } : connecting
  return Option.exists(budget, ({ paused }) => paused > 0) ? { ...stream, detail: RULES_PAUSED } : stream
}

const CONNECTING = "The stream is connecting"

const RULES_PAUSED = "All rules are paused for the monthly budget"

const OWNER_GONE = "The server that watched the platform has stopped: another one takes over within seconds"

const RULES_LOST = "The platform has lost the rules: they are registered again as soon as it accepts them"

const describeDrift = ({ missing, orphaned, foreign, newer, ruleLimit, usage }: Comparison): ReadonlyArray<string> => [
  ...(missing === 0 ? [] : [`the platform does not accept ${counted(missing, "rule")} of them now`]),
  ...(orphaned === 0 ? [] : [`${counted(orphaned, "rule")} still to be removed there`]),
  ...(foreign === newer ? [] : [`${counted(foreign - newer, "rule")} registered there by someone else`]),
  ...(newer === 0 ? [] : [describeNewer(newer)]),
  ...Option.toArray(Option.map(ruleLimit, (limit) => `${limit} allowed`)),
  ...Option.toArray(
    Option.map(
      usage,
      ({ at, used, limit }) =>
        `${used} of ${limit} events of the billing period used, as reported at ${Timestamp.fromMillis(at)}`
    )
  )
]

const spread = <A, B extends object>(option: Option.Option<A>, use: (value: A) => B): B | Record<never, never> =>
  Option.match(option, { onNone: () => ({}), onSome: use })
