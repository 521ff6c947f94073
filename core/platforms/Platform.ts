/** The port to one platform: language, rules and live stream. Also the registry of platforms. */
import { Context, Effect, type Either, Layer, type Option, Schema, type Scope, type Stream } from "effect"
import type { Language } from "../languages/Language.ts"
import {
  type PlatformLimitReached,
  PlatformNotConfigured,
  type PlatformNotReady,
  type PlatformRefused,
  type PlatformUnavailable
} from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import { PlatformId } from "../model/PlatformId.ts"

export const RuleType = Schema.Literal("premium", "regular").annotations({
  identifier: "RuleType",
  description: "premium: the number of rules per account is limited. regular: it is not."
})

/** The response of `POST /platforms/syntax` for one platform. */
export const SyntaxHelp = Schema.Struct({
  platform: PlatformId,
  rule_type: RuleType,
  summary: Schema.String.annotations({ description: "The language in one or two sentences" }),
  syntax: Schema.String.annotations({ description: "The full reference in Markdown" }),
  operators: Schema.Array(
    Schema.Struct({ name: Schema.String, description: Schema.String, example: Schema.String })
  ).annotations({ description: "Every operator, with an example that is a valid filter" }),
  examples: Schema.Array(Schema.Struct({ rule: Schema.String, description: Schema.String })).annotations({
    description: "Complete, valid filters"
  }),
  limits: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "Limits of this platform by name. An absent limit does not exist"
  })
}).annotations({ identifier: "SyntaxHelp" })
export type SyntaxHelp = typeof SyntaxHelp.Type

/** A rule that is registered on a platform. */
export interface Registered {
  readonly platformRuleId: string
  /** The text on the platform. Equivalent to the caller's text, but maybe spelled differently. */
  readonly translatedValue: string
}

/** The platform rejects one text. Others may be accepted. */
export type RuleRefusal = PlatformRefused | PlatformLimitReached

/**
 * confirmed: the platform's service accepts the text. presumed: no service has said so, and nothing speaks against it.
 * unasked: this server does not call the service.
 */
export type Acceptance = "confirmed" | "presumed" | "unasked"

/** The platform rejects every call for now. */
export type PlatformFailure = PlatformNotReady | PlatformUnavailable

export interface UpstreamRule extends Registered {
  /** Created by this deployment. Foreign rules are never changed. */
  readonly isOurs: boolean
  /** Foreign, but made by a server on a copy of this store: the store does not know of it. */
  readonly isNewer?: boolean
}

/** The rules, limit and usage that the platform reports. */
export interface Inventory {
  readonly rules: ReadonlyArray<UpstreamRule>
  readonly ruleLimit: Option.Option<number>
  /**
   * Events of the billing period, as reported at `at`. `month`: of the calendar month in UTC that begins at `start`.
   * Times are in milliseconds.
   */
  readonly usage: Option.Option<{
    readonly at: number
    readonly used: number
    readonly limit: number
    readonly month?: { readonly start: number; readonly used: number }
  }>
}

/** In milliseconds. */
export interface Period {
  readonly from: number
  readonly to: number
}

/** Events that the platform counted, which it need not have delivered. */
export interface RecentCount extends Period {
  readonly total: number
  /** Operators that the platform cannot count by. They were left out, so `total` is an upper bound. */
  readonly without: ReadonlyArray<string>
  /** Another reason why the stream may deliver more or less. */
  readonly note?: string
  /** The parts of the period with their counts. */
  readonly parts: ReadonlyArray<Period & { readonly total: number }>
}

/** An event that matched at least one rule of the platform. */
export interface Delivery {
  readonly platformPostId: string
  readonly payload: Record<string, unknown>
  /** Set if the payload is not what the platform sent: the event becomes a dead letter, with its text. */
  readonly damaged?: { readonly reason: string; readonly text: string }
  readonly platformRuleIds: ReadonlyArray<string>
  /** The platform's id of the account that made the post. Absent if the platform withdraws nothing in its stream. */
  readonly author?: string
  /** The account that sent the event: only its rules match. Absent for an event that all accounts share. */
  readonly sender?: AccountId
  /** Resume position once this delivery is durable. None if the platform cannot replay. */
  readonly cursor: Option.Option<string>
  /** In milliseconds. */
  readonly receivedAt: number
  /** False: it does not show that the stream was watched until then. Only `Alive` does. */
  readonly isSignOfLife?: false
  /** Runs once the matches of this delivery are durable. */
  readonly ack: Effect.Effect<void>
}

