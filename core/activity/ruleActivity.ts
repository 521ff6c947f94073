/** The use cases that read rules with what they did lately, and search, filter and sort them by it. */
import { Clock, Effect } from "effect"
import { Matches } from "../matches/Matches.ts"
import type { RecentCounts } from "../matches/MatchStore.ts"
import { InvalidArgument, type RuleNotFound, type StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import {
  MAX_RULES_PER_PAGE,
  type Rule,
  type RuleActivity,
  type RuleList,
  type RulePage,
  type RuleQuery
} from "../rules/Rule.ts"
import { BY_ACCOUNT } from "../rules/RuleStore.ts"
import { Rules } from "../rules/Rules.ts"
import { yieldIfTurnIsLong } from "../work/turns.ts"

/** One page. It is empty only if there is no further one. */
export const listRules = (
  account: AccountId,
  query: RuleQuery
): Effect.Effect<RuleList, InvalidArgument | StoreUnavailable, Rules | Matches> => {
  const { query: text, state, quiet_for, sort = "created", activity = false, ...page } = query
  if (sort !== "created") return sortedBy(sort, account, query)
  return text === undefined && state === undefined && quiet_for === undefined && !activity
    ? Effect.flatMap(Rules, (rules) => rules.list(account, page))
    : pageOf(account, query)
}

export const getRule = (
  account: AccountId,
  { rule_id, activity = false }: { readonly rule_id: string; readonly activity?: boolean }
): Effect.Effect<Rule, RuleNotFound | StoreUnavailable, Rules | Matches> =>
  Effect.gen(function* () {
    const rule = yield* (yield* Rules).get(account, rule_id)
    return activity ? ((yield* withActivity([rule]))[0] ?? rule) : rule
  })

// ---- helpers ----

/** More take too long to read for one answer. */
const MAX_SORTED = 10_000

type Sort = Exclude<RuleQuery["sort"], "created" | undefined>

const withActivity = (rules: ReadonlyArray<Rule>) =>
  Effect.gen(function* () {
    if (rules.length === 0) return rules
    // The embedded store reads the rules and the counters on this thread: each may take some milliseconds.
    yield* yieldIfTurnIsLong
    const counts = yield* (yield* Matches).recentCounts(rules.map(({ id }) => id))
    yield* yieldIfTurnIsLong
    return rules.map((rule) => ({ ...rule, activity: activityOf(rule, counts.get(rule.id)) }))
  })

const activityOf = ({ platforms }: Rule, counts: RecentCounts | undefined): RuleActivity => {
  const held = Object.entries(platforms)
  const state = (["failed", "paused"] as const).find((one) => held.some(([, { state }]) => state === one)) ?? "active"
  const [platform, first] = held.find(([, one]) => one.state === state) ?? []
  const reason = first?.reason ?? (first?.paused_by === "account" ? BY_ACCOUNT.reason : undefined)
  return {
    ...(counts !== undefined && { last_match_at: Timestamp.fromMillis(counts.last) }),
    matches_hour: counts?.hour ?? 0,
    matches_day: counts?.day ?? 0,
    state,
    ...(reason !== undefined && state !== "active" && { reason: held.length > 1 ? `${platform}: ${reason}` : reason })
  }
}

/** Reads the rules page after page, until `isEnough`. */
const readPages = (
  account: AccountId,
  { limit, cursor }: RulePage,
  isEnough: (rules: ReadonlyArray<Rule>, next: RuleList["next_cursor"]) => boolean,
  withCounts: boolean
) =>
  Effect.gen(function* () {
    const { list } = yield* Rules
    for (let after = cursor; ; ) {
      const page = yield* list(account, { ...(limit !== undefined && { limit }), ...(after && { cursor: after }) })
      const rules = withCounts ? yield* withActivity(page.rules) : page.rules
      if (isEnough(rules, page.next_cursor) || page.next_cursor === undefined) return
      after = page.next_cursor
      if (!withCounts) yield* yieldIfTurnIsLong
    }
  })

/** The rules that are wanted, newest first. */
const pageOf = (account: AccountId, query: RuleQuery) =>
  Effect.gen(function* () {
    const isWanted = wantedBy(query, yield* Clock.currentTimeMillis)
    const { limit, cursor, query: text, state, quiet_for, activity = false } = query
    const isFiltered = text !== undefined || state !== undefined || quiet_for !== undefined
    const withCounts = activity || state !== undefined || quiet_for !== undefined
    const found: Array<Rule> = []
    let further: RuleList["next_cursor"]
    const take = (rules: ReadonlyArray<Rule>, next: RuleList["next_cursor"]): boolean => {
      found.push(...rules.filter(isWanted))
      further = next
      return limit === undefined ? found.length > 0 : found.length > limit || (!isFiltered && found.length === limit)
    }
    const page = { ...(limit !== undefined && !isFiltered && { limit }), ...(cursor !== undefined && { cursor }) }
    yield* readPages(account, page, take, withCounts)
    const rules = found.slice(0, limit)
    const next = rules.length < found.length ? rules.at(-1)?.id : further
    return { rules, ...(next !== undefined && { next_cursor: next }) }
  })

const sortedBy = (sort: Sort, account: AccountId, query: RuleQuery) =>
  Effect.gen(function* () {
    const { limit = MAX_RULES_PER_PAGE, cursor } = query
    if (cursor !== undefined) return yield* invalid("cursor", `Leave it out: with "sort" ${sort} there is one page`)
    const isWanted = wantedBy(query, yield* Clock.currentTimeMillis)
    let first: ReadonlyArray<Rule> = []
    let read = 0
    let isTooMany = false
    const take = (rules: ReadonlyArray<Rule>, next: RuleList["next_cursor"]): boolean => {
      read += rules.length
      first = [...first, ...rules.filter(isWanted)].sort(orders[sort]).slice(0, limit)
      isTooMany = read >= MAX_SORTED && next !== undefined
      return isTooMany
    }
    yield* readPages(account, {}, take, true)
    if (!isTooMany) return { rules: first }
    const remedy = "leave it out, and set quiet_for, state or query to find some of them"
    return yield* invalid("sort", `The account has more than ${MAX_SORTED} rules, which cannot be sorted: ${remedy}`)
  })

const orders: Readonly<Record<Sort, (a: Rule, b: Rule) => number>> = {
  last_match: (a, b) =>
    compare(a.activity?.last_match_at ?? "", b.activity?.last_match_at ?? "") || compare(a.id, b.id),
  matches_day: (a, b) => compare(b.activity?.matches_day ?? 0, a.activity?.matches_day ?? 0) || compare(b.id, a.id)
}

const compare = <A extends string | number>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

const wantedBy = ({ query = "", state, quiet_for }: RuleQuery, now: number): ((rule: Rule) => boolean) => {
  const text = query.trim().toLowerCase()
  const before = quiet_for === undefined ? undefined : Timestamp.fromMillis(Math.max(0, now - millisOf(quiet_for)))
  return (rule) =>
    (text === "" || textsOf(rule).some((one) => one.toLowerCase().includes(text))) &&
    (state === undefined || rule.activity?.state === state) &&
    (before === undefined || (rule.activity?.last_match_at ?? rule.created_at) < before)
}

const textsOf = ({ id, name, intent, platforms }: Rule): ReadonlyArray<string> => [
  id,
  name,
  intent,
  ...Object.values(platforms).map((registration) => registration.translated_value)
]

const UNIT_MILLIS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: Timestamp.DAY_MILLIS }

const millisOf = (period: string): number => Number(period.slice(0, -1)) * (UNIT_MILLIS[period.slice(-1)] ?? 0)

const invalid = (path: string, message: string) => new InvalidArgument({ issues: [{ path, message }] })
