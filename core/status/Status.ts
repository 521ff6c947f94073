/** The status use cases: readiness, the status of each platform, and the platform gauges. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { PostBudget } from "../budget/PostBudget.ts"
import { platformCoverage, snapshotOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { KeyStore } from "../keys/KeyStore.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { Registrations } from "../rules/Registrations.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { type PlatformStatus, statusOf } from "./PlatformStatus.ts"

export interface Readiness {
  readonly ready: boolean
  readonly store: "ok" | "unavailable"
  readonly platforms: ReadonlyArray<PlatformId>
}

export class Status extends Context.Tag("core/Status")<
  Status,
  {
    /** Ready if the store responds within two seconds. */
    readonly readiness: Effect.Effect<Readiness>
    /** In the order in which the platforms were registered. `viewer`: none for the operator, who sees all accounts. */
    readonly platforms: (
      viewer: Option.Option<AccountId>
    ) => Effect.Effect<ReadonlyArray<PlatformStatus>, StoreUnavailable>
    /** While the store is down, the gauges that depend on it keep their last value. */
    readonly updateGauges: Effect.Effect<void>
  }
>() {
  static readonly layer: Layer.Layer<
    Status,
    never,
    Platforms | Registrations | RuleStore | StreamStore | KeyStore | PostBudget
  > = Layer.effect(
    Status,
    Effect.gen(function* () {
      const registry = yield* Platforms
      const registrations = yield* Registrations
      const rules = yield* RuleStore
      const streams = yield* StreamStore
      const keys = yield* KeyStore
      const budget = yield* PostBudget

      const readiness = Effect.gen(function* () {
        // The same read as in every request. No key has this digest.
        const ready = yield* keys.findByDigest("readiness", NEVER).pipe(Effect.timeout(STORE_TIMEOUT), Effect.isSuccess)
        const platforms = (yield* registry.all).map(({ id }) => id)
        return { ready, store: ready ? ("ok" as const) : ("unavailable" as const), platforms }
      })

      const statusAt = (platform: Platform, viewer: Option.Option<AccountId>, now: number) =>
        Effect.gen(function* () {
          const sync = yield* registrations.syncStatus(platform.id)
          const snapshot = yield* snapshotOf(streams, platform.id)
          return statusOf(platform, {
            stream: yield* platform.status,
            sync,
            wanted: yield* rules.wanted(platform.id),
            coverage: platformCoverage(platform.id, snapshot, { from: Option.some(now - DAY_MILLIS), to: now }),
            budget: yield* budget.usage(platform, viewer)
          })
        })

      const platforms = (viewer: Option.Option<AccountId>) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          return yield* Effect.forEach(yield* registry.all, (platform) => statusAt(platform, viewer, now))
        })

      const updateGaugesOf = (platform: Platform) =>
        Effect.gen(function* () {
          const { id, status } = platform
          yield* Metrics.setStreamState(id, (yield* status).state)
          const { comparison } = yield* registrations.syncStatus(id)
          if (Option.isSome(comparison)) yield* Metrics.setRuleCounts(id, comparison.value)
          const wanted = yield* Effect.option(Effect.timeout(rules.wanted(id), STORE_TIMEOUT))
          if (Option.isSome(wanted)) yield* Metrics.setRuleCounts(id, { wanted: wanted.value })
          const used = yield* Effect.option(Effect.timeout(budget.usage(platform, Option.none()), STORE_TIMEOUT))
          if (Option.isSome(used) && Option.isSome(used.value)) yield* Metrics.setBudget(id, used.value.value)
        })

      const updateGauges = Effect.flatMap(registry.all, (all) =>
        Effect.forEach(all, updateGaugesOf, { discard: true, concurrency: "unbounded" })
      )

      return Status.of({ readiness, platforms, updateGauges })
    })
  )
}

// ---- helpers ----

const DAY_MILLIS = 86_400_000

const NEVER = Timestamp.fromMillis(0)

const STORE_TIMEOUT = "2 seconds"