/** Why a platform, or one rule on it, was not watched for a while. */
export const GapCause = Schema.Literal(
  "outage",
  "stall",
  "cap",
  "credit",
  "not_configured",
  "no_rules",
  "store_down",
  "process_down",
  "unreadable",
  "rule_pending",
  "rule_failed",
  "rules_dropped",
  "budget",
  "matching",
  "paused",
  "upstream_off"
).annotations({
  identifier: "GapCause",
  description:
    "outage: the platform was unreachable. stall: the stream was open but silent. cap: a usage or rate limit of the platform was reached. credit: the platform account had no credit left. not_configured: the platform denied access to this server. no_rules: there were no rules to watch for. store_down: matches could not be stored. process_down: this server was not running. unreadable: the platform sent something that cannot be read. Of one rule: rule_pending: the platform did not hold the rule yet, or had accepted it but may not have applied it yet. rule_failed: the platform rejected the rule. rules_dropped: the platform had lost the rule, at the earliest since the last comparison. budget: the rule was paused because the monthly budget was nearly used up; also of the platform, if all rules were. matching: the rule was paused because the rules of the account cost more to match than its limit allows. paused: the account paused the rule. Of the platform: upstream_off: the server was told to leave the platform alone."
})
export type GapCause = typeof GapCause.Type

/** A signal of a platform's stream, in order. Times are in milliseconds. */
export type Signal =
  | { readonly _tag: "Event"; readonly delivery: Delivery }
  /**
   * The stream showed at `at` that it is open. Everything before was delivered. `cursor`: see `Delivery`. `ack` runs once
   * everything before is durable.
   */
  | {
      readonly _tag: "Alive"
      readonly at: number
      readonly cursor?: Option.Option<string>
      readonly ack?: Effect.Effect<void>
    }
  /**
   * The platform is watched. If `since` is before `at`, it replays the events since then, until `CaughtUp`. `askedSince`:
   * it was asked for the events since then, without guarantee; `Replayed` follows if there is evidence.
   */
  | { readonly _tag: "Watching"; readonly at: number; readonly since: number; readonly askedSince?: number }
  /** All events that the platform replays were delivered. */
  | { readonly _tag: "CaughtUp"; readonly at: number }
  /** There is evidence that the events of this period were replayed. */
  | ({ readonly _tag: "Replayed" } & Period)
  /** The platform is not watched from `at` on: the last time that the stream showed to be open. */
  | { readonly _tag: "GapStarted"; readonly at: number; readonly cause: GapCause; readonly detail: string }
  /** An event of this period was missed or could not be read. */
  | ({ readonly _tag: "Lost"; readonly cause: "unreadable" | "stall"; readonly detail: string } & Period)
  /** Events of this period may be missing, without proof. */
  | ({ readonly _tag: "Suspected"; readonly detail: string } & Period)
  /**
   * A post, or all posts of an account until a time in milliseconds, may no longer be shown. Cursors of earlier events
   * must lie before it: it comes again until it is obeyed.
   */
  | {
      readonly _tag: "Withdrawn"
      readonly reason: "deleted" | "withheld"
      readonly what: { readonly postId: string } | { readonly author: string; readonly until: number }
    }

/**
 * idle: there are no rules to watch for. waiting: the stream broke and a reconnect is scheduled. refused: the platform
 * denies access until the operator fixes the account; the connection is retried at long intervals. off: the operator told
 * the server to leave the platform alone.
 */
export const StreamState = Schema.Literal("idle", "connecting", "live", "waiting", "refused", "off").annotations({
  identifier: "StreamState"
})
export type StreamState = typeof StreamState.Type

/** Times are in milliseconds. */
export interface StreamStatus {
  readonly state: StreamState
  /** The reason for the state and the next step, for people. */
  readonly detail: string
  readonly since: number
  readonly lastEventAt: Option.Option<number>
  readonly lastError: Option.Option<{ readonly at: number; readonly message: string }>
}

/** What became of a post. withheld: the platform no longer shows it, or not everywhere. edited: a newer version exists. */
export type PostState = "present" | "deleted" | "withheld" | "edited"

