/** Keeps the platforms and the store in step: which rules are wanted, and which each platform holds. */
import { Clock, Context, DateTime, Duration, Effect, Either, Fiber, Layer, Option, Queue, Stream } from "effect"
import type {
  PlatformLimitReached,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable,
  RuleLimitReached,
  StorageUnavailable
} from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { Steps } from "../model/Steps.ts"
import * as Timestamp from "../model/Timestamp.ts"
import {
  type Inventory,
  type Platform,
  type PlatformFailure,
  Platforms,
  type Registered
} from "../platforms/Platform.ts"
import { type NewRule, RuleStore, type StoredRegistration } from "./RuleStore.ts"

/** A filter on its way to its platform. */
export interface Filter {
  readonly platform: Platform
  readonly text: string
}

/** What the last comparison of a platform with the store came to. */
export interface Comparison {
  readonly at: Timestamp.Timestamp
  /** Rules of the platform that should be there: it does not take them now. */
  readonly missing: number
  /** There, ours, wanted by nobody, and not removed yet. */
  readonly orphaned: number
  /** There, and not ours. */
  readonly foreign: number
  readonly ruleLimit: Inventory["ruleLimit"]
  readonly usage: Inventory["usage"]
}

/** The last comparison that worked, and why the one after it did not. */
export interface Standing {
  readonly comparison: Option.Option<Comparison>
  readonly error: Option.Option<{
    readonly at: Timestamp.Timestamp
    readonly message: string
    /** The platform does not let us in. */
    readonly isRefused: boolean
  }>
}

/** A time, in milliseconds, in which the platform may not have held all of its rules. */
export interface Dropped {
  readonly from: number
  readonly to: number
}

/** With other processes on the store, a step of create or delete that took longer than this was cut off by a crash. */
const CUT_OFF_AFTER = Duration.minutes(1)

export class Registrations extends Context.Tag("core/Registrations")<
  Registrations,
  {
    /** Stores the rule and registers it everywhere, or nowhere. */
    readonly add: (
      rule: NewRule,
      filters: ReadonlyArray<Filter>,
      limits: ReadonlyMap<PlatformId, number>
    ) => Effect.Effect<
      ReadonlyMap<PlatformId, Registered>,
      | RuleLimitReached
      | PlatformRefused
      | PlatformLimitReached
      | PlatformNotReady
      | PlatformUnavailable
      | StorageUnavailable
    >
    /** False when the account has no such rule. A platform that is away is told later. */
    readonly remove: (account: AccountId, id: RuleId) => Effect.Effect<boolean, StorageUnavailable>
    /**
     * Compares what is wanted with what every platform holds, and mends the difference: finishes or undoes what was cut
     * off, registers what the platform dropped, removes what nobody wants. Never touches what is not ours. For the start
     * of the service and now and then after it; harmless at any time.
     */
    readonly reconcile: Effect.Effect<void>
    readonly standing: (platform: PlatformId) => Effect.Effect<Standing>
    /** As `reconcile`, for a platform that seems to have lost its rules; not more than once in half a minute. */
    readonly recheck: (platform: PlatformId) => Effect.Effect<void>
    /** For whoever keeps the ledger of the platform, one at a time. */
    readonly drops: (platform: PlatformId) => Stream.Stream<Dropped>
    /** Waits until nothing is on its way to or from the platform in this process. */
    readonly settled: (platform: PlatformId) => Effect.Effect<void>
  }
