/** `RuleStore` in memory. */
import { Effect, Layer, Option, Struct } from "effect"
import { RuleLimitReached, RuleNotFound, RuleVersionChanged } from "../../core/model/Errors.ts"
import type { AccountId, KeyId, RuleId } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { Timestamp } from "../../core/model/Timestamp.ts"
import type { Registered } from "../../core/platforms/Platform.ts"
import { type PausedBy, RULE_DETAILS, type Rule, type RuleDetails } from "../../core/rules/Rule.ts"
import {
  BEFORE_PROMOTION,
  BY_ACCOUNT,
  type CoverageSelector,
  causeOf,
  DROPPED,
  isPausedBy,
  type NewRule,
  type Pause,
  PENDING,
  type RuleCoverage,
  type RuleGap,
  type RuleLink,
  RuleStore,
  type StoredRegistration,
  type StoredVersion
} from "../../core/rules/RuleStore.ts"

export const memoryRules: Layer.Layer<RuleStore> = Layer.sync(RuleStore, () => {
  const rules = new Map<RuleId, MemoryRule>()
  const comparisons = new Map<PlatformId, Timestamp>()
  let gaps: ReadonlyArray<MemoryGap> = []
  let retired: ReadonlyArray<RetiredRule> = []
  const all = () => [...rules.values()]
  const visibleIn = (account: AccountId, id: RuleId) => {
    const rule = rules.get(id)
    return rule !== undefined && rule.accountId === account && isVisible(rule) ? rule : undefined
  }

  const countOf = (account: AccountId, platform: PlatformId) =>
    all().filter(
      ({ accountId, registrations }) =>
        accountId === account && registrations.some((r) => r.platform === platform && !isByAccount(r))
    ).length

  const endShadows = (id: RuleId, at: Timestamp) => {
    for (const rule of all()) {
      if (rule.candidate?.of !== id || rule.candidate.purpose !== "shadow") continue
      const registrations = rule.registrations.map((r) => ({ ...r, state: "removing" as const, since: at }))
      rules.set(rule.id, { ...rule, registrations })
    }
  }

  const reserve = (rule: NewRule, limits: ReadonlyMap<PlatformId, number>) =>
    Effect.suspend(() => {
      for (const { platform } of rule.filters) {
        const limit = limits.get(platform)
        const used = countOf(rule.accountId, platform)
        if (limit !== undefined && used >= limit) {
          return new RuleLimitReached({ platform, limit, used })
        }
      }
      const { candidate } = rule
      if (candidate?.purpose === "shadow") endShadows(candidate.of, rule.createdAt)
      const registrations = rule.filters.map((filter) => newRegistration(rule, filter))
      gaps = [
        ...gaps,
        ...registrations.flatMap((registration) =>
          Option.toArray(Option.map(registration.pause, (pause) => gapOf(registration, pause, rule.createdAt)))
        )
      ]
      rules.set(rule.id, {
        ...rule,
        registrations,
        versions: [versionOf(1, rule, registrations, rule.createdAt, Option.fromNullable(rule.by))]
      })
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

  const addPending: RuleStore["Type"]["addPending"] = (id, platform, { from, to }) =>
    Effect.sync(() => {
      const rule = rules.get(id)
      if (rule === undefined) return
      const { accountId } = rule
      const gap = {
        ruleId: id,
        platform,
        accountId,
        platformRuleId: Option.none(),
        from,
        to: Option.some(to),
        ...PENDING
      }
      gaps = [...gaps, gap]
    })

  const tookEffect: RuleStore["Type"]["tookEffect"] = (platform, ids, at) =>
    Effect.sync(() => {
      const isLonger = (gap: MemoryGap) =>
        gap.platform === platform &&
        ids.includes(gap.ruleId) &&
        gap.cause === PENDING.cause &&
        Option.exists(gap.to, (to) => to > at)
      const endedAt = ({ from }: MemoryGap) => Option.some(from < at ? at : from)
      gaps = gaps.map((gap) => (isLonger(gap) ? { ...gap, to: endedAt(gap) } : gap))
    })

  const restore: RuleStore["Type"]["restore"] = (id, platform, { registered, lostSince, at }) =>
    changeRegistrations(id, (registration) => {
      if (registration.platform !== platform || !isSettled(registration)) return registration
      if (registration.state !== "active") {
        gaps = gaps.map((gap) => (isOpenFor(gap, registration) ? { ...gap, to: Option.some(at) } : gap))
      } else {
        gaps = [...gaps, { ...registration, ...DROPPED, from: lostSince, to: Option.some(at) }]
      }
      return held(registration, registered, at)
    })

  const fail: RuleStore["Type"]["fail"] = (id, platform, { reason, lostSince, at, pause }) =>
    changeRegistrations(id, (registration) => {
      if (registration.platform !== platform || !isSettled(registration)) return registration
      const cause = pause === undefined ? "rule_failed" : causeOf(pause)
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
        state: pause === undefined ? "failed" : "paused",
        pausedBy: pause?.by,
        reason,
        since: registration.state === "active" ? at : registration.since,
        pause: Option.fromNullable(pause)
      }
    })

  const endPauses: RuleStore["Type"]["endPauses"] = (platform, { by, limit, at, account }) =>
    Effect.sync(() => {
      const isOver = (pause: Pause) =>
        pause.by !== "account" && pause.by === by && (pause.until <= at || limit === 0 || pause.limit < limit)
      let ended = 0
      for (const rule of all()) {
        if (account !== undefined && rule.accountId !== account) continue
        const registrations = rule.registrations.map((registration) => {
          if (registration.platform !== platform || !Option.exists(registration.pause, isOver)) return registration
          ended++
          return { ...registration, pause: Option.none() }
        })
        rules.set(rule.id, { ...rule, registrations })
      }
      return ended
    })

  const registrationsOn = (platform: PlatformId) =>
    all()
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap((rule) => rule.registrations.filter((r) => r.platform === platform))

  const settledOn = (platform: PlatformId) => registrationsOn(platform).filter(isSettled)

  const ruleCoverage = ({ account, rule, platforms }: CoverageSelector, limit: number) =>
    Effect.sync(() => {
      const isAsked = (of: Pick<StoredRegistration, "accountId" | "ruleId" | "platform">) =>
        of.accountId === account &&
        platforms.includes(of.platform) &&
        Option.getOrElse(rule, () => of.ruleId) === of.ruleId
      const oldest = new Map<PlatformId, RuleCoverage["oldest"][number]>()
      for (const { createdAt, registrations, candidate } of all()) {
        for (const registration of registrations) {
          const { platform, ruleId, watchedSince: since } = registration
          if (since === undefined || candidate !== undefined || isHidden(registration)) continue
          if (!isAsked(registration)) continue
          if ((oldest.get(platform)?.ruleId ?? ruleId) < ruleId) continue
          oldest.set(platform, { platform, ruleId, createdAt, since })
        }
      }
      const asked = gaps.filter(
        (gap) => isAsked(gap) && rules.get(gap.ruleId)?.candidate === undefined && rules.has(gap.ruleId)
      )
      const newestFirst = (a: RuleGap, b: RuleGap) => (a.from < b.from ? 1 : -1)
      const listed = asked
        .sort((a, b) => Number(a.cause === "rule_pending") - Number(b.cause === "rule_pending") || newestFirst(a, b))
        .slice(0, limit)
        .sort(newestFirst)
      return { oldest: [...oldest.values()], gaps: listed }
    })

  const shadows = () => all().filter((rule) => rule.candidate?.purpose === "shadow" && isComplete(rule))
  const shadowOf = (id: RuleId, among = shadows()) => among.find(({ candidate }) => candidate?.of === id)

  const list: RuleStore["Type"]["list"] = (account, { before, limit }) =>
    Effect.sync(() => {
      const among = shadows()
      return all()
        .filter((rule) => rule.accountId === account && isVisible(rule))
        .filter(({ id }) => !Option.exists(before, (before) => id >= before))
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map((rule) => toRule(rule, shadowOf(rule.id, among)))
    })

  const find = (account: AccountId, id: RuleId) =>
    Effect.sync(() =>
      Option.map(Option.fromNullable(visibleIn(account, id)), (rule) => toRule(rule, shadowOf(rule.id)))
    )

  const hide = (account: AccountId, id: RuleId, at: Timestamp) =>
    Effect.sync(() => {
      const rule = visibleIn(account, id)
      if (rule === undefined) return false
      const registrations = rule.registrations.map((r) => ({ ...r, state: "removing" as const, since: at }))
      rules.set(id, { ...rule, registrations })
      return true
    })

  const change: RuleStore["Type"]["change"] = (account, id, wanted) =>
    Effect.gen(function* () {
      const rule = visibleIn(account, id)
      if (rule === undefined) return yield* new RuleNotFound({ ruleId: id })
      const version = rule.versions.length
      const details: RuleDetails = Struct.pick(wanted, ...RULE_DETAILS)
      const { expectedVersion: expected, at, ended, promotedSince = at } = wanted
      if (version !== expected) return yield* new RuleVersionChanged({ ruleId: id, expected, version })
      const candidate = rules.get(wanted.candidate)
      const isReady = (platform: PlatformId) =>
        candidate?.registrations.some((one) => one.platform === platform && !isHidden(one)) === true
      if (!wanted.added.every(isReady)) return yield* new RuleNotFound({ ruleId: wanted.candidate })
      const before = rule.registrations.filter(({ platform }) => ended.includes(platform))
      const watchedSince = (platform: PlatformId, fallback: Timestamp | undefined) =>
        before.find((registration) => registration.platform === platform)?.watchedSince ?? fallback
      const added = (candidate?.registrations ?? []).map((registration) => ({
        ...registration,
        ruleId: id,
        purpose: Option.none<never>(),
        watchedSince: watchedSince(registration.platform, registration.watchedSince)
      }))
      const paused = wanted.paused.map(({ platform, text }) => ({
        ...newRegistration({ id, accountId: account, createdAt: at }, { platform, text, pause: BY_ACCOUNT }),
        watchedSince: watchedSince(platform, at)
      }))
      const registrations = [
        ...rule.registrations.filter(({ platform }) => !ended.includes(platform)),
        ...added,
        ...paused
      ]
      const retire = (ended: ReadonlyArray<MemoryRegistration>, version: number, retiredAt: number) =>
        ended.flatMap(({ platform, text, platformRuleId, state }) =>
          Option.isSome(platformRuleId) && state === "active"
            ? [
                {
                  platform,
                  text,
                  platformRuleId: platformRuleId.value,
                  ruleId: id,
                  accountId: account,
                  version,
                  retiredAt
                }
              ]
            : []
        )
      const promoted = candidate?.candidate?.purpose === "shadow" ? candidate.registrations : []
      retired = [
        ...retired,
        ...retire(rule.registrations, version, Date.parse(at)),
        ...retire(promoted, BEFORE_PROMOTION, Math.min(Date.parse(promotedSince), Date.parse(at)))
      ]
      const ends = (gap: MemoryGap) => before.some((registration) => isOpenFor(gap, registration))
      const open = gaps.filter((gap) => gap.ruleId === wanted.candidate && Option.isNone(gap.to))
      gaps = [
        ...gaps.map((gap) => (ends(gap) ? { ...gap, to: Option.some(at) } : gap)),
        ...open.map((gap) => ({ ...gap, ruleId: id, from: at })),
        ...paused.map((registration) => gapOf(registration, BY_ACCOUNT, at))
      ]
      rules.set(id, {
        ...rule,
        ...details,
        registrations,
        versions: [...rule.versions, versionOf(version + 1, details, registrations, at, wanted.by)]
      })
      if (before.length === 0) rules.delete(wanted.candidate)
      else {
        rules.set(wanted.candidate, {
          ...rule,
          id: wanted.candidate,
          candidate: { of: id, purpose: "update" },
          registrations: before.map((registration) => ({
            ...registration,
            ruleId: wanted.candidate,
            purpose: Option.some("update"),
            state: "removing",
            since: at
          }))
        })
      }
      if (wanted.also !== undefined) yield* wanted.also
      return version + 1
    })

  const ruleLinks = (platform: PlatformId, platformRuleIds: ReadonlyArray<string>) =>
    Effect.sync(() => {
      const isWanted = (held: Pick<StoredRegistration, "platform" | "platformRuleId">) =>
        held.platform === platform && Option.exists(held.platformRuleId, (id) => platformRuleIds.includes(id))
      const earlier = gaps.filter(isWanted)
      const current = all()
        .filter((rule) => isComplete(rule) && rule.candidate?.purpose !== "update")
        .flatMap(({ id, accountId, registrations, versions, candidate }) => {
          const held = [...registrations.filter(isWanted), ...earlier.filter(({ ruleId }) => ruleId === id)]
          const ids = new Set(held.flatMap(({ platformRuleId }) => Option.toArray(platformRuleId)))
          const isShadow = candidate !== undefined
          return [...ids].map((platformRuleId) => ({
            platformRuleId,
            ruleId: id,
            accountId,
            version: versions.length,
            isShadow
          }))
        })
      const before = retired.filter(
        (link) => link.platform === platform && platformRuleIds.includes(link.platformRuleId) && rules.has(link.ruleId)
      )
      return [...current, ...before.map(({ platform: _, text: __, ...link }) => ({ ...link, isShadow: false }))]
    })

  const generations = new Map<string, number>()

  return RuleStore.of({
    reserve,
    deployment: Effect.succeed("memory"),
    nextOfGeneration: (generation) =>
      Effect.sync(() => {
        const next = (generations.get(generation) ?? 0) + 1
        generations.set(generation, next)
        return next
      }),
    generations: Effect.sync(() => new Map(generations)),
    activate,
    addPending,
    tookEffect,
    restore,
    fail,
    endPauses,
    pausedAccounts: (platform, by) =>
      Effect.sync(() => {
        const paused = settledOn(platform).filter(isPausedBy(by))
        return [...new Set(paused.map(({ accountId }) => accountId))]
      }),
    comparedAt: (platform) => Effect.sync(() => Option.fromNullable(comparisons.get(platform))),
    saveComparison: (platform, at) => Effect.sync(() => void comparisons.set(platform, at)),
    ruleCoverage,
    change,
    shadowOf: (id) => Effect.sync(() => Option.map(Option.fromNullable(shadowOf(id)), (shadow) => shadow.id)),
    candidatesOf: (id) => Effect.sync(() => all().flatMap((rule) => (rule.candidate?.of === id ? [rule.id] : []))),
    versions: (account, id) => Effect.sync(() => visibleIn(account, id)?.versions.toReversed() ?? []),
    forgetRetired: (before) =>
      Effect.sync(() => {
        retired = retired.filter(({ retiredAt }) => retiredAt >= Date.parse(before))
      }),
    list,
    find,
    exists: (account, id) => Effect.sync(() => visibleIn(account, id) !== undefined),
    hide,
    remove: (id) =>
      Effect.sync(() => {
        rules.delete(id)
        for (const rule of all()) if (rule.candidate?.of === id) rules.delete(rule.id)
      }),
    registrations: (id) => Effect.sync(() => rules.get(id)?.registrations ?? []),
    registrationsOn: (platform) => Effect.sync(() => registrationsOn(platform)),
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
    paused: (platform) => Effect.sync(() => settledOn(platform).filter(isPausedBy("budget")).length),
    isShared: ({ ruleId, platform, text }) =>
      Effect.sync(() =>
        all().some(
          (rule) =>
            rule.id !== ruleId &&
            rule.registrations.some((r) => r.platform === platform && r.text === text && isWanted(r))
        )
      ),
    textsOf: (account, platform, among) =>
      Effect.sync(() => {
        const earlier = retired.filter((link) => link.platform === platform && rules.has(link.ruleId))
        const texts = [...registrationsOn(platform), ...earlier].flatMap(({ accountId, text }) =>
          accountId === account ? [text] : []
        )
        return [...new Set(texts)].filter((text) => Option.isNone(among) || among.value.includes(text))
      }),
    textOwners: (platform, texts) =>
      Effect.sync(() =>
        registrationsOn(platform)
          .filter((one) => texts.includes(one.text) && isWanted(one) && Option.isNone(one.pause))
          .map(({ text, accountId }) => ({ text, accountId }))
      ),
    ruleLinks
  })
})

// ---- helpers ----

interface MemoryRegistration extends StoredRegistration {
  readonly pausedBy: PausedBy | undefined
  readonly reason: string | undefined
  readonly watchedSince: Timestamp | undefined
}

interface MemoryGap extends RuleGap, Pick<StoredRegistration, "accountId"> {
  /** The id that the rule had on the platform before the gap. */
  readonly platformRuleId: StoredRegistration["platformRuleId"]
}

interface MemoryRule extends NewRule {
  readonly registrations: ReadonlyArray<MemoryRegistration>
  /** Oldest first. */
  readonly versions: ReadonlyArray<StoredVersion>
}

type RetiredRule = Required<Omit<RuleLink, "isShadow">> & { readonly platform: PlatformId; readonly text: string }

const newRegistration = (
  { id, accountId, createdAt, candidate }: Pick<NewRule, "id" | "accountId" | "createdAt" | "candidate">,
  { platform, text, pause }: NewRule["filters"][number]
): MemoryRegistration => ({
  ruleId: id,
  accountId,
  platform,
  text,
  platformRuleId: Option.none(),
  translatedValue: text,
  since: createdAt,
  watchedSince: pause === undefined ? undefined : createdAt,
  purpose: Option.map(Option.fromNullable(candidate), ({ purpose }) => purpose),
  state: pause === undefined ? "pending" : "paused",
  pausedBy: pause?.by,
  reason: pause?.by === "account" ? undefined : pause?.reason,
  pause: Option.fromNullable(pause)
})

const gapOf = (registration: MemoryRegistration, pause: Pause, from: Timestamp): MemoryGap => ({
  ...registration,
  from,
  to: Option.none(),
  cause: causeOf(pause),
  detail: pause.reason
})

const versionOf = (
  version: number,
  details: RuleDetails,
  registrations: ReadonlyArray<MemoryRegistration>,
  at: Timestamp,
  by: Option.Option<KeyId>
): StoredVersion => ({
  version,
  at,
  ...(Option.isSome(by) && { key_id: by.value }),
  ...Struct.pick(details, ...RULE_DETAILS),
  overrides: Object.fromEntries(registrations.map(({ platform, text }) => [platform, text])),
  paused: registrations.some(isByAccount)
})

const held = (registration: MemoryRegistration, registered: Registered, at: Timestamp): MemoryRegistration => ({
  ...registration,
  platformRuleId: Option.some(registered.platformRuleId),
  translatedValue: registered.translatedValue,
  state: "active",
  pausedBy: undefined,
  reason: undefined,
  since: at,
  pause: Option.none()
})

const isOpenFor = (gap: RuleGap, { ruleId, platform }: StoredRegistration): boolean =>
  gap.ruleId === ruleId && gap.platform === platform && Option.isNone(gap.to)

const isHidden = ({ state }: MemoryRegistration) => state === "pending" || state === "removing"

const isByAccount = ({ state, pausedBy }: MemoryRegistration) => state === "paused" && pausedBy === "account"

const isSettled = (registration: MemoryRegistration) => !isHidden(registration) && !isByAccount(registration)

const isWanted = (registration: MemoryRegistration) => registration.state !== "removing" && !isByAccount(registration)

const isComplete = ({ registrations }: MemoryRule) => !registrations.some(isHidden)

const isVisible = (rule: MemoryRule) => rule.candidate === undefined && isComplete(rule)

const toRule = (rule: MemoryRule, shadow: MemoryRule | undefined): Rule => ({
  id: rule.id,
  ...Struct.pick(rule, ...RULE_DETAILS),
  platforms: platformsOf(rule),
  created_at: rule.createdAt,
  version: rule.versions.length,
  ...(shadow !== undefined && { shadow: { since: shadow.createdAt, platforms: platformsOf(shadow) } })
})

const platformsOf = ({ registrations }: MemoryRule): Rule["platforms"] =>
  Object.fromEntries(
    registrations.map((registration) => [
      registration.platform,
      {
        platform_rule_id: Option.getOrElse(registration.platformRuleId, () => ""),
        translated_value: registration.translatedValue,
        state: registration.state,
        ...(registration.pausedBy !== undefined && { paused_by: registration.pausedBy }),
        ...(registration.reason !== undefined && {
          reason: registration.reason,
          failed_since: registration.since
        })
      }
    ])
  )
