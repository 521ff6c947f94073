/** Adds, replaces and removes rules: in the store, and on the platforms. A crash leaves what `reconcile` can finish. */
import { Context, Effect, Layer, Option } from "effect"
import { decisive } from "../idempotency/Idempotency.ts"
import type {
  PlatformLimitReached,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable,
  RuleLimitReached,
  RuleNotFound,
  RuleVersionChanged,
  StoreUnavailable
} from "../model/Errors.ts"
import { Failpoints } from "../model/Failpoints.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { isServedHere, Ownership } from "../ownership/Ownership.ts"
import { type Platform, type PlatformFailure, Platforms, type Registered } from "../platforms/Platform.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { askOwner, awaitRemoval } from "./askOwner.ts"
import { awaitEffect } from "./awaitEffect.ts"
import { PlatformLocks } from "./PlatformLocks.ts"
import { type NewRule, type RuleChange, RuleStore, type StoredRegistration } from "./RuleStore.ts"

export interface Filter {
  readonly platform: Platform
  readonly text: string
}

/** Without `candidate` it has no new filters, or they are registered already. */
export interface Replacement {
  readonly candidate?: { readonly rule: NewRule; readonly filters: ReadonlyArray<Filter> }
  readonly limits: ReadonlyMap<PlatformId, number>
  readonly change: Omit<RuleChange, "at">
  /** Runs once the change is made, before what it replaced is removed. */
  readonly andThen?: Effect.Effect<void, StoreUnavailable>
}

export type AddFailure =
  | RuleLimitReached
  | PlatformRefused
  | PlatformLimitReached
  | PlatformNotReady
  | PlatformUnavailable
  | StoreUnavailable