>() {
  /** `isAlone`: no other process uses the store, so nothing is in the middle of its way unless it is so here. */
  static readonly layerWith = (options: {
    readonly isAlone: boolean
  }): Layer.Layer<Registrations, never, RuleStore | Platforms> =>
    Layer.scoped(
      Registrations,
      Effect.gen(function* () {
        const store = yield* RuleStore
        const platforms = yield* Platforms
        const steps = yield* Steps
        const scope = yield* Effect.scope
        const standings = new Map<PlatformId, Standing>()
        const triedAt = new Map<PlatformId, number>()
        const drops = new Map<PlatformId, Queue.Queue<Dropped>>()
        const dropsOf = (id: PlatformId) =>
          Effect.gen(function* () {
            const queue = drops.get(id) ?? (yield* Queue.sliding<Dropped>(MOST_DROPS))
            drops.set(id, queue)
            return queue
          })

        // Rules with the same text share one rule of the platform: whether it is still wanted must not change between
        // the question and the call that follows from the answer. Always taken in the same order.
        const locks = new Map<PlatformId, Effect.Semaphore>()
        const lockOf = (id: PlatformId) => {
          const lock = locks.get(id) ?? Effect.unsafeMakeSemaphore(1)
          locks.set(id, lock)
          return lock
        }

        /** One at a time on each of the platforms. A caller who leaves while it runs does not stop it. */
        const exclusively = <A, E>(ids: ReadonlySet<PlatformId>, effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
          const inFiber = Effect.flatMap(Effect.forkIn(Effect.interruptible(effect), scope), Fiber.join)
          return [...ids]
            .sort()
            .reduceRight((inner, id) => lockOf(id).withPermits(1)(inner), Effect.uninterruptible(inFiber))
        }

        /** What a platform does not forget now is an orphan there, which `reconcile` finds. */
        const unregister = ({ ruleId, platform, text, platformRuleId }: Place) =>
          Effect.gen(function* () {
            if (yield* store.isShared({ ruleId, platform, text })) return
            const found = yield* Effect.option(platforms.get(platform))
            if (Option.isNone(found)) return
            const later = (error: PlatformFailure) =>
              Effect.logWarning(`A rule on "${platform}" will be removed later: ${error.message}`)
            yield* Effect.catchTags(found.value.unregister([platformRuleId]), {
              PlatformNotReady: later,
              PlatformUnavailable: later
            })
          })

        const add = (rule: NewRule, filters: ReadonlyArray<Filter>, limits: ReadonlyMap<PlatformId, number>) => {
          const registered = new Map<PlatformId, Registered>()
          const registerAll = Effect.forEach(
            filters,
            ({ platform, text }) =>
              Effect.gen(function* () {
                const [outcome] = yield* platform.register([text])
                if (outcome === undefined) return yield* Effect.dieMessage(`"${platform.id}" gave no answer`)
                registered.set(platform.id, yield* outcome)
                if (registered.size < filters.length) yield* steps.reached("create.registered-first")
              }),
            { discard: true }
          )
          const takeBack = Effect.gen(function* () {
            for (const { platform, text } of filters) {
              const place = registered.get(platform.id)
              if (place !== undefined) yield* unregister({ ruleId: rule.id, platform: platform.id, text, ...place })
            }
            yield* store.remove(rule.id)
          })
          return Effect.gen(function* () {
            yield* store.reserve(rule, limits)
            yield* steps.reached("create.reserved")
            // What cannot be taken back now stays pending, and `reconcile` takes it back.
            yield* Effect.tapError(registerAll, () => Effect.ignoreLogged(takeBack))
            yield* steps.reached("create.registered")
            yield* store.activate(rule.id, registered, yield* Timestamp.now)
            yield* steps.reached("create.activated")
            return registered
          })
        }

        const finishRemoval = (id: RuleId, registrations: ReadonlyArray<StoredRegistration>) =>
          Effect.gen(function* () {
            const places = registrations.flatMap((registration) =>
              Option.match(registration.platformRuleId, {
                onNone: () => [],
                onSome: (platformRuleId) => [{ ...registration, platformRuleId }]
              })
            )
            for (const [index, place] of places.entries()) {
              if (index === 1) yield* steps.reached("delete.unregistered-first")
              yield* unregister(place)
            }
            yield* steps.reached("delete.unregistered")
            yield* store.remove(id)
            yield* steps.reached("delete.removed")
          })

        const remove = (account: AccountId, id: RuleId) =>
          Effect.gen(function* () {
            const registrations = yield* store.registrations(id)
            const hideAndFinish = Effect.gen(function* () {
              if (!(yield* store.hide(account, id, yield* Timestamp.now))) return false
              yield* steps.reached("delete.hidden")
              // Gone for its owner from here on; what the store does not take now, `reconcile` finishes.
              yield* Effect.ignoreLogged(finishRemoval(id, registrations))
              return true
            })
            return yield* exclusively(new Set(registrations.map(({ platform }) => platform)), hideAndFinish)
          })

        const removeOrphans = (platform: Platform, orphans: ReadonlyArray<Registered>) =>
          Effect.gen(function* () {
            if (orphans.length === 0) return 0
            yield* platform.unregister(orphans.map(({ platformRuleId }) => platformRuleId))
            yield* Effect.logInfo(`Removed ${count(orphans.length)} from "${platform.id}" that nobody wants any more`)
            return 0
          })

        const registerMissing = (platform: Platform, missing: ReadonlyArray<StoredRegistration>) =>
          Effect.gen(function* () {
            if (missing.length === 0) return 0
            const texts = [...new Set(missing.map(({ text }) => text))]
            const outcomes = yield* platform.register(texts)
            const byText = new Map(texts.map((text, index) => [text, outcomes[index]]))
            const now = yield* Timestamp.now
            let moved = 0
            let failed = 0
            for (const { ruleId, text, state, platformRuleId } of missing) {
              const outcome = byText.get(text)
              if (outcome === undefined) continue
              if (Either.isLeft(outcome)) {
                failed++
                yield* store.fail(ruleId, platform.id, outcome.left.message, now)
              } else if (state === "failed" || !Option.contains(platformRuleId, outcome.right.platformRuleId)) {
                moved++
                yield* store.activate(ruleId, new Map([[platform.id, outcome.right]]), now)
              }
            }
            if (moved > 0) {
              yield* Effect.logWarning(`Registered ${count(moved)} that "${platform.id}" did not hold`)
              const last = Option.fromNullable(standings.get(platform.id)).pipe(Option.flatMap((s) => s.comparison))
              const to = yield* Clock.currentTimeMillis
              if (Option.isSome(last))
                yield* (yield* dropsOf(platform.id)).offer({ from: Date.parse(last.value.at), to })
            }
            if (failed > 0) yield* Effect.logWarning(`"${platform.id}" does not take ${count(failed)} any more`)
            return failed
          })

        const compare = (platform: Platform) =>
          Effect.gen(function* () {
            // In this order: what is registered after the platform was asked is wanted by the time the store is.
            const inventory = yield* platform.inventory
            const oldest = DateTime.subtractDuration(yield* DateTime.now, CUT_OFF_AFTER)
            const before = Timestamp.fromDate(DateTime.toDateUtc(oldest))
            const registrations = yield* store.registrationsOn(platform.id)
            const isCutOff = ({ state, since }: StoredRegistration) =>
              isHidden(state) && (options.isAlone || since < before)
            for (const { ruleId } of registrations.filter(isCutOff)) yield* store.remove(ruleId)

            const { missing, orphans } = difference(
              inventory,
              registrations.filter((registration) => !isCutOff(registration))
            )
            // Orphans first: where rules are counted, they free the places that the missing ones need.
            const orphaned = yield* Effect.either(removeOrphans(platform, orphans))
            const failed = yield* registerMissing(platform, missing)
            const comparison: Comparison = {
              at: yield* Timestamp.now,
              missing: failed,
              orphaned: Either.getOrElse(orphaned, () => orphans.length),
              foreign: inventory.rules.filter(({ isOurs }) => !isOurs).length,
              ruleLimit: inventory.ruleLimit,
              usage: inventory.usage
            }
            standings.set(platform.id, { comparison: Option.some(comparison), error: Option.none() })
            yield* orphaned
          })

        const reconcileOne = (platform: Platform) =>
          Effect.zipRight(
            Effect.map(Clock.currentTimeMillis, (now) => triedAt.set(platform.id, now)),
            compareOrTell(platform)
          )

        const recheck = (id: PlatformId) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const platform = yield* Effect.option(platforms.get(id))
            if (Option.isNone(platform) || now - (triedAt.get(id) ?? 0) < RECHECK_AFTER_MILLIS) return
            yield* reconcileOne(platform.value)
          })

        const compareOrTell = (platform: Platform) =>
          Effect.catchAll(exclusively(new Set([platform.id]), compare(platform)), ({ _tag, message }) =>
            Effect.gen(function* () {
              const last = standings.get(platform.id) ?? NOTHING_YET
              const isNews = !Option.exists(last.error, (error) => error.message === message)
              const error = { at: yield* Timestamp.now, message, isRefused: _tag === "PlatformNotReady" }
              standings.set(platform.id, { ...last, error: Option.some(error) })
              if (isNews) yield* Effect.logWarning(`Rules on "${platform.id}" could not be compared: ${message}`)
            })
          )

        // A platform that takes its time does not hold up the others.
        const reconcile = Effect.flatMap(platforms.all, (all) =>
          Effect.forEach(all, reconcileOne, { discard: true, concurrency: "unbounded" })
        )

        return Registrations.of({
          add: (rule, filters, limits) =>
            exclusively(new Set(filters.map(({ platform }) => platform.id)), add(rule, filters, limits)),
          remove,
          reconcile,
          recheck,
          drops: (platform) => Stream.unwrap(Effect.map(dropsOf(platform), Stream.fromQueue)),
          standing: (platform) => Effect.sync(() => standings.get(platform) ?? NOTHING_YET),
          settled: (platform) => locks.get(platform)?.withPermits(1)(Effect.void) ?? Effect.void
        })
      })
    )
}

