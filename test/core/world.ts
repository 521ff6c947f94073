/** The rule use cases on fake platforms that a test controls. */

import { it } from "@effect/vitest"
import { Context, Effect, Either, Layer, Option, Stream } from "effect"
import { Entropy } from "../../core/model/Entropy.ts"
import { PlatformLimitReached, PlatformRefused, PlatformUnavailable } from "../../core/model/Errors.ts"
import { fromUuid, Ids } from "../../core/model/Ids.ts"
import { type Platform, Platforms, type UpstreamRule } from "../../core/platforms/Platform.ts"
import { Pauses } from "../../core/rules/Pauses.ts"
import { Registrations } from "../../core/rules/Registrations.ts"
import type { RuleDraft } from "../../core/rules/Rule.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { Rules } from "../../core/rules/Rules.ts"
import { languageOf, type PlatformId } from "../../fixtures/languages.ts"
import { oneOfSeveral } from "../ownership.ts"
import { quotas } from "../quotas.ts"
import { memoryRules } from "../stores/memoryRules.ts"

export const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
export const bob = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

export class FakePlatform {
  state: "up" | "refused" | "away" = "up"
  /** Maximum number of rules. */
  limit = Number.POSITIVE_INFINITY
  /** Number of register calls. */
  calls = 0
  /** Register calls wait for it. */
  isReady: Effect.Effect<void> = Effect.void
  /** By platform rule id. */
  readonly held = new Map<string, UpstreamRule>()
  private lastId = 0
  readonly platform: Platform

  constructor(id: PlatformId, rulesPerAccount: Option.Option<number>) {
    const unavailable = new PlatformUnavailable({ platform: id, reason: "away" })
    // Yields like a real platform, so that other fibers can interleave.
    const ifUp = <A>(use: () => A) =>
      Effect.suspend(() => (this.state === "away" ? unavailable : Effect.map(Effect.yieldNow(), use)))
    this.platform = {
      id,
      language: languageOf(id),
      syntax: { platform: id, rule_type: "regular", summary: "", syntax: "", operators: [], examples: [], limits: {} },
      capabilities: { rulesPerAccount, isRemote: true, sendsAlive: false },
      verify: () =>
        ifUp(() => (this.state === "refused" ? Either.left(this.refusal) : Either.right("confirmed" as const))),
      register: (texts) => {
        this.calls++
        return Effect.zipRight(
          this.isReady,
          ifUp(() => texts.map((text) => this.register(id, text)))
        )
      },
      unregister: (ids) =>
        ifUp(() => {
          for (const ruleId of ids) if (this.held.get(ruleId)?.isOurs === true) this.held.delete(ruleId)
        }),
      inventory: ifUp(() => ({ rules: [...this.held.values()], ruleLimit: Option.none(), usage: Option.none() })),
      watch: () => Stream.never,
      status: Effect.succeed({
        state: "live",
        detail: "",
        since: 0,
        lastEventAt: Option.none(),
        lastError: Option.none()
      })
    }
  }

  private get refusal(): PlatformRefused {
    return new PlatformRefused({ platform: this.platform.id, reason: "no", upstream: {} })
  }

  get texts(): ReadonlyArray<string> {
    return [...this.held.values()].map(({ translatedValue }) => translatedValue)
  }

  idOf(text: string): string | undefined {
    return [...this.held.values()].find(({ translatedValue }) => translatedValue === text)?.platformRuleId
  }

  /** Adds a rule without a register call. */
  put(text: string, isOurs: boolean): string {
    const platformRuleId = `${this.platform.id}-${++this.lastId}`
    this.held.set(platformRuleId, { platformRuleId, translatedValue: text, isOurs })
    return platformRuleId
  }

  private register(id: PlatformId, text: string) {
    if (this.state === "refused") return Either.left(this.refusal)
    const existing = this.idOf(text)
    if (existing === undefined && this.held.size >= this.limit) {
      return Either.left(new PlatformLimitReached({ platform: id, reason: "full", upstream: {} }))
    }
    return Either.right({ platformRuleId: existing ?? this.put(text, true), translatedValue: text })
  }
}

export interface World {
  readonly rules: typeof Rules.Service
  readonly registrations: typeof Registrations.Service
  readonly store: typeof RuleStore.Service
  readonly x: FakePlatform
  readonly firehose: FakePlatform
}

export class Fakes extends Context.Tag("test/Fakes")<Fakes, Pick<World, "x" | "firehose">>() {}

export const fakes = Layer.scoped(
  Fakes,
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const x = new FakePlatform("x", Option.some(2))
    const firehose = new FakePlatform("firehose", Option.none())
    yield* platforms.register(x.platform)
    yield* platforms.register(firehose.platform)
    return { x, firehose }
  })
)

const layerWith = (isAlone: boolean) =>
  Rules.layer.pipe(
    Layer.provide(Layer.succeed(Pauses, { pauseFor: () => Effect.succeedNone })),
    Layer.provideMerge(Registrations.layerWithChanges),
    Layer.provide(isAlone ? Layer.empty : oneOfSeveral),
    Layer.provideMerge(quotas()),
    Layer.provideMerge(fakes),
    Layer.provideMerge(Layer.merge(Platforms.layer, memoryRules)),
    Layer.provide(Ids.layer),
    Layer.provide(Entropy.layerCounting)
  )

/** Each test has its own stores and platforms. `isAlone`: no other process uses them. */
export function test(
  title: string,
  body: (world: World) => Effect.Effect<void, unknown>,
  { isAlone = true }: { readonly isAlone?: boolean } = {}
): void {
  it.effect(title, () =>
    Effect.gen(function* () {
      const registrations = yield* Registrations
      yield* body({ ...(yield* Fakes), rules: yield* Rules, registrations, store: yield* RuleStore })
    }).pipe(Effect.provide(layerWith(isAlone)))
  )
}

export function on(platform: PlatformId, text: string): RuleDraft {
  return { name: "n", intent: "i", platforms: [platform], overrides: { [platform]: text } }
}

export function both(text: string): RuleDraft {
  return { name: "n", intent: "i", platforms: ["x", "firehose"], overrides: { x: text, firehose: text } }
}
