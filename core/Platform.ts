/** The port to one platform: its rule language, its rules, its live stream. */
import { Context, Effect, Layer, type Option, Schema, type Scope, type Stream } from "effect"
import { PlatformNotConfigured, type PlatformRefused, type PlatformUnavailable } from "./Errors.ts"
import { PLATFORM_IDS, PlatformId } from "./PlatformId.ts"
import type { Checked } from "./syntax/language.ts"

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

/** One event that met one or more rules of the platform. */
export interface Delivery {
  readonly platformPostId: string
  readonly payload: Record<string, unknown>
  readonly platformRuleIds: ReadonlyArray<string>
  /** Run once the matches of this delivery are durable. */
  readonly ack: Effect.Effect<void>
}

export interface Platform {
  readonly id: PlatformId
  readonly syntax: SyntaxHelp
  readonly capabilities: {
    /** How many rules one account may hold here. */
    readonly rulesPerAccount: Option.Option<number>
  }
  /** Reads a filter in the platform's language. Sends nothing. */
  readonly check: (text: string) => Checked
  /** Makes the platform watch for the text. Registering the same text again gives the same rule. */
  readonly register: (text: string) => Effect.Effect<Registered, PlatformRefused | PlatformUnavailable>
  /** Makes the platform forget the rule. Succeeds when it is already gone. */
  readonly unregister: (platformRuleId: string) => Effect.Effect<void, PlatformUnavailable>
  /** The live stream. Run it once: it ends only with its scope. */
  readonly deliveries: Stream.Stream<Delivery, PlatformUnavailable>
}

/** The platforms of this deployment. Providing an adapter's layer is what turns a platform on. */
export class Platforms extends Context.Tag("core/Platforms")<
  Platforms,
  {
    /** Until the scope closes. A second adapter for the same platform is a mistake in the wiring. */
    readonly register: (platform: Platform) => Effect.Effect<void, never, Scope.Scope>
    readonly get: (id: PlatformId) => Effect.Effect<Platform, PlatformNotConfigured>
    readonly all: Effect.Effect<ReadonlyArray<Platform>>
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

    const all = Effect.sync(() => PLATFORM_IDS.flatMap((id) => byId.get(id) ?? []))

    return Platforms.of({ register, get, all })
  })
}