// ---- helpers ----

const RECHECK_AFTER_MILLIS = 30_000

const MOST_DROPS = 100

const count = (rules: number): string => `${rules} ${rules === 1 ? "rule" : "rules"}`

/** Where a rule is registered. */
interface Place {
  readonly ruleId: RuleId
  readonly platform: PlatformId
  readonly text: string
  readonly platformRuleId: string
}

const NOTHING_YET: Standing = { comparison: Option.none(), error: Option.none() }

const isHidden = (state: StoredRegistration["state"]) => state === "pending" || state === "removing"

/** What is to be registered and what is to be removed so that the platform holds what is wanted. */
const difference = (inventory: Inventory, registrations: ReadonlyArray<StoredRegistration>) => {
  const settled = registrations.filter(({ state }) => !isHidden(state))
  const byId = new Map(inventory.rules.map((rule) => [rule.platformRuleId, rule]))
  const heldFor = ({ platformRuleId, translatedValue }: StoredRegistration) => {
    const rule = Option.map(platformRuleId, (id) => byId.get(id)).pipe(Option.getOrUndefined)
    return rule?.isOurs === true && rule.translatedValue === translatedValue ? rule : undefined
  }
  const held = new Set(settled.flatMap((registration) => heldFor(registration)?.platformRuleId ?? []))
  const missing = settled.filter((registration) => heldFor(registration) === undefined)
  // By its text too: someone may be about to be told that it is his, and registering it again finds it.
  const texts = new Set([...missing, ...registrations.filter(({ state }) => state === "pending")].map((r) => r.text))
  const orphans = inventory.rules.filter(
    (rule) => rule.isOurs && !held.has(rule.platformRuleId) && !texts.has(rule.translatedValue)
  )
  return { missing, orphans }
}
