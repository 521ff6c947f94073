/**
 * The monthly budget of a platform: counts the posts that it delivers, and pauses the rules with the most posts before
 * the budget is used up.
 */
import { Clock, Context, Effect, Layer, Option, Queue } from "effect"
import { KeyStore } from "../keys/KeyStore.ts"
import type { Match } from "../matches/Match.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Ownership, streamOf } from "../ownership/Ownership.ts"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { Pauses } from "../rules/Pauses.ts"
import { Registrations } from "../rules/Registrations.ts"
import {
  isPausedBy,
  isPausedByAccount,
  type LimitPause,
  RuleStore,
  type StoredRegistration
} from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { counted } from "../text/counted.ts"
import type { BudgetUsage } from "./BudgetUsage.ts"
import { hoursUpTo, monthOf, PostCounts, type Subject } from "./PostCounts.ts"
import { ratesOf } from "./ratesOf.ts"
import { BURST_SHARE, textsToPause, WARN_SHARE } from "./textsToPause.ts"

/** `added`: how many of the matches were not stored before. */
export interface StoredBatch {
  readonly posts: number
  readonly matches: ReadonlyArray<Pick<Match, "rule_id" | "platform_post_id">>
  readonly added: number
}

export class PostBudget extends Context.Tag("core/PostBudget")<
  PostBudget,
  {
    /** How many posts are received and not stored yet. They count as used: the platform has charged them. */
    readonly setWaiting: (platform: Platform, posts: number) => Effect.Effect<void>
    /** Never fails: what cannot be stored now is stored with the next batch. */
    readonly count: (platform: Platform, batch: StoredBatch) => Effect.Effect<void>
    /** Pauses rules if the rest of the month would not fit into the budget. Ends pauses. Idempotent. */
    readonly enforce: Effect.Effect<void>
    /** Waits for a minute, or until another percent of a budget is used. */
    readonly due: Effect.Effect<void>
    /** None for a platform without budget and price. `viewer`: none for the operator. */
    readonly usage: (
      platform: Platform,
      viewer: Option.Option<AccountId>
    ) => Effect.Effect<Option.Option<BudgetUsage>, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<
    PostBudget | Pauses,
    never,
    PostCounts | RuleStore | Registrations | Platforms | KeyStore
  > = Layer.scopedContext(
    Effect.gen(function* () {
      const store = yield* PostCounts
      const rules = yield* RuleStore
      const registrations = yield* Registrations
      const platforms = yield* Platforms
      const { ifOwner } = yield* Ownership
      const keys = yield* KeyStore
      const scope = yield* Effect.scope
      const wake = yield* Queue.sliding<void>(1)
      const pending = new Map<PlatformId, Map<Subject, number>>()
      /** Posts that are received and not stored yet. */
      const waiting = new Map<PlatformId, number>()
      /** Posts until `enforce` is due. */
      const untilDue = new Map<PlatformId, number>()
      const accounts = new Map<RuleId, AccountId>()
      const warnedIn = new Map<PlatformId, string>()
      const reported = new Map<PlatformId, { readonly start: number; readonly used: number }>()
      /** Platforms without a budget, whose pauses ended. */
      const released = new Set<PlatformId>()
      let forgottenAt = ""

      const accountOf = (rule: RuleId) =>
        Effect.gen(function* () {
          const known = accounts.get(rule)
          if (known !== undefined) return Option.some(known)
          const [first] = yield* Effect.orElseSucceed(rules.registrations(rule), () => [])
          if (first !== undefined) accounts.set(rule, first.accountId)
          return Option.map(Option.fromNullable(first), ({ accountId }) => accountId)
        })

      const setWaiting = (platform: Platform, posts: number) =>
        Effect.suspend(() => {
          if (!isCounted(platform)) return Effect.void
          const added = Math.max(0, posts - (waiting.get(platform.id) ?? 0))
          waiting.set(platform.id, posts)
          const left = (untilDue.get(platform.id) ?? Number.POSITIVE_INFINITY) - added
          untilDue.set(platform.id, left)
          return left <= 0 ? Effect.asVoid(Queue.offer(wake, undefined)) : Effect.void
        })

      const count = (platform: Platform, { posts, matches, added }: StoredBatch) =>
        Effect.gen(function* () {
          if (!isCounted(platform) || posts === 0) return
          // A replay. The platform charges a post once.
          if (added === 0 && matches.length > 0) return
          const counts = pending.get(platform.id) ?? new Map<Subject, number>()
          const add = (subject: Subject, number = 1) => counts.set(subject, (counts.get(subject) ?? 0) + number)
          const seen = new Set<string>()
          add("all", posts)
          for (const { rule_id, platform_post_id } of matches) {
            add(rule_id)
            const account = yield* accountOf(rule_id)
            if (Option.isNone(account) || seen.has(`${account.value} ${platform_post_id}`)) continue
            seen.add(`${account.value} ${platform_post_id}`)
            add(account.value)
          }
          const now = yield* Clock.currentTimeMillis
          pending.delete(platform.id)
          yield* Effect.catchTag(
            store.add(platform.id, [monthOf(now), ...hoursUpTo(now, 1)], counts),
            "StoreUnavailable",
            () => Effect.sync(() => pending.set(platform.id, counts))
          )
        }).pipe(Effect.catchAllDefect((defect) => Effect.logError(`Cannot count posts of "${platform.id}"`, defect)))

      /** What the platform last reported for this month. Some comparisons come without usage, or with an older one. */
      const reportedBy = (platform: Platform, now: number) =>
        Effect.map(registrations.syncStatus(platform.id), ({ comparison }) => {
          const usage = Option.flatMap(comparison, (found) => found.usage)
          const month = Option.getOrUndefined(usage)?.month
          if (month !== undefined) reported.set(platform.id, month)
          const last = reported.get(platform.id)
          return last?.start === Timestamp.monthStart(now) ? last.used : 0
        })

      /** The larger one of our count and the platform's. */
      const usedBy = (platform: Platform, now: number) =>
        Effect.gen(function* () {
          const own = yield* store.count(platform.id, monthOf(now), "all")
          return Math.max(own + (waiting.get(platform.id) ?? 0), yield* reportedBy(platform, now))
        })

      const pause = (platform: Platform, paused: ReadonlyArray<StoredRegistration>, spent: Spent) => {
        const { budget, used, now } = spent
        const at = Timestamp.fromMillis(now)
        const pause = pauseAt(spent)
        return Effect.gen(function* () {
          // First in the store: if the platform fails, the reconciler removes the rules there.
          for (const { ruleId } of paused) {
            yield* rules.fail(ruleId, platform.id, { reason: pause.reason, pause, lostSince: at, at })
            yield* Metrics.gap(platform.id, "budget")
          }
          yield* Effect.logWarning(
            `Paused ${counted(paused.length, "rule")} on "${platform.id}" until ${pause.until}: ${describeSpent(spent)} (${percentOf(used, budget)} %)`
          )
          const ids = new Set(paused.flatMap(({ platformRuleId }) => Option.toArray(platformRuleId)))
          yield* Effect.catchAll(platform.unregister([...ids]), ({ message }) =>
            Effect.logWarning(`Cannot remove paused rules from "${platform.id}" now, retrying later: ${message}`)
          )
        })
      }

      const pauseFor = (platform: Platform, text: string) =>
        Effect.gen(function* () {
          const budget = budgetOf(platform)
          if (budget === 0) return Option.none()
          const now = yield* Clock.currentTimeMillis
          const used = yield* usedBy(platform, now)
          const isPausedNow = ({ pause }: StoredRegistration) =>
            Option.exists(pause, (one) => one.by === "budget" && one.limit >= budget && Date.parse(one.until) > now)
          const isPausedText =
            used >= budget ||
            (used >= budget * WARN_SHARE &&
              (yield* rules.registrationsOn(platform.id)).some((one) => one.text === text && isPausedNow(one)))
          return isPausedText ? Option.some(pauseAt({ budget, used, now })) : Option.none()
        })

      const pauseNoisiest = (platform: Platform, { budget, used, now }: Spent) =>
        Effect.gen(function* () {
          const settled = (yield* rules.registrationsOn(platform.id)).filter(
            (one) => one.state !== "pending" && one.state !== "removing" && !isPausedByAccount(one)
          )
          const [paused, others] = [settled.filter(isPaused), settled.filter((one) => !isPaused(one))]
          if (others.length === 0) return
          const windows = used >= budget * BURST_SHARE ? [2, 24] : [24]
          const recent = yield* Effect.forEach(windows, (hours) =>
            Effect.map(store.sums(platform.id, hoursUpTo(now, hours)), (counts) => ({ hours, counts }))
          )
          const chosen = new Set([
            // A new rule with the text of a paused one is paused with it.
            ...paused.map(({ text }) => text),
            ...textsToPause({
              budget,
              used,
              hoursLeft: (Timestamp.monthStart(now, 1) - now) / HOUR_MILLIS,
              ...ratesOf(others, recent, now)
            })
          ])
          const toPause = others.filter(({ text }) => chosen.has(text))
          if (toPause.length > 0) yield* pause(platform, toPause, { budget, used, now })
        })

      const enforceOn = (platform: Platform) =>
        Effect.gen(function* () {
          const budget = budgetOf(platform)
          if (budget === 0 && released.has(platform.id)) return
          const now = yield* Clock.currentTimeMillis
          const ended = yield* rules.endPauses(platform.id, {
            by: "budget",
            limit: budget,
            at: Timestamp.fromMillis(now)
          })
          if (ended > 0) {
            yield* Effect.logInfo(`The pause of ${counted(ended, "rule")} on "${platform.id}" is over`)
            yield* Effect.forkIn(registrations.recheck(platform.id), scope)
          }
          if (budget === 0) return void released.add(platform.id)
          const used = yield* usedBy(platform, now)
          untilDue.set(platform.id, Math.max(budget * WARN_SHARE - used, Math.min(budget / 100, budget - used), 1))
          if (used < budget * WARN_SHARE) return
          if (warnedIn.get(platform.id) !== monthOf(now)) {
            warnedIn.set(platform.id, monthOf(now))
            yield* Effect.logWarning(
              `Platform "${platform.id}" has delivered ${percentOf(used, budget)} % of the monthly budget of ${budget} posts`
            )
          }
          yield* registrations.exclusively(platform.id, pauseNoisiest(platform, { budget, used, now }))
        })

      const forget = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const [hour = ""] = hoursUpTo(now, 1)
        if (hour === forgottenAt) return
        forgottenAt = hour
        accounts.clear()
        const [oldest = hour] = hoursUpTo(now - KEPT_HOURS * HOUR_MILLIS, 1)
        yield* store.forget({ month: monthOf(Timestamp.monthStart(now, -KEPT_MONTHS)), hour: oldest })
      })

      const enforce = Effect.gen(function* () {
        // Only the owner of a platform changes its rules there.
        for (const platform of yield* platforms.all) yield* ifOwner(streamOf(platform.id), enforceOn(platform))
        yield* forget
      }).pipe(
        // Debug level: other services report that the store is down.
        Effect.catchAll(({ cause }) => Effect.logDebug("Cannot check the budgets", cause)),
        Effect.catchAllDefect((defect) => Effect.logError("Cannot check the budgets", defect))
      )

      const sharesOf = (platform: Platform, month: string, price: number) =>
        Effect.gen(function* () {
          const names = new Map((yield* keys.accounts(Option.none())).map(({ id, name }) => [id, name]))
          return [...(yield* store.sums(platform.id, [month]))]
            .flatMap(([subject, used]) =>
              isAccount(subject)
                ? [{ account: subject, name: names.get(subject) ?? "", used, cost: costOf(used, price) }]
                : []
            )
            .toSorted((a, b) => b.used - a.used)
            .slice(0, MAX_ACCOUNTS)
        })

      const usage = (platform: Platform, viewer: Option.Option<AccountId>) =>
        Effect.gen(function* () {
          if (!isCounted(platform)) return Option.none()
          const now = yield* Clock.currentTimeMillis
          const month = monthOf(now)
          const price = platform.capabilities.pricePerEvent ?? 0
          const limit = budgetOf(platform)
          const total = yield* usedBy(platform, now)
          const used = Option.isSome(viewer) ? yield* store.count(platform.id, month, viewer.value) : total
          const paused = yield* rules.paused(platform.id)
          const warning = warningOf({ budget: limit, used: total, paused })
          return Option.some({
            month,
            ...(limit > 0 && { limit, used_percent: percentOf(total, limit) }),
            ...(warning !== undefined && { warning }),
            used,
            price_per_post: price,
            cost: costOf(used, price),
            paused,
            ...(Option.isNone(viewer) && { accounts: yield* sharesOf(platform, month, price) })
          })
        })

      return Context.make(PostBudget, {
        setWaiting,
        count,
        enforce,
        due: Effect.raceFirst(Effect.sleep("1 minute"), Queue.take(wake)),
        usage
      }).pipe(Context.add(Pauses, { pauseFor }))
    })
  )
}

