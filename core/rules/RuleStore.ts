/** Storage port for rules and their registrations, with an in-memory layer. */
import { Context, Effect, Layer, Option } from "effect"
import { RuleLimitReached, type StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { GapCause, Registered } from "../platforms/Platform.ts"
import type { RegistrationState, Rule } from "./Rule.ts"

/** A rule that is not registered yet. */
export interface NewRule {
  readonly id: RuleId
  readonly accountId: AccountId
  readonly name: string
  readonly intent: string
  readonly createdAt: Timestamp
  readonly filters: ReadonlyArray<{
    readonly platform: PlatformId
    readonly text: string
    /** Set if the platform does not get the filter before the pause ends. */
    readonly paused?: NewPause | undefined
  }>
}

/** The registration of one rule on one platform, of any account. */
export interface StoredRegistration {
  readonly ruleId: RuleId
  readonly accountId: AccountId
  readonly platform: PlatformId
  /** Canonical form. Registrations with the same text share one rule of the platform. */
  readonly text: string
  readonly platformRuleId: Option.Option<string>
  /** As reported by the platform. */
  readonly translatedValue: string
  readonly state: RegistrationState
  /** Start of the current state. A retry or a pause of a failed one does not change it. */
  readonly since: Timestamp
  /** Set if it failed because it is paused: it is not registered again before the pause ends. */
  readonly pause: Option.Option<Pause>
}

/** A rule is paused when the monthly budget is nearly used up. */
export interface Pause {
  readonly until: Timestamp
  /** The budget at that time. */
  readonly budget: number
}

/** A pause that begins. */
export interface NewPause {
  readonly reason: string
  readonly pause: Pause
}

/** A period in which a platform did not hold a rule. `to` is none while that lasts. */
export interface RuleGap {
  readonly ruleId: RuleId
  readonly platform: PlatformId
  readonly from: Timestamp
  readonly to: Option.Option<Timestamp>
  readonly cause: GapCause
  readonly detail: string
}

/** One rule of an account, or all of them. */
export interface WatchSelector {
  readonly account: AccountId
  readonly rule: Option.Option<RuleId>
  readonly platforms: ReadonlyArray<PlatformId>
}

/** What the platforms hold for a rule, or for all rules of an account. */
export interface Watches {
  /** Per platform: the rule, or the account's oldest rule there, and when the platform first held it. */
  readonly oldest: ReadonlyArray<{
    readonly platform: PlatformId
    readonly ruleId: RuleId
    readonly createdAt: Timestamp
    readonly since: Timestamp
  }>
  /** Newest first. */
  readonly gaps: ReadonlyArray<RuleGap>
}

/** Links a rule of the platform to one of our rules. */
export interface RuleLink {
  readonly platformRuleId: string
  readonly ruleId: RuleId
  readonly accountId: AccountId
}

/** The gap of a rule that the platform had lost and accepted again. */
export const DROPPED = {
  cause: "rules_dropped",
  detail: "The platform lost the rule at some time after the last comparison"
} as const

/** The cause of the gap of a failed registration. */
export const causeOf = (pause: Pause | undefined): GapCause => (pause === undefined ? "rule_failed" : "budget")

/** A rule is visible from the activation of all its registrations until `hide`. */
export class RuleStore extends Context.Tag("core/RuleStore")<
  RuleStore,
  {
    /** Stores the rule with its registrations pending, or failed if they are paused. `limits`: the account's maximum per platform. */
    readonly reserve: (
      rule: NewRule,
      limits: ReadonlyMap<PlatformId, number>
    ) => Effect.Effect<void, RuleLimitReached | StoreUnavailable>
    /** A unique name of this store. Rules on platforms are tagged with it. */
    readonly deployment: Effect.Effect<string, StoreUnavailable>
    /** For a new rule. Atomic. Skips registrations that are being removed. */
    readonly activate: (
      id: RuleId,
      registered: ReadonlyMap<PlatformId, Registered>,
      at: Timestamp
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * The platform lost the rule and holds it again from `at` on. Ends the gap of a failed registration; otherwise adds
     * a gap that began at `lostSince`. Only for an active or failed registration.
     */
    readonly restore: (
      id: RuleId,
      platform: PlatformId,
      restored: { readonly registered: Registered; readonly lostSince: Timestamp; readonly at: Timestamp }
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * The platform rejects the rule, or it is paused. Begins a gap at `lostSince`; an open gap of another cause ends at
     * `at`, where the new one begins. Only for an active or failed registration.
     */
    readonly fail: (
      id: RuleId,
      platform: PlatformId,
      failure: {
        readonly reason: string
        readonly lostSince: Timestamp
        readonly at: Timestamp
        readonly pause?: Pause
      }
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * Ends the pauses that are over at `at`, and those for a smaller budget; 0 is no limit. Returns the number of rules.
     * They stay failed until the platform holds them again.
     */
    readonly endPauses: (
      platform: PlatformId,
      when: { readonly at: Timestamp; readonly budget: number }
    ) => Effect.Effect<number, StoreUnavailable>
    /** When the rules of the platform were last compared with the store. */
    readonly comparedAt: (platform: PlatformId) => Effect.Effect<Option.Option<Timestamp>, StoreUnavailable>
    readonly saveComparison: (platform: PlatformId, at: Timestamp) => Effect.Effect<void, StoreUnavailable>
    /** Constant cost: `limit` is the maximum number of gaps. */
    readonly watches: (selector: WatchSelector, limit: number) => Effect.Effect<Watches, StoreUnavailable>
    /** Visible rules of the account, newest first. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<Rule>, StoreUnavailable>
    readonly exists: (account: AccountId, id: RuleId) => Effect.Effect<boolean, StoreUnavailable>
    /** False if no such rule is visible. Of two concurrent callers, one gets true. */
    readonly hide: (account: AccountId, id: RuleId, at: Timestamp) => Effect.Effect<boolean, StoreUnavailable>
    /** Deletes the rule, its registrations and its matches, in any state. */
    readonly remove: (id: RuleId) => Effect.Effect<void, StoreUnavailable>
    readonly registrations: (rule: RuleId) => Effect.Effect<ReadonlyArray<StoredRegistration>, StoreUnavailable>
    /** All registrations on a platform, oldest rule first. */
    readonly registrationsOn: (
      platform: PlatformId
    ) => Effect.Effect<ReadonlyArray<StoredRegistration>, StoreUnavailable>
    /** The number of the account's rules on the platform, as `reserve` counts them. */
    readonly count: (account: AccountId, platform: PlatformId) => Effect.Effect<number, StoreUnavailable>
    /** The number of visible rules of each account that has any. */
    readonly counts: Effect.Effect<ReadonlyMap<AccountId, number>, StoreUnavailable>
    /** The number of distinct texts of visible rules on the platform, without paused ones. */
    readonly wanted: (platform: PlatformId) => Effect.Effect<number, StoreUnavailable>
    /** The number of paused rules on the platform. */
    readonly paused: (platform: PlatformId) => Effect.Effect<number, StoreUnavailable>
    /** Whether another rule has the same text on the platform. */
    readonly isShared: (
      registration: Pick<StoredRegistration, "ruleId" | "platform" | "text">
    ) => Effect.Effect<boolean, StoreUnavailable>
    /** Only visible rules. A rule also has the ids that the platform gave it before `restore`: late events have them. */
    readonly ruleLinks: (
      platform: PlatformId,
      platformRuleIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<RuleLink>, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<RuleStore> = Layer.sync(RuleStore, () => {
    const rules = new Map<RuleId, MemoryRule>()
    const comparisons = new Map<PlatformId, Timestamp>()
    let gaps: ReadonlyArray<MemoryGap> = []
    const all = () => [...rules.values()]
    const visibleIn = (account: AccountId, id: RuleId) => {
      const rule = rules.get(id)
      return rule !== undefined && rule.accountId === account && isVisible(rule) ? rule : undefined
    }

    const countOf = (account: AccountId, platform: PlatformId) =>
      all().filter(
        ({ accountId, registrations }) => accountId === account && registrations.some((r) => r.platform === platform)
      ).length

    const reserve = (rule: NewRule, limits: ReadonlyMap<PlatformId, number>) =>
      Effect.suspend(() => {
        for (const { platform } of rule.filters) {
          const limit = limits.get(platform)
          const used = countOf(rule.accountId, platform)
          if (limit !== undefined && used >= limit) {
            return new RuleLimitReached({ platform, limit, used })
          }
        }
        const registrations = rule.filters.map(({ platform, text, paused }) => ({
          ruleId: rule.id,
          accountId: rule.accountId,
          platform,
          text,
          platformRuleId: Option.none<string>(),
          translatedValue: text,
          state: paused === undefined ? ("pending" as const) : ("failed" as const),
          reason: paused?.reason,
          since: rule.createdAt,
          pause: Option.fromNullable(paused?.pause),
          watchedSince: paused === undefined ? undefined : rule.createdAt
        }))
        const begun = registrations.filter(({ state }) => state === "failed")
        gaps = [
          ...gaps,
          ...begun.map(({ reason = "", ...registration }) => ({
            ...registration,
            from: rule.createdAt,
            to: Option.none(),
            cause: "budget" as const,
            detail: reason
          }))
        ]
        rules.set(rule.id, { ...rule, registrations })
        return Effect.void
      })

    const changeRegistrations = (
      id: RuleId,
      change: (registration: MemoryRegistration) => MemoryRegistration
    ): Effect.Effect<void> =>
      Effect.sync(() => {
        const rule = rules.get(id)
        if (rule !== undefined) rules.set(id, { ...rule, registrations: rule.registrations.map(change) })
      })

    const activate = (id: RuleId, registered: ReadonlyMap<PlatformId, Registered>, at: Timestamp) =>
      changeRegistrations(id, (registration) => {
        const found = registered.get(registration.platform)
        return found === undefined || registration.state === "removing"
          ? registration
          : { ...held(registration, found, at), watchedSince: registration.watchedSince ?? at }
      })

    const restore: RuleStore["Type"]["restore"] = (id, platform, { registered, lostSince, at }) =>
      changeRegistrations(id, (registration) => {
        if (registration.platform !== platform || !isSettled(registration.state)) return registration
        if (registration.state === "failed") {
          gaps = gaps.map((gap) => (isOpenFor(gap, registration) ? { ...gap, to: Option.some(at) } : gap))
        } else {
          gaps = [...gaps, { ...registration, ...DROPPED, from: lostSince, to: Option.some(at) }]
        }
        return held(registration, registered, at)
      })

    const fail: RuleStore["Type"]["fail"] = (id, platform, { reason, lostSince, at, pause }) =>
      changeRegistrations(id, (registration) => {
        if (registration.platform !== platform || !isSettled(registration.state)) return registration
        const cause = causeOf(pause)
        const open = gaps.find((gap) => isOpenFor(gap, registration))
        if (open?.cause !== cause) {
          gaps = [
            ...gaps.map((gap) => (gap === open ? { ...gap, to: Option.some(at) } : gap)),
            {
              ...registration,
              from: open === undefined ? lostSince : at,
              to: Option.none(),
              cause,
              detail: reason
            }
          ]
        }
        return {
          ...registration,
          state: "failed",
          reason,
          since: registration.state === "failed" ? registration.since : at,
          pause: Option.fromNullable(pause)
        }
      })

    const endPauses: RuleStore["Type"]["endPauses"] = (platform, { at, budget }) =>
      Effect.sync(() => {
        const isOver = (pause: Pause) => pause.until <= at || budget === 0 || pause.budget < budget
        let ended = 0
        for (const rule of all()) {
          const registrations = rule.registrations.map((registration) => {
            if (registration.platform !== platform || !Option.exists(registration.pause, isOver)) return registration
            ended++
            return { ...registration, pause: Option.none() }
          })
          rules.set(rule.id, { ...rule, registrations })
        }
        return ended
      })

    const settledOn = (platform: PlatformId) =>
      all()
        .flatMap(({ registrations }) => registrations)
        .filter((registration) => registration.platform === platform && isSettled(registration.state))

    const watches = ({ account, rule, platforms }: WatchSelector, limit: number) =>
      Effect.sync(() => {
        const isAsked = (of: Pick<StoredRegistration, "accountId" | "ruleId" | "platform">) =>
          of.accountId === account &&
          platforms.includes(of.platform) &&
          Option.getOrElse(rule, () => of.ruleId) === of.ruleId
        const oldest = new Map<PlatformId, Watches["oldest"][number]>()
        for (const { createdAt, registrations } of all()) {
          for (const registration of registrations) {
            const { platform, ruleId, state, watchedSince: since } = registration
            if (since === undefined || !isSettled(state) || !isAsked(registration)) continue
            if ((oldest.get(platform)?.ruleId ?? ruleId) < ruleId) continue
            oldest.set(platform, { platform, ruleId, createdAt, since })
          }
        }
        const asked = gaps.filter((gap) => isAsked(gap) && rules.has(gap.ruleId))
        return { oldest: [...oldest.values()], gaps: asked.sort((a, b) => (a.from < b.from ? 1 : -1)).slice(0, limit) }
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

    const ruleLinks = (platform: PlatformId, platformRuleIds: ReadonlyArray<string>) =>
      Effect.sync(() => {
        const isWanted = (held: Pick<StoredRegistration, "platform" | "platformRuleId">) =>
          held.platform === platform && Option.exists(held.platformRuleId, (id) => platformRuleIds.includes(id))
        const earlier = gaps.filter(isWanted)
        return all()
          .filter(isVisible)
          .flatMap(({ id, accountId, registrations }) => {
            const held = [...registrations.filter(isWanted), ...earlier.filter(({ ruleId }) => ruleId === id)]
            const ids = new Set(held.flatMap(({ platformRuleId }) => Option.toArray(platformRuleId)))
            return [...ids].map((platformRuleId) => ({ platformRuleId, ruleId: id, accountId }))
          })
      })

    return RuleStore.of({
      reserve,
      deployment: Effect.succeed("memory"),
      activate,
      restore,
      fail,
      endPauses,
      comparedAt: (platform) => Effect.sync(() => Option.fromNullable(comparisons.get(platform))),
      saveComparison: (platform, at) => Effect.sync(() => void comparisons.set(platform, at)),
      watches,
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
      count: (account, platform) => Effect.sync(() => countOf(account, platform)),
      counts: Effect.sync(() => {
        const counts = new Map<AccountId, number>()
        for (const { accountId } of all().filter(isVisible)) counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
        return counts
      }),
      wanted: (platform) =>
        Effect.sync(() => {
          const wanted = settledOn(platform).filter(({ pause }) => Option.isNone(pause))
          return new Set(wanted.map(({ text }) => text)).size
        }),
      paused: (platform) => Effect.sync(() => settledOn(platform).filter(({ pause }) => Option.isSome(pause)).length),
      isShared: ({ ruleId, platform, text }) =>
        Effect.sync(() =>
          all().some(
            (rule) =>
              rule.id !== ruleId &&
              rule.registrations.some((r) => r.platform === platform && r.text === text && r.state !== "removing")
          )
        ),
      ruleLinks
    })
  })
}

// ---- helpers ----

interface MemoryRegistration extends StoredRegistration {
  readonly reason: string | undefined
  readonly watchedSince: Timestamp | undefined
}

interface MemoryGap extends RuleGap, Pick<StoredRegistration, "accountId"> {
  /** The id that the rule had on the platform before the gap. */
  readonly platformRuleId: StoredRegistration["platformRuleId"]
}

interface MemoryRule extends NewRule {
  readonly registrations: ReadonlyArray<MemoryRegistration>
}

const held = (registration: MemoryRegistration, registered: Registered, at: Timestamp): MemoryRegistration => ({
  ...registration,
  platformRuleId: Option.some(registered.platformRuleId),
  translatedValue: registered.translatedValue,
  state: "active",
  reason: undefined,
  since: at,
  pause: Option.none()
})

const isOpenFor = (gap: RuleGap, { ruleId, platform }: StoredRegistration): boolean =>
  gap.ruleId === ruleId && gap.platform === platform && Option.isNone(gap.to)

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
        ...(registration.reason !== undefined && { reason: registration.reason }),
        ...(registration.state === "failed" && { failed_since: registration.since })
      }
    ])
  ),
  created_at: rule.createdAt
})