export interface PostLookUp {
  /** Between two looks at the same post. */
  readonly intervalMillis: number
  /** The maximum number of posts per call. */
  readonly batch: number
  /** Leaves out posts about which the platform says nothing. */
  readonly ask: (postIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, PostState>, PlatformFailure>
}

/** What matching shared events against one text has cost. */
export interface MatchingCost {
  readonly platformRuleId: string
  readonly text: string
  readonly seconds: number
}

export interface Platform {
  readonly id: PlatformId
  /** Its limits, and those in `syntax`, may change: they depend on the plan that the platform reports. */
  readonly language: Language
  readonly syntax: SyntaxHelp
  readonly capabilities: {
    readonly rulesPerAccount: Option.Option<number>
    /** False: it runs in this process, on published events. */
    readonly isRemote: boolean
    /** A service that sends everything: its recent events are not only those that match some rule. */
    readonly keepsAllEvents?: boolean
    /** The origin of the service that is asked in place of the platform's own, such as a simulator. Absent: its own. */
    readonly address?: string
    /** The stream sends `Alive` signals. Otherwise it counts as open until a gap starts. */
    readonly sendsAlive: boolean
    /** A rule that was lost gets the same id again: only `inventory` shows that it has missed events. Absent: a new one. */
    readonly keepsIds?: boolean
    /** How long a rule that the platform has accepted may take to take effect. Absent: none. */
    readonly ruleDelayMillis?: number
    /** The server makes up events for it. Absent: it does not. */
    readonly hasDemoFeed?: boolean
    /** In US dollars. Absent: events cost nothing. */
    readonly pricePerEvent?: number
    /** Events per calendar month in UTC. Absent or 0: no limit. */
    readonly monthlyBudget?: number
  }
  /** Asks the platform whether it accepts the text. Nothing is registered. One in process reads the text itself. */
  readonly verify: (text: string) => Effect.Effect<Either.Either<Acceptance, RuleRefusal>, PlatformFailure>
  /**
   * Results in the order of the texts. Idempotent. After a failure some texts may be registered: see `inventory`.
   * `PlatformUnavailable`: this text cannot be registered now, others can.
   */
  readonly register: (
    texts: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Registered, RuleRefusal | PlatformUnavailable>>, PlatformFailure>
  /** Idempotent. Skips foreign rules. */
  readonly unregister: (platformRuleIds: ReadonlyArray<string>) => Effect.Effect<void, PlatformFailure>
  readonly inventory: Effect.Effect<Inventory, PlatformFailure>
  /** The live stream. Resumes at the cursor if the platform can replay. Run it once: it ends only with its scope. */
  readonly watch: (from: Option.Option<string>) => Stream.Stream<Signal>
  readonly status: Effect.Effect<StreamStatus>
  /** What matching shared events has cost since the last call. Absent: this process does not match the events. */
  readonly drainCosts?: Effect.Effect<ReadonlyArray<MatchingCost>>
  /** The account's plan, if `language` depends on it. Several servers tell each other what the platform said of it. */
  readonly plan?: { readonly current: () => string; readonly adopt: (plan: string) => void }
  /**
   * Counts recent events that match the text: of a period, or as far back as the platform counts.
   * Fails with a refusal if the platform cannot count this text. Absent: the platform does not count.
   */
  readonly countRecent?: (text: string, period?: Period) => Effect.Effect<RecentCount, PlatformFailure | RuleRefusal>
  /** Absent if the platform cannot look up posts, or if the operator has not turned it on. */
  readonly lookUp?: PostLookUp
}

/** Made-up events for a first look. */
export interface DemoEvents {
  readonly perSecond: number
  /** The same seed and the same times, in milliseconds, give the same events. */
  readonly make: (seed: number) => (now: number) => unknown
  /** A filter that they match within seconds. */
  readonly filter: string
}

/** off: leaves the real platforms alone. takeover: also removes rules there that were made from a copy of the store. */
export type UpstreamMode = "on" | "off" | "takeover"

/** A platform that this deployment has: what it is, and how it runs. */
export interface Installed<R> {
  readonly language: Language
  readonly rulesPerAccount: Option.Option<number>
  /** Connects to the service at `baseUrl`. None without credentials: the platform then runs in process. */
  readonly remote: Option.Option<{ readonly baseUrl: string; readonly layer: Layer.Layer<never, never, R> }>
  readonly demo: DemoEvents
}

/** The registry of platforms. Providing an adapter's layer enables its platform. */
export class Platforms extends Context.Tag("core/Platforms")<
  Platforms,
  {
    /** Until the scope closes. A second platform with the same id is a defect. */
    readonly register: (platform: Platform) => Effect.Effect<void, never, Scope.Scope>
    readonly get: (id: PlatformId) => Effect.Effect<Platform, PlatformNotConfigured>
    /** In order of registration. */
    readonly all: Effect.Effect<ReadonlyArray<Platform>>
    readonly ids: Effect.Effect<ReadonlyArray<PlatformId>>
  }
>() {
  static readonly layer: Layer.Layer<Platforms> = Layer.sync(Platforms, () => {
    const byId = new Map<PlatformId, Platform>()

    const register = (platform: Platform) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          if (byId.has(platform.id)) {
            return Effect.dieMessage(`Platform "${platform.id}" is registered twice`)
          }
          byId.set(platform.id, platform)
          return Effect.void
        }),
        () => Effect.sync(() => byId.delete(platform.id))
      )

    const get = (id: PlatformId) =>
      Effect.suspend(() => {
        const platform = byId.get(id)
        return platform === undefined ? new PlatformNotConfigured({ platform: id }) : Effect.succeed(platform)
      })

    const all = Effect.sync(() => [...byId.values()])
    const ids = Effect.sync(() => [...byId.keys()])

    return Platforms.of({ register, get, all, ids })
  })
}
