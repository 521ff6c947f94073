/**
 * Charges the matching of shared events to the accounts whose rules it is for, and pauses the dearest rules of an account
 * that exceeds its limit. Every server does this for what it matches itself; they share the counters of `Quotas`.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { type MatchingCost, type Platform, Platforms } from "../platforms/Platform.ts"
import { WINDOW_SECONDS } from "../quotas/Limit.ts"
import { Quotas, secondsLeft } from "../quotas/Quotas.ts"
import { Pauses } from "../rules/Pauses.ts"
import { Registrations } from "../rules/Registrations.ts"
import { type LimitPause, type RuleGap, RuleStore, type StoredRegistration } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { counted } from "../text/counted.ts"
import { dearest } from "./dearest.ts"

export class MatchingLimits extends Context.Tag("core/MatchingLimits")<
  MatchingLimits,
  {
    /** Charges what matching has cost since the last call. Pauses rules, and ends pauses. Never fails. */
    readonly enforce: Effect.Effect<void>
  }
>() {
  /** Its `Pauses` are those of the budget, and those of accounts that have reached their limit. */
  static readonly layer: Layer.Layer<
    MatchingLimits | Pauses,
    never,
    Pauses | RuleStore | Registrations | Platforms | Quotas
  > = Layer.effectContext(
    Effect.gen(function* () {
      const budget = yield* Pauses
      const rules = yield* RuleStore
      const registrations = yield* Registrations
      const platforms = yield* Platforms
      const quotas = yield* Quotas
      /** What accounts cost on this server. */
      const measured = new Map<AccountId, Measured>()
      let window = 0
      let endedAt = 0
      /** Platforms whose events this process does not match, and whose pauses ended. */
      const released = new Set<PlatformId>()

      /** 0 also for the only account with rules: it takes nothing from others. In seconds. */
      const limitOf = (account: AccountId) =>
        Effect.gen(function* () {
          const limit = yield* quotas.limitOf(account, "matching")
          if (limit === 0) return 0
          const others = [...(yield* rules.counts).keys()].filter((one) => one !== account)
          return others.length === 0 ? 0 : limit
        })

      /** Set if the account has reached its limit in the present minute. */
      const exceeded = (account: AccountId) =>
        Effect.gen(function* () {
          const used = yield* quotas.used(account, "matching")
          if (used === 0 || used < (yield* quotas.limitOf(account, "matching"))) return Option.none()
          const limit = yield* limitOf(account)
          return limit === 0 ? Option.none() : Option.some({ limit, used })
        })

      const pauseFor = (platform: Platform, text: string, account: AccountId) =>
        Effect.gen(function* () {
          const paused = yield* budget.pauseFor(platform, text, account)
          if (Option.isSome(paused) || platform.drainCosts === undefined) return paused
          const now = yield* Clock.currentTimeMillis
          return Option.map(yield* exceeded(account), (spent) => pauseOf(spent, now, secondsLeft(now) * 1_000))
        })

      const measuredOf = (account: AccountId, now: number) => {
        const known = measured.get(account) ?? { since: now, own: 0, texts: new Map() }
        measured.set(account, known)
        return known
      }

      /** Several accounts with the same text share its cost. Returns the accounts. */
      const charge = (platform: Platform, costs: ReadonlyArray<MatchingCost>) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const owners = yield* ownersOf(platform, costs)
          const charged = new Set<AccountId>()
          for (const { text, seconds } of costs) {
            const accounts = owners.get(text) ?? NOBODY
            for (const account of accounts) {
              const share = seconds / accounts.size
              const known = measuredOf(account, now)
              known.own += share
              const key = keyOf(platform.id, text)
              known.texts.set(key, (known.texts.get(key) ?? 0) + share)
              charged.add(account)
              yield* quotas.spend(account, "matching", share)
            }
          }
          const unowned = costs.filter(({ text }) => !owners.has(text))
          if (unowned.length > 0) yield* registrations.exclusively(platform.id, unregisterUnowned(platform, unowned))
          return charged
        })

      const ownersOf = (platform: Platform, costs: ReadonlyArray<Pick<MatchingCost, "text">>) =>
        Effect.map(
          rules.textOwners(
            platform.id,
            costs.map(({ text }) => text)
          ),
          (all) => {
            const owners = new Map<string, Set<AccountId>>()
            for (const { text, accountId } of all) {
              owners.set(text, (owners.get(text) ?? new Set<AccountId>()).add(accountId))
            }
            return owners
          }
        )

      /** Another server may have paused the rules of a text. */
      const unregisterUnowned = (platform: Platform, texts: ReadonlyArray<Omit<MatchingCost, "seconds">>) =>
        Effect.gen(function* () {
          const owners = yield* ownersOf(platform, texts)
          const unowned = texts.filter(({ text }) => !owners.has(text))
          yield* Effect.orDie(platform.unregister(unowned.map(({ platformRuleId }) => platformRuleId)))
        })

      const relieve = (account: AccountId, spent: Spent) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const { since, own, texts } = measuredOf(account, now)
          const elapsed = Math.max(MEASURED_SECONDS, (now - since) / 1_000)
          // Of what the account may use, other servers use a part.
          const allowed = spent.limit * (elapsed / WINDOW_SECONDS) * Math.min(1, own / spent.used)
          const chosen = new Set(dearest(texts, allowed))
          if (chosen.size === 0) return
          // The next pauses depend on what the other rules cost from now on.
          measured.set(account, { since: now, own, texts: new Map() })
          for (const platform of yield* platforms.all) {
            const all = (yield* rules.registrationsOn(platform.id)).filter(
              (one) => one.accountId === account && chosen.has(keyOf(platform.id, one.text))
            )
            if (all.length > 0) yield* pauseAll(platform, account, all, spent)
          }
        })

      const pauseAll = (platform: Platform, account: AccountId, all: ReadonlyArray<StoredRegistration>, spent: Spent) =>
        Effect.gen(function* () {
          const selector = { account, rule: Option.none(), platforms: [platform.id] }
          const { gaps } = yield* rules.ruleCoverage(selector, MAX_GAPS)
          let paused = 0
          for (let from = 0; from < all.length; from += PAUSES_AT_ONCE) {
            const some = all.slice(from, from + PAUSES_AT_ONCE)
            paused += yield* registrations.exclusively(platform.id, pauseSome(platform, some, gaps, spent))
          }
          if (paused === 0) return
          yield* Effect.logWarning(
            `Paused ${counted(paused, "rule")} of account "${account}" on "${platform.id}": ${describeSpent(spent)}`
          )
        })

      const pauseSome = (
        platform: Platform,
        all: ReadonlyArray<StoredRegistration>,
        gaps: ReadonlyArray<RuleGap>,
        spent: Spent
      ) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const at = Timestamp.fromMillis(now)
          let paused = 0
          for (const { ruleId, text } of all) {
            // It may have changed since it was measured.
            const held = (yield* rules.registrations(ruleId)).find((one) => one.platform === platform.id)
            if (held?.text !== text || held.state !== "active") continue
            const pause = pauseOf(spent, now, pauseMillis(ruleId, gaps, now))
            yield* rules.fail(ruleId, platform.id, { reason: pause.reason, pause, lostSince: at, at })
            yield* Metrics.gap(platform.id, pause.by)
            paused++
          }
          const texts = all.flatMap(({ text, platformRuleId }) =>
            Option.toArray(Option.map(platformRuleId, (id) => ({ text, platformRuleId: id })))
          )
          // A text that another account also has stays.
          yield* unregisterUnowned(platform, texts)
          return paused
        })

      const endPauses = (platform: Platform) =>
        Effect.gen(function* () {
          const at = yield* Timestamp.now
          let ended = 0
          for (const account of yield* rules.pausedAccounts(platform.id, "matching")) {
            const limit = platform.drainCosts === undefined ? 0 : millisOf(yield* limitOf(account))
            ended += yield* rules.endPauses(platform.id, { by: "matching", limit, at, account })
          }
          if (ended === 0) return
          yield* Effect.logInfo(`The pause of ${counted(ended, "rule")} on "${platform.id}" is over`)
          yield* registrations.reconcileOne(platform)
        })

      const enforceOn = (platform: Platform, isTimeToEnd: boolean) =>
        Effect.gen(function* () {
          if (platform.drainCosts === undefined) {
            if (!released.has(platform.id)) yield* endPauses(platform)
            return void released.add(platform.id)
          }
          const costs = yield* platform.drainCosts
          if (costs.length > 0) {
            for (const account of yield* charge(platform, costs)) {
              const spent = yield* exceeded(account)
              if (Option.isSome(spent)) yield* relieve(account, spent.value)
            }
          }
          if (isTimeToEnd) yield* endPauses(platform)
        })

      const enforce = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const present = Math.floor(now / (WINDOW_SECONDS * 1_000))
        if (present !== window) measured.clear()
        window = present
        const isTimeToEnd = now - endedAt >= END_INTERVAL_MILLIS
        if (isTimeToEnd) endedAt = now
        for (const platform of yield* platforms.all) yield* enforceOn(platform, isTimeToEnd)
      }).pipe(
        // Debug level: other services report that the store is down.
        Effect.catchAll(({ cause }: StoreUnavailable) => Effect.logDebug("Cannot charge the matching", cause)),
        Effect.catchAllDefect((defect) => Effect.logError("Cannot charge the matching", defect))
      )

      return Context.make(MatchingLimits, { enforce }).pipe(Context.add(Pauses, { pauseFor }))
    })
  )
}