// ---- helpers ----

const HOUR_MILLIS = 3_600_000

const KEPT_HOURS = 48

const KEPT_MONTHS = 13

const MAX_ACCOUNTS = 1_000

const budgetOf = ({ capabilities }: Platform): number => capabilities.monthlyBudget ?? 0

const isCounted = (platform: Platform): boolean =>
  budgetOf(platform) > 0 || platform.capabilities.pricePerEvent !== undefined

/** `now` is in milliseconds. */
interface Spent {
  readonly budget: number
  readonly used: number
  readonly now: number
}

/** Until the end of the month. */
const pauseAt = (spent: Spent): LimitPause => {
  const until = Timestamp.fromMillis(Timestamp.monthStart(spent.now, 1))
  return {
    by: "budget",
    reason: `paused: ${describeSpent(spent)}; it is registered again on ${until.slice(0, 10)}`,
    until,
    limit: spent.budget
  }
}

const describeSpent = ({ budget, used }: Spent): string =>
  `the monthly budget of ${budget} posts is ${used >= budget ? "used up" : "nearly used up"}`

const isPaused = isPausedBy("budget")

const isAccount = (subject: Subject): subject is AccountId => subject.startsWith("acct_")

/** Rounded down: 100 only if all is used. */
const percentOf = (used: number, budget: number): number => Math.floor((used / budget) * 100)

const warningOf = ({ budget, used, paused }: Readonly<Record<"budget" | "used" | "paused", number>>) =>
  budget === 0 || (used < budget * WARN_SHARE && paused === 0)
    ? undefined
    : `${percentOf(used, budget)} % of the monthly budget of ${budget} posts used${paused === 0 ? "" : `, ${counted(paused, "rule")} paused`}`

const costOf = (used: number, price: number): number => Number((used * price).toFixed(6))
