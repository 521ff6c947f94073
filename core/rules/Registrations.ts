/** Keeps the rules on the platforms in sync with the store. */

import { Clock, Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { isServedHere, Ownership, streamOf } from "../ownership/Ownership.ts"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { awaitActivation, settleRequests } from "./askOwner.ts"
import { PlatformLocks } from "./PlatformLocks.ts"
import { RuleChanges } from "./RuleChanges.ts"
import { RuleStore } from "./RuleStore.ts"
import { type Comparison, describeNewer, reconcilePlatform } from "./reconcilePlatform.ts"

/** The last successful comparison, and the error if a later one failed. */
export interface SyncStatus {
  readonly comparison: Option.Option<Comparison>
  readonly error: Option.Option<{
    readonly at: Timestamp.Timestamp
    readonly message: string
    /** The platform denies access. */
    readonly isRefused: boolean
  }>
}

export class Registrations extends Context.Tag("core/Registrations")<
  Registrations,
  {
    /**
     * Compares each platform with the store and fixes the difference: finishes or rolls back abandoned changes, registers
     * missing rules, removes orphans. Never touches foreign rules. Idempotent.
     */
    readonly reconcile: Effect.Effect<void>
    /**
     * `reconcile` for the platforms whose turn it is, if called every 20 seconds: each time for a remote platform with
     * few rules, so that lost rules are noticed soon; every two minutes for the others.
     */
    readonly reconcileDue: Effect.Effect<void>
    /** For the owner of a platform, as long as it is: settles what the servers ask for. */
    readonly settle: (platform: Platform) => Effect.Effect<never>
    /** After it, the platforms in this process hold every rule that any server had activated when it was called. */
    readonly catchUp: Effect.Effect<void, StoreUnavailable>
    readonly syncStatus: (platform: PlatformId) => Effect.Effect<SyncStatus>
    /** `reconcile` for one platform, at once. */
    readonly reconcileOne: (platform: Platform) => Effect.Effect<void>
    /** The same, as soon as 30 seconds have passed since the last time. */
    readonly recheck: (platform: PlatformId) => Effect.Effect<void>
    /** Runs while no other change to the platform runs in this process. An interrupted caller does not stop it. */
    readonly exclusively: <A, E>(platform: PlatformId, change: Effect.Effect<A, E>) => Effect.Effect<A, E>
    /** Waits until none of these rules of the platform is registered and not active yet. */
    readonly awaitIdle: (platform: Platform, platformRuleIds: ReadonlyArray<string>) => Effect.Effect<void>
  }
>() {
  static readonly layer: Layer.Layer<Registrations, never, RuleStore | Platforms | PlatformLocks> = Layer.effect(
    Registrations,
    Effect.gen(function* () {
      const store = yield* RuleStore
      const platforms = yield* Platforms
      const ownership = yield* Ownership
      const { requests } = ownership
      const locks = yield* PlatformLocks
      const statuses = new Map<PlatformId, SyncStatus>()
      const comparedAt = new Map<PlatformId, number>()
      /** Number of rules at the last comparison. */
      const sizes = new Map<PlatformId, number>()
      /** Platforms that wait for a comparison. */
      const waiting = new Set<PlatformId>()

      const reconcileNow = (platform: Platform) =>
        Effect.gen(function* () {
          const { comparison, rules, orphaned } = yield* reconcilePlatform(store, platform, ownership)
          sizes.set(platform.id, rules)
          const { newer } = comparison
          const known = Option.match(statuses.get(platform.id)?.comparison ?? Option.none(), {
            onNone: () => 0,
            onSome: (last) => last.newer
          })
          if (newer > known) yield* Effect.logWarning(`Platform "${platform.id}": ${describeNewer(newer)}`)
          statuses.set(platform.id, { comparison: Option.some(comparison), error: Option.none() })
          yield* orphaned
        })

      const reconcileAndReport = (platform: Platform) =>
        Effect.catchAll(locks.exclusively([platform.id], reconcileNow(platform)), ({ _tag, message }) =>
          Effect.gen(function* () {
            const last = statuses.get(platform.id) ?? neverCompared
            const isNew = !Option.exists(last.error, (error) => error.message === message)
            const error = { at: yield* Timestamp.now, message, isRefused: _tag === "PlatformNotReady" }
            statuses.set(platform.id, { ...last, error: Option.some(error) })
            if (isNew) yield* Effect.logWarning(`Cannot compare the rules on "${platform.id}": ${message}`)
          })
        )

      const reconcileOne = (platform: Platform) => {
        const work = Effect.zipRight(
          Effect.map(Clock.currentTimeMillis, (now) => comparedAt.set(platform.id, now)),
          reconcileAndReport(platform)
        )
        // Only its owner changes the rules of a remote platform.
        return platform.capabilities.isRemote ? Effect.asVoid(ownership.ifOwner(streamOf(platform.id), work)) : work
      }

      const settle = (platform: Platform) => {
        // Interruptible: a server that loses the platform must stop at once, and the next owner starts it again.
        const settleNow = locks.interruptibly(platform.id, settleRequests(requests, store, platform))
        return Effect.gen(function* () {
          const announcement = yield* requests.nextAnnouncement
          // Debug level: other services report that the store is down.
          yield* Effect.catchAll(settleNow, ({ cause }) => Effect.logDebug("Cannot read the requests", cause))
          yield* announcement
        }).pipe(Effect.forever)
      }

      const versions = new Map<PlatformId, number>()
      const catchUpWith = (platform: Platform) =>
        Effect.gen(function* () {
          const { id } = platform
          const activated = yield* requests.activatedSince(id, versions.get(id) ?? BEFORE_ALL)
          const last = activated.at(-1)
          if (last === undefined) return
          const texts = [...new Set(activated.map(({ text }) => text))]
          yield* locks.exclusively([id], platform.register(texts))
          versions.set(id, Math.max(last.version, versions.get(id) ?? BEFORE_ALL))
        }).pipe(Effect.catchTags({ PlatformNotReady: Effect.die, PlatformUnavailable: Effect.die }))

      const catchUp = Effect.gen(function* () {
        for (const platform of yield* platforms.all) {
          if (!platform.capabilities.isRemote) yield* catchUpWith(platform)
        }
      })

      const awaitIdle = (platform: Platform, unknown: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          yield* locks.interruptibly(platform.id, Effect.void)
          if (isServedHere(ownership, platform)) return
          yield* Effect.ignore(awaitActivation(requests, platform.id, new Set(unknown)))
        })

      const recheck = (id: PlatformId) =>
        Effect.gen(function* () {
          const platform = yield* Effect.option(platforms.get(id))
          if (Option.isNone(platform) || waiting.has(id)) return
          waiting.add(id)
          const early = (comparedAt.get(id) ?? 0) + RECHECK_AFTER_MILLIS - (yield* Clock.currentTimeMillis)
          yield* Effect.ensuring(
            Effect.sleep(Math.max(0, early)),
            Effect.sync(() => waiting.delete(id))
          )
          yield* reconcileOne(platform.value)
        })

      // Concurrent: a slow platform does not delay the others.
      const reconcileAll = (all: ReadonlyArray<Platform>) =>
        Effect.forEach(all, reconcileOne, { discard: true, concurrency: "unbounded" })
      const reconcile = Effect.flatMap(platforms.all, reconcileAll)
      const reconcileDue = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const isDue = ({ id, capabilities }: Platform) => {
          const isCheap = capabilities.isRemote && (sizes.get(id) ?? 0) <= MAX_CHEAP_RULES
          return isCheap || now - (comparedAt.get(id) ?? 0) >= SLOW_INTERVAL_MILLIS
        }
        yield* reconcileAll((yield* platforms.all).filter(isDue))
      })

      return Registrations.of({
        reconcile,
        reconcileDue,
        settle,
        catchUp,
        reconcileOne,
        recheck,
        syncStatus: (platform) => Effect.sync(() => statuses.get(platform) ?? neverCompared),
        exclusively: (platform, change) => locks.exclusively([platform], change),
        awaitIdle
      })
    })
  )

  /** With `RuleChanges`, under the same locks. */
  static readonly layerWithChanges: Layer.Layer<Registrations | RuleChanges, never, RuleStore | Platforms> =
    Layer.provide(Layer.merge(Registrations.layer, RuleChanges.layer), PlatformLocks.layer)
}

// ---- helpers ----

/** Less than any version. */
const BEFORE_ALL = -1

const RECHECK_AFTER_MILLIS = 30_000

/** A platform lists this many rules in one call. */
const MAX_CHEAP_RULES = 1_000

/** About two minutes: a little less, so that it falls due at the look before rather than after them. */
const SLOW_INTERVAL_MILLIS = 110_000

const neverCompared: SyncStatus = { comparison: Option.none(), error: Option.none() }