export class RuleChanges extends Context.Tag("core/RuleChanges")<
  RuleChanges,
  {
    /** Stores the rule and registers it on all platforms, or on none. Returns those on which it is not paused. */
    readonly add: (
      rule: NewRule,
      filters: ReadonlyArray<Filter>,
      limits: ReadonlyMap<PlatformId, number>
    ) => Effect.Effect<ReadonlyMap<PlatformId, Registered>, AddFailure>
    /**
     * Registers the new filters beside those that they replace, then replaces them: see `RuleStore.change`. On a failure
     * the rule stands as it was.
     */
    readonly replace: (
      account: AccountId,
      id: RuleId,
      replacement: Replacement
    ) => Effect.Effect<number, AddFailure | RuleNotFound | RuleVersionChanged>
    /** False if the account has no such rule. If a platform is down, `reconcile` removes the rule there later. */
    readonly remove: (account: AccountId, id: RuleId) => Effect.Effect<boolean, StoreUnavailable>
    /** Removes a candidate from the store and the platforms. */
    readonly removeCandidate: (id: RuleId) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<RuleChanges, never, RuleStore | Platforms | PlatformLocks> = Layer.effect(
    RuleChanges,
    Effect.gen(function* () {
      const store = yield* RuleStore
      const platforms = yield* Platforms
      const ownership = yield* Ownership
      const { isAlone, requests } = ownership
      const locks = yield* PlatformLocks
      const failpoints = yield* Failpoints

      const registerOne = (rule: NewRule, { platform, text }: Filter) =>
        isServedHere(ownership, platform)
          ? Effect.gen(function* () {
              const [outcome] = yield* locks.calling(platform.id, platform.register([text]))
              return yield* outcome ?? Effect.dieMessage(`No outcome from "${platform.id}"`)
            })
          : askOwner(requests, rule.id, platform.id)

      /** If it fails, the rule becomes an orphan, which `reconcile` removes. */
      const unregister = ({ ruleId, platform, text, platformRuleId }: PlatformRule) => {
        const later = (error: PlatformFailure) =>
          Effect.logWarning(`Cannot remove a rule from "${platform}" now, retrying later: ${error.message}`)
        const unregisterUnshared = Effect.gen(function* () {
          if (yield* store.isShared({ ruleId, platform, text })) return
          const found = yield* Effect.option(platforms.get(platform))
          if (Option.isNone(found)) return
          yield* Effect.catchTags(found.value.unregister([platformRuleId]), {
            PlatformNotReady: later,
            PlatformUnavailable: later
          })
        })
        return locks.calling(platform, unregisterUnshared)
      }

      /** The platforms that are served here no longer hold the rule. The owners of the others drop theirs. */
      const forget = (id: RuleId, here: ReadonlyArray<PlatformId>) =>
        isAlone
          ? store.remove(id)
          : Effect.gen(function* () {
              for (const platform of here) yield* requests.drop(id, platform)
              yield* awaitRemoval(requests, store, id)
            })

      /** `isDecisive`: the activation is the change that was asked for. */
      const addNow = (
        rule: NewRule,
        filters: ReadonlyArray<Filter>,
        limits: ReadonlyMap<PlatformId, number>,
        { isDecisive }: { readonly isDecisive: boolean }
      ) => {
        const registered = new Map<PlatformId, Registered>()
        const pausedOn = new Set(rule.filters.flatMap(({ platform, pause }) => (pause === undefined ? [] : [platform])))
        const wanted = filters.filter(({ platform }) => !pausedOn.has(platform.id))
        const registerAll = Effect.forEach(
          wanted,
          (filter) =>
            Effect.gen(function* () {
              registered.set(filter.platform.id, yield* registerOne(rule, filter))
              if (registered.size < wanted.length) yield* failpoints.hit("create.registered-first")
            }),
          { discard: true }
        )
        const rollback = Effect.gen(function* () {
          const here = filters.filter(({ platform }) => isServedHere(ownership, platform))
          for (const { platform, text } of here) {
            const result = registered.get(platform.id)
            if (result !== undefined) yield* unregister({ ruleId: rule.id, platform: platform.id, text, ...result })
          }
          yield* requests.abandon(rule.id)
          yield* forget(
            rule.id,
            here.map(({ platform }) => platform.id)
          )
        })
        return Effect.gen(function* () {
          yield* store.reserve(rule, limits)
          for (const { platform, pause } of rule.filters) {
            if (pause !== undefined && pause.by !== "account") yield* Metrics.gap(platform, pause.by)
          }
          yield* failpoints.hit("create.reserved")
          // If the rollback fails, the rule stays pending and `reconcile` rolls it back.
          yield* Effect.tapError(registerAll, () => Effect.ignoreLogged(rollback))
          yield* failpoints.hit("create.registered")
          if (rule.candidate === undefined) {
            yield* awaitEffect(store, rule.id, {
              platforms: wanted.map(({ platform }) => platform),
              from: rule.createdAt
            })
          }
          const activation = store.activate(rule.id, registered, yield* Timestamp.now)
          yield* isDecisive ? decisive(registered)(activation) : activation
          yield* failpoints.hit("create.activated")
          return registered
        })
      }

      const finishRemoval = (id: RuleId, registrations: ReadonlyArray<StoredRegistration>) =>
        Effect.gen(function* () {
          const elsewhere = (yield* platforms.all).filter((platform) => !isServedHere(ownership, platform))
          const here = registrations.filter((one) => !elsewhere.some(({ id }) => id === one.platform))
          const platformRules = here.flatMap((registration) =>
            Option.match(registration.platformRuleId, {
              onNone: () => [],
              onSome: (platformRuleId) => [{ ...registration, platformRuleId }]
            })
          )
          for (const [index, platformRule] of platformRules.entries()) {
            if (index === 1) yield* failpoints.hit("delete.unregistered-first")
            yield* unregister(platformRule)
          }
          yield* failpoints.hit("delete.unregistered")
          yield* forget(
            id,
            here.map(({ platform }) => platform)
          )
          yield* failpoints.hit("delete.removed")
        })

      /** Removes a candidate, in any state. */
      const discard = (id: RuleId) =>
        Effect.gen(function* () {
          const registrations = yield* store.registrations(id)
          if (registrations.length === 0) return
          yield* requests.abandon(id)
          yield* finishRemoval(id, registrations)
        })

      /** The registrations that were replaced have become those of the candidate. */
      const finishReplaced = (candidate: RuleId) =>
        Effect.gen(function* () {
          const replaced = yield* store.registrations(candidate)
          if (replaced.length > 0) yield* finishRemoval(candidate, replaced)
        })

      const add = (rule: NewRule, filters: ReadonlyArray<Filter>, limits: ReadonlyMap<PlatformId, number>) =>
        locks.changing(
          filters.map(({ platform }) => platform.id),
          addNow(rule, filters, limits, { isDecisive: true })
        )

      const replace = (
        account: AccountId,
        id: RuleId,
        { candidate, limits, change, andThen = Effect.void }: Replacement
      ) =>
        Effect.gen(function* () {
          const touched = [...(yield* store.registrations(id)), ...(yield* store.registrations(change.candidate))]
          const ids = new Set(touched.map(({ platform }) => platform))
          for (const { platform } of candidate?.filters ?? []) ids.add(platform.id)
          const work = Effect.gen(function* () {
            if (candidate !== undefined) {
              const registered = yield* addNow(candidate.rule, candidate.filters, limits, { isDecisive: false })
              const platforms = candidate.filters
                .map(({ platform }) => platform)
                .filter((one) => registered.has(one.id))
              yield* awaitEffect(store, id, { platforms })
            }
            // Its time is after the registration: until then the platforms held only the filters before.
            const at = yield* Timestamp.now
            const replacing = store.change(account, id, { ...change, at }).pipe(decisive(undefined))
            const version = yield* Effect.tapError(replacing, () =>
              candidate === undefined ? Effect.void : Effect.ignoreLogged(discard(candidate.rule.id))
            )
            yield* failpoints.hit("update.changed")
            // If this fails, `reconcile` finishes it.
            yield* Effect.ignoreLogged(Effect.zipRight(andThen, finishReplaced(change.candidate)))
            return version
          })
          return yield* locks.changing(ids, work)
        })

      const remove = (account: AccountId, id: RuleId) =>
        Effect.gen(function* () {
          const registrations = yield* store.registrations(id)
          const hideAndFinish = Effect.gen(function* () {
            const hiding = store.hide(account, id, yield* Timestamp.now)
            if (!(yield* decisive(true)(hiding))) return false
            yield* failpoints.hit("delete.hidden")
            for (const candidate of yield* store.candidatesOf(id)) yield* Effect.ignoreLogged(discard(candidate))
            // The rule is invisible from here on. If this fails, `reconcile` finishes it.
            yield* Effect.ignoreLogged(finishRemoval(id, registrations))
            return true
          })
          return yield* locks.changing(
            registrations.map(({ platform }) => platform),
            hideAndFinish
          )
        })

      const removeCandidate = (id: RuleId) =>
        Effect.flatMap(store.registrations(id), (registrations) =>
          locks.changing(
            registrations.map(({ platform }) => platform),
            discard(id)
          )
        )

      return RuleChanges.of({ add, replace, remove, removeCandidate })
    })
  )
}

// ---- helpers ----

interface PlatformRule {
  readonly ruleId: RuleId
  readonly platform: PlatformId
  readonly text: string
  readonly platformRuleId: string
}
