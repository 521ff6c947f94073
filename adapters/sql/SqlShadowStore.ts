/** `ShadowStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { firstMatchIdAt, fromUuid, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate } from "../../core/model/Timestamp.ts"
import {
  type Compared,
  type Pair,
  type ShadowMatch,
  ShadowStore,
  SIDES,
  type Side
} from "../../core/shadows/ShadowStore.ts"
import { jsonbParameter } from "./parameters.ts"
import { storableJson } from "./storable.ts"
import { unavailable } from "./unavailable.ts"

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

  const compare = (pair: Pair, samples: number) => sql<ComparedRow>`
    with present as (
      select platform, platform_post_id, payload, created_at from matches
      where rule_id = ${toUuid(pair.rule)} and platform = any(${pair.platforms}::text[])
        and id >= ${toUuid(firstMatchIdAt(Date.parse(pair.since)))} and created_at >= ${pair.since} and not reapplied
    ), candidate as (
      select platform, platform_post_id, payload, created_at from shadow_matches
      where rule_id = ${toUuid(pair.shadow)} and platform = any(${pair.platforms}::text[])
        and created_at >= ${pair.since}
    ), sides as (
      select coalesce(p.platform, c.platform) as platform, coalesce(p.platform_post_id, c.platform_post_id) as post,
        coalesce(p.payload, c.payload) as payload, coalesce(p.created_at, c.created_at) as at,
        case when p.platform is null then 'candidate_only' when c.platform is null then 'present_only'
          else 'both' end as side
      from present p full join candidate c using (platform, platform_post_id)
    ), numbered as (
      select *, row_number() over (partition by side order by at desc) as place, count(*) over (partition by side) as count
      from sides
    )
    select side, count::int, platform, post, payload from numbered where place <= greatest(1, ${samples}::int)
    order by side, place`

  const page = (
    { shadow, since, platforms }: Pair,
    { skip, limit }: { readonly skip: number; readonly limit: number }
  ) =>
    sql<ShadowRow>`select rule_id, platform, platform_post_id, payload, created_at from shadow_matches
      where rule_id = ${toUuid(shadow)} and platform = any(${platforms}::text[]) and created_at >= ${since}
      order by created_at, platform, platform_post_id offset ${skip} limit ${limit}`

  return ShadowStore.of({
    insert: (matches) => Effect.asVoid(insert(matches)).pipe(unavailable("shadows.insert")),
    compare: (pair, samples) =>
      Effect.map(compare(pair, samples), (rows) => toCompared(rows, samples)).pipe(unavailable("shadows.compare")),
    page: (pair, range) =>
      Effect.map(page(pair, range), (rows) =>
        rows.map((row) => ({
          ...row,
          rule_id: fromUuid("rule", row.rule_id),
          created_at: fromDate(row.created_at)
        }))
      ).pipe(unavailable("shadows.page")),
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
  readonly payload: Record<string, unknown>
}

interface ShadowRow {
  readonly rule_id: string
  readonly platform: PlatformId
  readonly platform_post_id: string
  readonly payload: Record<string, unknown>
  readonly created_at: Date
}

const toCompared = (rows: ReadonlyArray<ComparedRow>, samples: number): Compared => {
  const of = (side: Side) => rows.filter((row) => row.side === side)
  const perSide = <A>(make: (rows: ReadonlyArray<ComparedRow>) => A) =>
    Object.fromEntries(SIDES.map((side) => [side, make(of(side))])) as Record<Side, A>
  return {
    counts: perSide(([first]) => first?.count ?? 0),
    samples: perSide((found) =>
      found.slice(0, samples).map(({ platform, post, payload }) => ({ platform, platform_post_id: post, payload }))
    )
  }
}
