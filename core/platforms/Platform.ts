/** The port to one platform: its rule language, its rules, its live stream. */
import { Context, Effect, type Either, Layer, type Option, Schema, type Scope, type Stream } from "effect"
import {
  type PlatformLimitReached,
  PlatformNotConfigured,
  type PlatformNotReady,
  type PlatformRefused,
  type PlatformUnavailable
} from "../model/Errors.ts"
import { PlatformId } from "../model/PlatformId.ts"
import type { Language } from "../syntax/language.ts"

export const RuleType = Schema.Literal("premium", "regular").annotations({
  identifier: "RuleType",
  description: "premium: rules on this platform are limited. regular: they are not."
})

/** What `POST /platforms/syntax` answers for one platform. */
export const SyntaxHelp = Schema.Struct({
  platform: PlatformId,
  rule_type: RuleType,
  summary: Schema.String.annotations({ description: "The language in one or two sentences" }),
  syntax: Schema.String.annotations({ description: "The whole help, in Markdown" }),
  operators: Schema.Array(
    Schema.Struct({ name: Schema.String, description: Schema.String, example: Schema.String })
  ).annotations({ description: "Every operator, with an example that is a valid rule" }),
  examples: Schema.Array(Schema.Struct({ rule: Schema.String, description: Schema.String })).annotations({
    description: "Whole rules that are valid as they stand"
  }),
  limits: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "Limits of this platform by name; a limit that is absent does not exist"
  })
}).annotations({ identifier: "SyntaxHelp" })
export type SyntaxHelp = typeof SyntaxHelp.Type

/** A rule's place on a platform, as the platform knows it. */
export interface Registered {
  readonly platformRuleId: string
  /** The text the platform holds now; it may differ from the caller's in spelling, never in meaning. */
  readonly translatedValue: string
}

/** Why a platform does not take one text, whatever it does with others. */
export type RuleRefusal = PlatformRefused | PlatformLimitReached

/** Why a platform does nothing at all for now. */
export type PlatformFailure = PlatformNotReady | PlatformUnavailable

/** A rule that the platform holds, whoever made it. */
export interface UpstreamRule extends Registered {
  /** Made by this deployment. Those of others are never touched. */
  readonly isOurs: boolean
}

/** What the platform says that it holds for us. */
export interface Inventory {
  readonly rules: ReadonlyArray<UpstreamRule>
  /** How many rules it lets us hold, where it says so. */
  readonly ruleLimit: Option.Option<number>
  /** Events of the billing period, where it says so. */
  readonly usage: Option.Option<{ readonly used: number; readonly limit: number }>
}

/** One event that met one or more rules of the platform. */
export interface Delivery {
  readonly platformPostId: string
  readonly payload: Record<string, unknown>
  readonly platformRuleIds: ReadonlyArray<string>
  /** Where the stream is to go on once this delivery is durable; none when the platform cannot go back. */
  readonly cursor: Option.Option<string>
  /** When it came in, in milliseconds. */
  readonly receivedAt: number
  /** Run once the matches of this delivery are durable. */
  readonly ack: Effect.Effect<void>
}

/** Why a platform was not watched for a while. */
export const GapCause = Schema.Literal(
  "outage",
  "stall",
  "cap",
  "credit",
  "not_configured",
  "no_rules",
  "rules_dropped",
  "store_down",
  "process_down"
).annotations({
  identifier: "GapCause",
  description:
    "outage: the platform could not be reached. stall: the stream had gone silent. cap: a limit of the platform. credit: the account ran out of it. not_configured: the platform does not let this server in. no_rules: there was nothing to watch for. rules_dropped: the platform had lost rules, at most since they were last compared, and others were watched for. store_down: matches could not be stored. process_down: this server did not run."
})
export type GapCause = typeof GapCause.Type

/** What happens on a platform's stream, in its order. Times in milliseconds. */
export type Signal =
  | { readonly _tag: "Event"; readonly delivery: Delivery }
  /** It is watched again. What happened from `since` on, which may lie before now, comes or has come. */
  | { readonly _tag: "Watching"; readonly at: number; readonly since: number }
  /** It is not watched since then. */
  | { readonly _tag: "Blind"; readonly at: number; readonly cause: GapCause; readonly detail: string }

/**
 * idle: there is no rule to watch for. waiting: the stream broke and is opened again at a set time. refused: the
 * platform does not let us in, and only someone with the account can change that; it is asked again now and then.
 */
export const StreamState = Schema.Literal("idle", "connecting", "live", "waiting", "refused").annotations({
  identifier: "StreamState"
})
export type StreamState = typeof StreamState.Type

/** Times in milliseconds. */
export interface StreamStatus {
  readonly state: StreamState
  /** The state in words: why, and what comes next. */
  readonly detail: string
  readonly since: number
  readonly lastEventAt: Option.Option<number>
  readonly lastError: Option.Option<{ readonly at: number; readonly message: string }>
}

export interface Platform {
  readonly id: PlatformId
  readonly language: Language
  readonly syntax: SyntaxHelp
  readonly capabilities: {
    /** How many rules one account may hold here. */
    readonly rulesPerAccount: Option.Option<number>
    /** False: it runs in this process, on events that are handed in. */
    readonly isRemote: boolean
  }
  /** Asks the platform itself whether it takes the text. Nothing is registered. */
  readonly verify: (text: string) => Effect.Effect<Either.Either<void, RuleRefusal>, PlatformFailure>
  /**
   * Makes the platform watch for the texts, and answers in their order. Registering the same text again gives the same
   * rule. When it fails, some of them may be registered: `inventory` tells.
   */
  readonly register: (
    texts: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Registered, RuleRefusal>>, PlatformFailure>
  /** Makes the platform forget our rules. Those that are gone already, or not ours, are passed over. */
  readonly unregister: (platformRuleIds: ReadonlyArray<string>) => Effect.Effect<void, PlatformFailure>
  readonly inventory: Effect.Effect<Inventory, PlatformFailure>
  /** The live stream, from the cursor on as far as the platform can. Run it once: it ends only with its scope. */
  readonly watch: (from: Option.Option<string>) => Stream.Stream<Signal>
  readonly status: Effect.Effect<StreamStatus>
}

/** Made-up events for a first look. */
export interface DemoEvents {
  readonly perSecond: number
  /** The same seed and the same times, in milliseconds, give the same events. */
  readonly make: (seed: number) => (now: number) => unknown
  /** A filter that they match within seconds. */
  readonly filter: string
}

/** A platform that this deployment has: what it is, and how it runs. */
export interface Installed<R> {
  readonly language: Language
  /** How many rules one account may hold here. */
  readonly rulesPerAccount: Option.Option<number>
  /** The real service. None without credentials: the platform then runs in process. */
  readonly remote: Option.Option<Layer.Layer<never, never, R>>
  readonly demo: DemoEvents
}

/** The platforms of this deployment. Providing an adapter's layer is what turns a platform on. */
export class Platforms extends Context.Tag("core/Platforms")<
  Platforms,
  {
    /** Until the scope closes. A second adapter for the same platform is a mistake in the wiring. */
    readonly register: (platform: Platform) => Effect.Effect<void, never, Scope.Scope>
    readonly get: (id: PlatformId) => Effect.Effect<Platform, PlatformNotConfigured>
    /** In the order in which they were registered. */
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
