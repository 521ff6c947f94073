/** The statement that counts matches over time. The trigger on `matches` keeps the counters. */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Statement } from "@effect/sql/Statement"
import { Option } from "effect"
import { endOf, UNIT_MILLIS, type Unit } from "../../core/matches/Bars.ts"
import type { BarCount, CountQuery, RecentCounts, RecentCountsQuery } from "../../core/matches/MatchStore.ts"
import { fromUuid, type RuleId, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"

/** A bar is the number of units since 1970. One row per rule and platform: a row per bar would take longer to decode. */
export interface CountRow {
  readonly rule_id: string | null
  readonly platform: PlatformId
  readonly bars: ReadonlyArray<number>
  readonly matches: ReadonlyArray<number>
}

/** Reads one index range per rule and platform. A row of the table has the counts of an hour. */
export const countsStatement = (
  sql: SqlClient,
  { account, rules, platforms, bars, isPerRule }: CountQuery
): Statement<CountRow> => {
  const [from, to] = [bars.from, endOf(bars)]
  const rule = sql.literal(isPerRule ? "r.id" : "null::uuid")
  const ofRules = Option.match(rules, {
    onNone: () => sql`true`,
    onSome: (ids) => sql`r.id = any(${ids.map(toUuid)}::uuid[])`
  })
  // `offset 0`: otherwise the planner may join with the counters of all accounts.
  const counted = sql`
    select ${rule} as rule_id, c.platform, c.bar, sum(c.matches)::float8 as matches
    from rules r cross join unnest(${[...new Set(platforms)]}::text[]) as p(platform) cross join lateral (
      select h.platform, ${sql.literal(barsOfHour[bars.unit])}
      where h.rule_id = r.id and h.platform = p.platform
        and h.hour >= ${Math.floor(from / UNIT_MILLIS.hour)} and h.hour < ${Math.ceil(to / UNIT_MILLIS.hour)}
      offset 0
    ) c
    where r.account_id = ${toUuid(account)} and ${ofRules} and c.matches > 0
      and c.bar >= ${from / UNIT_MILLIS[bars.unit]} and c.bar < ${to / UNIT_MILLIS[bars.unit]}
      and not exists (select 1 from registrations g where g.rule_id = r.id and g.state in ('pending', 'removing'))
    group by 1, 2, 3`
  return sql<CountRow>`
    select rule_id, platform, array_agg(bar) as bars, array_agg(matches) as matches
    from (${counted}) s group by rule_id, platform`
}

export const toBarCounts = ({ rule_id, platform, bars, matches }: CountRow, unit: Unit): ReadonlyArray<BarCount> => {
  const series = { ...(rule_id !== null && { rule: fromUuid("rule", rule_id) }), platform }
  return bars.map((bar, i) => ({ ...series, start: bar * UNIT_MILLIS[unit], matches: matches[i] ?? 0 }))
}

export interface RecentCountsRow {
  readonly rule_id: string
  /** Minutes since 1970. */
  readonly last: number
  readonly hour: number
  readonly day: number
}

/** Reads the newest counter, and those of the last day, of each rule and platform. */
export const recentCountsStatement = (
  sql: SqlClient,
  { rules, platforms, now }: RecentCountsQuery
): Statement<RecentCountsRow> => {
  const minute = Math.floor(now / UNIT_MILLIS.minute)
  /** The matches of a counter since this minute. */
  const since = (first: number) => sql`coalesce(sum(case
      when h.hour > ${Math.floor(first / 60)}::int then h.matches
      when h.hour = ${Math.floor(first / 60)}::int
        then (select sum(one) from unnest(h.minutes[${first % 60}::int:]) as m(one)) end), 0)::float8`
  return sql<RecentCountsRow>`
    select r.id as rule_id, max(l.last) as last, sum(d.hour) as hour, sum(d.day) as day
    from unnest(${rules.map(toUuid)}::uuid[]) as r(id)
      cross join unnest(${platforms}::text[]) as p(platform)
      cross join lateral (
        select h.hour * 60 + (select max(i) from generate_subscripts(h.minutes, 1) as i where h.minutes[i] > 0) as last
        from match_counts h where h.rule_id = r.id and h.platform = p.platform and h.matches > 0
        order by h.hour desc limit 1
      ) l
      cross join lateral (
        select ${since(minute - 60)} as hour, ${since(minute - 24 * 60)} as day
        from match_counts h
        where h.rule_id = r.id and h.platform = p.platform and h.hour >= ${Math.floor(minute / 60) - 24}
      ) d
    group by r.id`
}

export const toRecentCounts = ({ rule_id, last, hour, day }: RecentCountsRow): RecentCounts => ({
  rule: fromUuid("rule", rule_id),
  last: last * UNIT_MILLIS.minute,
  hour,
  day
})

export const totalsStatement = (
  sql: SqlClient,
  rules: ReadonlyArray<RuleId>
): Statement<{ readonly rule_id: string; readonly matches: number }> =>
  sql`select rule_id, sum(matches)::float8 as matches from match_counts
    where rule_id = any(${rules.map(toUuid)}::uuid[]) group by rule_id`

// ---- helpers ----

/** The bars that an hour has, or is a part of. */
const barsOfHour: Readonly<Record<Unit, string>> = {
  // `minutes` begins with the first minute that had a match.
  minute: `h.hour * 60 + array_lower(h.minutes, 1) + m.place::int - 1 as bar, m.matches
      from match_counts h cross join unnest(h.minutes) with ordinality as m(matches, place)`,
  hour: "h.hour as bar, h.matches from match_counts h",
  day: "h.hour / 24 as bar, h.matches from match_counts h"
}
