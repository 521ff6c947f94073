/** The port to where rules are kept, and a layer of it in memory. */
import { Context, Effect, Layer, Option } from "effect"
import { RuleLimitReached, type StorageUnavailable } from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { Registered } from "../platforms/Platform.ts"
import type { RegistrationState, Rule } from "./Rule.ts"

/** A rule on its way in: nothing of it is registered yet. */
export interface NewRule {
  readonly id: RuleId
  readonly accountId: AccountId
  readonly name: string
  readonly intent: string
  readonly createdAt: Timestamp
  readonly filters: ReadonlyArray<{ readonly platform: PlatformId; readonly text: string }>
}

/** One rule's place on one platform, whoever owns the rule. */
export interface StoredRegistration {
  readonly ruleId: RuleId
  readonly platform: PlatformId
  /** In canonical form: two registrations with the same text share one rule of the platform. */
  readonly text: string
  readonly platformRuleId: Option.Option<string>
  /** As the platform told it. */
  readonly translatedValue: string
  readonly state: RegistrationState
  /** When it came into this state. */
  readonly since: Timestamp
}

/** Which rule a platform's rule stands for. */
export interface Holder {
  readonly platformRuleId: string
  readonly ruleId: RuleId
  readonly accountId: AccountId
}

/** A rule is visible once all its registrations have been active, and until it is marked for removal. */
export class RuleStore extends Context.Tag("core/RuleStore")<
  RuleStore,
  {
    /** Stores the rule with every registration pending. `limits`: how many rules the account may hold per platform. */
    readonly reserve: (
      rule: NewRule,
      limits: ReadonlyMap<PlatformId, number>
    ) => Effect.Effect<void, RuleLimitReached | StorageUnavailable>
    /** The name of this store among others, made with it: rules on platforms carry it. */
    readonly deployment: Effect.Effect<string, StorageUnavailable>
    /** Makes the registrations active, all in one step. What is being removed stays so. */
    readonly activate: (
      id: RuleId,
      registered: ReadonlyMap<PlatformId, Registered>,
      at: Timestamp
    ) => Effect.Effect<void, StorageUnavailable>
    /** An active registration that its platform takes no longer. Nothing else is changed. */
    readonly fail: (
      id: RuleId,
      platform: PlatformId,
      reason: string,
      at: Timestamp
    ) => Effect.Effect<void, StorageUnavailable>
    /** Visible rules of the account, newest first. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<Rule>, StorageUnavailable>
    readonly exists: (account: AccountId, id: RuleId) => Effect.Effect<boolean, StorageUnavailable>
    /** Hides a visible rule. False when there was none: of two callers, one gets true. */
    readonly hide: (account: AccountId, id: RuleId, at: Timestamp) => Effect.Effect<boolean, StorageUnavailable>
    /** Forgets the rule, its registrations and its matches, in whatever state they are. */
    readonly remove: (id: RuleId) => Effect.Effect<void, StorageUnavailable>
    readonly registrations: (rule: RuleId) => Effect.Effect<ReadonlyArray<StoredRegistration>, StorageUnavailable>
    /** All registrations on a platform, oldest rule first. */
    readonly registrationsOn: (
      platform: PlatformId
    ) => Effect.Effect<ReadonlyArray<StoredRegistration>, StorageUnavailable>
    /** How many texts visible rules want on the platform. */
    readonly wanted: (platform: PlatformId) => Effect.Effect<number, StorageUnavailable>
    /** Whether a rule other than this one wants the same text on the platform. */
    readonly isShared: (
      registration: Pick<StoredRegistration, "ruleId" | "platform" | "text">
    ) => Effect.Effect<boolean, StorageUnavailable>
    /** The visible rules behind the platform's rules. */
    readonly holders: (
      platform: PlatformId,
      platformRuleIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<Holder>, StorageUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<RuleStore> = Layer.sync(RuleStore, () => {
    const rules = new Map<RuleId, MemoryRule>()
    const all = () => [...rules.values()]
    const visibleIn = (account: AccountId, id: RuleId) => {
      const rule = rules.get(id)
      return rule !== undefined && rule.accountId === account && isVisible(rule) ? rule : undefined
    }

    const reserve = (rule: NewRule, limits: ReadonlyMap<PlatformId, number>) =>
      Effect.suspend(() => {
        const owned = all().filter((other) => other.accountId === rule.accountId)
        for (const { platform } of rule.filters) {
          const limit = limits.get(platform)
          const used = owned.filter((other) => other.registrations.some((r) => r.platform === platform)).length
          if (limit !== undefined && used >= limit) {
            return new RuleLimitReached({ platform, limit, used })
          }
        }
        const registrations = rule.filters.map(({ platform, text }) => ({
          ruleId: rule.id,
          platform,
          text,
          platformRuleId: Option.none<string>(),
          translatedValue: text,
          state: "pending" as const,
          reason: undefined,
          since: rule.createdAt
        }))
        rules.set(rule.id, { ...rule, registrations })
        return Effect.void
      })

    const activate = (id: RuleId, registered: ReadonlyMap<PlatformId, Registered>, at: Timestamp) =>
      Effect.sync(() => {
        const rule = rules.get(id)
        if (rule === undefined) return
        const registrations = rule.registrations.map((registration) => {
          const found = registered.get(registration.platform)
          return found === undefined || registration.state === "removing"
            ? registration
            : {
                ...registration,
                platformRuleId: Option.some(found.platformRuleId),
                translatedValue: found.translatedValue,
                state: "active" as const,
                reason: undefined,
                since: at
              }
        })
        rules.set(id, { ...rule, registrations })
      })

    const fail = (id: RuleId, platform: PlatformId, reason: string, at: Timestamp) =>
      Effect.sync(() => {
        const rule = rules.get(id)
        if (rule === undefined) return
        const registrations = rule.registrations.map((registration) =>
          registration.platform === platform && isSettled(registration.state)
            ? { ...registration, state: "failed" as const, reason, since: at }
            : registration
        )
        rules.set(id, { ...rule, registrations })
      })

    const list = (account: AccountId) =>
      Effect.sync(() =>
        all()
          .filter((rule) => rule.accountId === account && isVisible(rule))
          .sort((a, b) => (a.id < b.id ? 1 : -1))
          .map(toRule)
      )

    const hide = (account: AccountId, id: RuleId, at: Timestamp) =>
      Effect.sync(() => {
        const rule = visibleIn(account, id)
        if (rule === undefined) return false
        const registrations = rule.registrations.map((r) => ({ ...r, state: "removing" as const, since: at }))
        rules.set(id, { ...rule, registrations })
        return true
      })

    const holders = (platform: PlatformId, platformRuleIds: ReadonlyArray<string>) =>
      Effect.sync(() => {
        const wanted = new Set(platformRuleIds)
        return all()
          .filter(isVisible)
          .flatMap((rule) =>
            rule.registrations.flatMap((registration) =>
              registration.platform === platform
                ? Option.toArray(registration.platformRuleId)
                    .filter((id) => wanted.has(id))
                    .map((platformRuleId) => ({ platformRuleId, ruleId: rule.id, accountId: rule.accountId }))
                : []
            )
          )
      })

    return RuleStore.of({
      reserve,
      deployment: Effect.succeed("memory"),
      activate,
      fail,
      list,
      exists: (account, id) => Effect.sync(() => visibleIn(account, id) !== undefined),
      hide,
      remove: (id) => Effect.sync(() => void rules.delete(id)),
      registrations: (id) => Effect.sync(() => rules.get(id)?.registrations ?? []),
      registrationsOn: (platform) =>
        Effect.sync(() =>
          all()
            .sort((a, b) => (a.id < b.id ? -1 : 1))
            .flatMap((rule) => rule.registrations.filter((r) => r.platform === platform))
        ),
      wanted: (platform) =>
        Effect.sync(() => {
          const on = all().flatMap((rule) => rule.registrations.filter((r) => r.platform === platform))
          return new Set(on.filter(({ state }) => isSettled(state)).map(({ text }) => text)).size
        }),
      isShared: ({ ruleId, platform, text }) =>
        Effect.sync(() =>
          all().some(
            (rule) =>
              rule.id !== ruleId &&
              rule.registrations.some((r) => r.platform === platform && r.text === text && r.state !== "removing")
          )
        ),
      holders
    })
  })
}

// ---- helpers ----

interface MemoryRule extends NewRule {
  readonly registrations: ReadonlyArray<StoredRegistration & { readonly reason: string | undefined }>
}

const isSettled = (state: RegistrationState) => state === "active" || state === "failed"

const isVisible = (rule: MemoryRule) => rule.registrations.every(({ state }) => isSettled(state))

const toRule = (rule: MemoryRule): Rule => ({
  id: rule.id,
  name: rule.name,
  intent: rule.intent,
  platforms: Object.fromEntries(
    rule.registrations.map((registration) => [
      registration.platform,
      {
        platform_rule_id: Option.getOrElse(registration.platformRuleId, () => ""),
        translated_value: registration.translatedValue,
        state: registration.state,
        ...(registration.reason !== undefined && { reason: registration.reason })
      }
    ])
  ),
  created_at: rule.createdAt
})
