/** `ShadowStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { Payload } from "../../core/matches/Payload.ts"
import { firstMatchIdAt, fromUuid, type RuleId, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate } from "../../core/model/Timestamp.ts"
import {
  type Compared,
  type ComparedPair,
  type Pair,
  type ShadowMatch,
  ShadowStore,
  SIDES,
  type Side
} from "../../core/shadows/ShadowStore.ts"
import { jsonbParameter, storableJson } from "./parameters.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const insert = (matches: ReadonlyArray<ShadowMatch>) => {
    const json = storableJson(matches.map((match) => ({ ...match, rule_id: toUuid(match.rule_id) })))
    return sql`insert into shadow_matches (rule_id, platform, platform_post_id, payload, created_at)
      select x.rule_id, x.platform, x.platform_post_id, x.payload, x.created_at
      from jsonb_to_recordset(${jsonbParameter(json)}::jsonb) as x(
        rule_id uuid, platform text, platform_post_id text, payload jsonb, created_at timestamptz
      )
      join rules r on r.id = x.rule_id
      on conflict do nothing`
  }

  /** As in the unique indexes. */
  const keyOf = (table: string) =>
    sql.literal(
      `case when octet_length(${table}.platform_post_id) <= 200 then ${table}.platform_post_id else md5(${table}.platform_post_id) end`
    )

  const compare = (pair: ComparedPair, samples: number) => sql<ComparedRow>`
    with present as (
      select platform, platform_post_id, payload, created_at from matches
      where rule_id = ${toUuid(pair.rule)} and platform = any(${pair.platforms}::text[])
        and id >= ${toUuid(firstMatchIdAt(Date.parse(pair.since)))} and created_at >= ${pair.since} and not reapplied
        and rule_version >= ${pair.fromVersion}
    ), candidate as (
      select platform, platform_post_id, payload, created_at from shadow_matches s
      where rule_id = ${toUuid(pair.shadow)} and platform = any(${pair.platforms}::text[])
        and created_at >= ${pair.since}
        and not exists (select 1 from matches e where e.rule_id = ${toUuid(pair.rule)} and e.platform = s.platform
          and ${keyOf("e")} = ${keyOf("s")} and e.rule_version < ${pair.fromVersion})
    ), sides as (
      select coalesce(p.platform, c.platform) as platform, coalesce(p.platform_post_id, c.platform_post_id) as post,
        coalesce(p.payload, c.payload)::text as payload, coalesce(p.created_at, c.created_at) as at,
        case when p.platform is null then 'candidate_only' when c.platform is null then 'present_only'
          else 'both' end as side
      from present p full join candidate c using (platform, platform_post_id)
    ), numbered as (
      select *, row_number() over (partition by side order by at desc) as place, count(*) over (partition by side) as count
      from sides
    )
    select side, count::int, platform, post, payload from numbered where place <= greatest(1, ${samples}::int)
    order by side, place`

  const handOver = ({ rule, shadow, platforms, since }: Pair) => {
    const isKnownIn = (table: "matches" | "shadow_matches") => sql`exists (select 1 from ${sql(table)} k
      where k.rule_id = ${toUuid(rule)} and k.platform = s.platform and ${keyOf("k")} = ${keyOf("s")})`
    return sql<{ readonly moved: number }>`with moved as (
        update shadow_matches s set rule_id = ${toUuid(rule)}
        where s.rule_id = ${toUuid(shadow)} and s.platform = any(${platforms}::text[]) and s.created_at >= ${since}
          and not ${isKnownIn("matches")} and not ${isKnownIn("shadow_matches")}
        returning 1
      ) select count(*)::int as moved from moved`
  }

  const waitingRules = sql<{ readonly id: string; readonly version: number }>`select id, version from rules r
    where candidate_of is null and exists (select 1 from shadow_matches where rule_id = r.id)`

  const waiting = (rule: RuleId, limit: number) =>
    sql<ShadowRow>`select platform, platform_post_id, payload::text, created_at from shadow_matches
      where rule_id = ${toUuid(rule)} order by created_at, platform, platform_post_id limit ${limit}`

  const settle = (rule: RuleId, matches: ReadonlyArray<ShadowMatch>) => {
    const platforms = matches.map(({ platform }) => platform)
    const posts = matches.map(({ platform_post_id }) => platform_post_id)
    return sql`delete from shadow_matches s using unnest(${platforms}::text[], ${posts}::text[]) as x(platform, post)
      where s.rule_id = ${toUuid(rule)} and s.platform = x.platform and s.platform_post_id = x.post`
  }

  return ShadowStore.of({
    insert: (matches) => Effect.asVoid(insert(matches)).pipe(unavailable("shadows.insert")),
    compare: (pair, samples) =>
      Effect.map(compare(pair, samples), (rows) => toCompared(rows, samples)).pipe(unavailable("shadows.compare")),
    handOver: (pair) => Effect.map(handOver(pair), ([row]) => row?.moved ?? 0).pipe(unavailable("shadows.handOver")),
    waitingRules: Effect.map(waitingRules, (rows) =>
      rows.map(({ id, version }) => ({ id: fromUuid("rule", id), version }))
    ).pipe(unavailable("shadows.waitingRules")),
    waiting: (rule, limit) =>
      Effect.map(waiting(rule, limit), (rows) =>
        rows.map((row) => ({
          ...row,
          rule_id: rule,
          created_at: fromDate(row.created_at),
          payload: new Payload(row.payload)
        }))
      ).pipe(unavailable("shadows.waiting")),
    settle: (rule, matches) => Effect.asVoid(settle(rule, matches)).pipe(unavailable("shadows.settle")),
    trim: ({ before, keep }) =>
      Effect.gen(function* () {
        const floors = yield* sql<{ readonly id: string; readonly floor: Date }>`
          select r.id, s.floor from rules r cross join lateral (
            select greatest(${before}::timestamptz, (
              select created_at from shadow_matches where rule_id = r.id
              order by created_at desc offset ${keep} limit 1
            ) + interval '1 millisecond') as floor
          ) s where r.purpose = 'shadow' and r.created_at < s.floor`
        for (const { id, floor } of floors) {
          yield* sql`update rules set created_at = ${floor} where id = ${id}`
          yield* sql`delete from shadow_matches where rule_id = ${id} and created_at < ${floor}`
        }
      }).pipe(sql.withTransaction, unavailable("shadows.trim"))
  })
})

export const layer: Layer.Layer<ShadowStore, never, SqlClient> = Layer.effect(ShadowStore, make)

// ---- helpers ----

interface ComparedRow {
  readonly side: Side
  readonly count: number
  readonly platform: PlatformId
  readonly post: string
  readonly payload: string
}

interface ShadowRow {
  readonly platform: PlatformId
  readonly platform_post_id: string
  readonly payload: string
  readonly created_at: Date
}

const toCompared = (rows: ReadonlyArray<ComparedRow>, samples: number): Compared => {
  const of = (side: Side) => rows.filter((row) => row.side === side)
  const perSide = <A>(make: (rows: ReadonlyArray<ComparedRow>) => A) =>
    Object.fromEntries(SIDES.map((side) => [side, make(of(side))])) as Record<Side, A>
  return {
    counts: perSide(([first]) => first?.count ?? 0),
    samples: perSide((found) =>
      found
        .slice(0, samples)
        .map(({ platform, post, payload }) => ({ platform, platform_post_id: post, payload: new Payload(payload) }))
    )
  }
}