// ---- helpers ----

interface Measured {
  /** In milliseconds. */
  readonly since: number
  /** All seconds of the present minute. */
  own: number
  /** Seconds since then, by `keyOf`. */
  readonly texts: Map<string, number>
}

/** Seconds per minute, and in the present one. */
interface Spent {
  readonly limit: number
  readonly used: number
}

const NOBODY: ReadonlySet<AccountId> = new Set()

/** At least: a burst of one second is not taken for a minute of it. */
const MEASURED_SECONDS = 10

/** Other changes to the platform wait for them. */
const PAUSES_AT_ONCE = 50

const MAX_GAPS = 1_000

const END_INTERVAL_MILLIS = 5_000

const FIRST_PAUSE_MILLIS = 600_000
const LONGEST_PAUSE_MILLIS = 3_600_000

const keyOf = (platform: PlatformId, text: string): string => `${platform}\n${text}`

const millisOf = (seconds: number): number => Math.ceil(seconds * 1_000)

/** Doubled if the rule has run for less time than its last pause took. */
const pauseMillis = (rule: RuleId, gaps: ReadonlyArray<RuleGap>, now: number): number => {
  const last = gaps.find(({ ruleId, cause }) => ruleId === rule && cause === "matching")
  if (last === undefined || Option.isNone(last.to)) return FIRST_PAUSE_MILLIS
  const end = Date.parse(last.to.value)
  const length = end - Date.parse(last.from)
  if (now - end >= length) return FIRST_PAUSE_MILLIS
  return Math.min(LONGEST_PAUSE_MILLIS, Math.max(FIRST_PAUSE_MILLIS, 2 * length))
}

const pauseOf = (spent: Spent, now: number, millis: number): LimitPause => {
  const until = Timestamp.fromMillis(now + millis)
  return {
    by: "matching",
    reason: `paused: ${describeSpent(spent)}; it is registered again at ${until}. Make the filter cheaper, for instance with fewer wildcards and fuzzy words, or ask the operator to raise the limit "matching"`,
    until,
    limit: millisOf(spent.limit)
  }
}

const describeSpent = ({ limit, used }: Spent): string =>
  `matching the rules of the account took ${round(used)} of ${round(limit)} seconds in this minute`

const round = (seconds: number): number => Number(seconds.toPrecision(3))
