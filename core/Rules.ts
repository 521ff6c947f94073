/** The rule use cases. Every door calls this and nothing below it. */
import { Array as Arr, Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import {
  type ArgumentIssue,
  InvalidArgument,
  type PlatformNotConfigured,
  type PlatformRefused,
  type PlatformUnavailable,
  type RuleLimitReached,
  RuleNotFound,
  type StorageUnavailable
} from "./Errors.ts"
import { type AccountId, asRuleId, Ids, type RuleId } from "./Ids.ts"
import { type Platform, Platforms, type Registered } from "./Platform.ts"
import type { PlatformId } from "./PlatformId.ts"
import type { Rule, RuleDraft } from "./Rule.ts"
import { RuleStore, type StoredRegistration } from "./RuleStore.ts"
import type { Issue } from "./syntax/issue.ts"
import { translate } from "./syntax/translate.ts"
import { toWireTranslation } from "./syntax/wire.ts"
import * as Timestamp from "./Timestamp.ts"

export interface CreatedRule {
  readonly id: RuleId
  readonly platforms: ReadonlyMap<PlatformId, Registered>
  /** What may surprise in the filters, by platform. */
  readonly warnings: ReadonlyMap<PlatformId, ReadonlyArray<Issue>>
}

/** A step of create or delete that took longer than this was cut off by a crash. */
const SETTLE_AFTER = Duration.minutes(1)

export class Rules extends Context.Tag("core/Rules")<
  Rules,
  {
    /** Checks every filter before anything is stored or sent; on a refusal nothing stays behind. */
    readonly create: (
      account: AccountId,
      draft: RuleDraft
    ) => Effect.Effect<
      CreatedRule,
      | InvalidArgument
      | RuleLimitReached
      | PlatformNotConfigured
      | PlatformRefused
      | PlatformUnavailable
      | StorageUnavailable
    >
    /** Newest first. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<Rule>, StorageUnavailable>
    /** Deletes the rule and its matches. `id` may be any text: what is not an id of the account is not found. */
    readonly delete: (account: AccountId, id: string) => Effect.Effect<RuleId, RuleNotFound | StorageUnavailable>
    /**
     * Makes every platform watch its active rules again, and finishes or undoes what a crash left half done. For the
     * start of the service and now and then after it; harmless at any time. What a platform does not take now is
     * logged and left for the next time.
     */
    readonly settle: Effect.Effect<void, StorageUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Rules, never, RuleStore | Platforms | Ids> = Layer.effect(
    Rules,
    Effect.gen(function* () {
      const store = yield* RuleStore
      const platforms = yield* Platforms
      const ids = yield* Ids

      // Rules with the same text share one rule of the platform: whether it is still wanted must not change between
      // the question and the call that follows from the answer.
      const lock = yield* Effect.makeSemaphore(1)
      const exclusively = <A, E>(effect: Effect.Effect<A, E>) => lock.withPermits(1)(Effect.uninterruptible(effect))

      /** Of a pending registration it is not known whether the platform has it: registering once more tells its id. */
      const platformRuleIdOf = (registration: StoredRegistration, platform: Platform) =>
        Option.match(registration.platformRuleId, {
          onSome: Effect.succeedSome,
          onNone: () =>
            platform.register(registration.text).pipe(
              Effect.map(({ platformRuleId }) => Option.some(platformRuleId)),
              Effect.catchTag("PlatformRefused", () => Effect.succeedNone)
            )
        })

      const unregister = (registration: StoredRegistration) =>
        Effect.gen(function* () {
          if (yield* store.isShared(registration)) return
          const platform = yield* Effect.option(platforms.get(registration.platform))
          if (Option.isNone(platform)) return
          const platformRuleId = yield* platformRuleIdOf(registration, platform.value)
          if (Option.isSome(platformRuleId)) yield* platform.value.unregister(platformRuleId.value)
        })

      const finishRemoval = (id: RuleId) =>
        Effect.gen(function* () {
          yield* Effect.forEach(yield* store.registrations(id), unregister, { discard: true })
          yield* store.remove(id)
        })

      const register = (id: RuleId, filters: ReadonlyArray<Filter>) =>
        Effect.gen(function* () {
          const registered = new Map<PlatformId, Registered>()
          const takeBack = Effect.gen(function* () {
            for (const { platform, text } of filters) {
              const done = registered.get(platform.id)
              if (done === undefined || (yield* store.isShared({ ruleId: id, platform: platform.id, text }))) continue
              yield* platform.unregister(done.platformRuleId)
            }
            yield* store.remove(id)
          })
          const registerAll = Effect.forEach(
            filters,
            ({ platform, text }) => Effect.map(platform.register(text), (done) => registered.set(platform.id, done)),
            { discard: true }
          )
          // What cannot be taken back now stays pending, and `settle` takes it back.
          yield* Effect.tapError(registerAll, () => Effect.ignoreLogged(takeBack))
          yield* store.activate(id, registered, yield* Timestamp.now)
          return registered
        })

      const create = Effect.fn("Rules.create")(function* (account: AccountId, draft: RuleDraft) {
        const filters = yield* checkFilters(platforms, draft)
        const id = yield* ids.rule
        const rule = {
          id,
          accountId: account,
          name: draft.name,
          intent: draft.intent,
          createdAt: yield* Timestamp.now,
          filters: filters.map(({ platform, text }) => ({ platform: platform.id, text }))
        }
        const reserveAndRegister = Effect.zipRight(store.reserve(rule, limitsOf(filters)), register(id, filters))
        const warnings = new Map(filters.map(({ platform, warnings }) => [platform.id, warnings]))
        return { id, platforms: yield* exclusively(reserveAndRegister), warnings }
      })

      const remove = Effect.fn("Rules.delete")(function* (account: AccountId, text: string) {
        const id = asRuleId(text)
        const hideAndFinish = (rule: RuleId) =>
          Effect.gen(function* () {
            if (!(yield* store.hide(account, rule, yield* Timestamp.now))) {
              return yield* new RuleNotFound({ ruleId: text })
            }
            // The rule is gone for its owner from here on; a platform that is away now is told by `settle`.
            yield* Effect.catchTag(finishRemoval(rule), "PlatformUnavailable", (error) =>
              Effect.logWarning(`Rule "${rule}" will be removed later: ${error.message}`)
            )
            return rule
          })
        if (Option.isNone(id)) return yield* new RuleNotFound({ ruleId: text })
        return yield* exclusively(hideAndFinish(id.value))
      })

      const settleOne = (platform: Platform, registration: StoredRegistration, cutOff: Timestamp.Timestamp) =>
        Effect.gen(function* () {
          if (registration.state !== "active") {
            if (registration.since < cutOff) yield* finishRemoval(registration.ruleId)
            return
          }
          const registered = yield* platform.register(registration.text)
          if (registered.platformRuleId === Option.getOrNull(registration.platformRuleId)) return
          const now = yield* Timestamp.now
          yield* store.activate(registration.ruleId, new Map([[platform.id, registered]]), now)
        })

      const settlePlatform = (platform: Platform) =>
        Effect.gen(function* () {
          const oldest = DateTime.subtractDuration(yield* DateTime.now, SETTLE_AFTER)
          const cutOff = Timestamp.fromDate(DateTime.toDateUtc(oldest))
          for (const registration of yield* store.registrationsOn(platform.id)) {
            const later = (error: PlatformRefused | PlatformUnavailable) =>
              Effect.logWarning(`Rule "${registration.ruleId}" is not settled: ${error.message}`)
            yield* Effect.catchTags(settleOne(platform, registration, cutOff), {
              PlatformRefused: later,
              PlatformUnavailable: later
            })
          }
        })

      const settle = Effect.flatMap(platforms.all, (all) =>
        Effect.forEach(all, (platform) => exclusively(settlePlatform(platform)), { discard: true })
      )

      return Rules.of({ create, list: store.list, delete: remove, settle })
    })
  )
}

// ---- helpers ----

interface Filter {
  readonly platform: Platform
  readonly text: string
  readonly warnings: ReadonlyArray<Issue>
}

/** Every platform with its filter in canonical form, or all that is wrong with any of them. */
const checkFilters = (platforms: typeof Platforms.Service, draft: RuleDraft) =>
  Effect.gen(function* () {
    const filters: Array<Filter> = []
    const issues: Array<ArgumentIssue> = []
    for (const id of draft.platforms) {
      const platform = yield* platforms.get(id)
      const text = draft.overrides[id]
      if (text === undefined) {
        issues.push(missingFilter(id, draft))
        continue
      }
      const checked = platform.check(text)
      if (checked.rule === undefined) issues.push(...errorsOf(id, checked.issues))
      else filters.push({ platform, text: checked.rule.canonical, warnings: checked.issues })
    }
    for (const key of Object.keys(draft.overrides)) {
      if (!draft.platforms.some((id) => id === key)) {
        issues.push({ path: `overrides.${key}`, message: `Has no place: "platforms" does not name "${key}"` })
      }
    }
    return Arr.isNonEmptyArray(issues) ? yield* new InvalidArgument({ issues }) : filters
  })

const errorsOf = (platform: PlatformId, issues: ReadonlyArray<Issue>): ReadonlyArray<ArgumentIssue> =>
  issues
    .filter(({ severity }) => severity === "error")
    .map(({ severity: _, code: __, ...issue }) => ({ path: `overrides.${platform}`, ...issue }))

/** Where the other platform's filter can be carried over, the caller gets the translation and what it changes. */
const missingFilter = (id: PlatformId, draft: RuleDraft): ArgumentIssue => {
  const issue = { path: `overrides.${id}`, message: `Is missing: "platforms" names "${id}", so give its filter` }
  const other = draft.platforms.find((platform) => draft.overrides[platform] !== undefined)
  if (other === undefined) return issue
  const translation = translate({ platform: other, text: draft.overrides[other] ?? "" }, id)
  return translation.text === undefined ? issue : { ...issue, suggestion: toWireTranslation(translation) }
}

const limitsOf = (filters: ReadonlyArray<Filter>): ReadonlyMap<PlatformId, number> =>
  new Map(
    filters.flatMap(({ platform }) =>
      Option.toArray(platform.capabilities.rulesPerAccount).map((limit) => [platform.id, limit] as const)
    )
  )
