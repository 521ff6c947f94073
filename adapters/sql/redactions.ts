/** The statements that redact matches, and those that find the posts to look up. */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment, Statement } from "@effect/sql/Statement"
import { Clock, Effect, Option } from "effect"
import { redactionIds } from "../../core/matches/idOrder.ts"
import type { MatchStore, Redact } from "../../core/matches/MatchStore.ts"
import { fromUuid, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { CHANNEL } from "./Announcements.ts"
import { storableText } from "./parameters.ts"

/** The size of the payload `{}`. */
export const EMPTY_BYTES = 2

/** Runs in a transaction. `self` is the sender id of the notification to other processes. */
export const redactIn = (
  sql: SqlClient,
  { platform, postIds, redacted, atMost }: Redact,
  self: string
): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const ids = postIds.map(storableText)
    yield* sql`delete from set_aside where ${ofPosts(sql, platform, ids)}`
    yield* sql`delete from shadow_matches where ${ofPosts(sql, platform, ids)}`
    const rows = yield* unredactedStatement(sql, { platform, ids, atMost })
    const found = rows.map(({ id }) => id).sort()
    if (found.length === 0) return 0
    // Takes the turn of a writer until the end of the transaction: matches and redactions become visible in one order.
    const [order] = yield* sql<{ readonly newest: string }>`select newest from match_order for update`
    const newest = Option.map(Option.fromNullable(order?.newest), (id) => fromUuid("match", id))
    const redactions = redactionIds(yield* Clock.currentTimeMillis, newest, found.length).map(toUuid)
    yield* sql`
      with wanted as (
        select * from unnest(${found}::uuid[], ${redactions}::uuid[]) as w(match_id, id)
      ), freed as (
        select m.account_id, sum(m.bytes - ${EMPTY_BYTES}) as bytes from matches m join wanted w on w.match_id = m.id
        group by m.account_id order by m.account_id
      ), counted as (
        insert into account_usage as u (account_id, part, matches, bytes) select account_id, 0, 0, -bytes from freed
        on conflict (account_id, part) do update set bytes = u.bytes + excluded.bytes
      ), changed as (
        update matches m set payload = '{}', bytes = ${EMPTY_BYTES}, redacted_at = ${redacted.at}::timestamptz,
          redacted_reason = ${redacted.reason}
        from wanted w where m.id = w.match_id
        returning w.id, m.id as match_id, m.rule_id, m.account_id, m.platform, m.platform_post_id, m.created_at,
          m.redacted_at, m.redacted_reason, m.rule_version
      ), added as (
        insert into redactions (id, match_id, rule_id, account_id, platform, platform_post_id, created_at, redacted_at,
          redacted_reason, rule_version)
        select * from changed
      )
      update match_order set newest = ${redactions.at(-1)}::uuid returning pg_notify(${CHANNEL}, ${self})`
    return found.length
  })

/** Locked matches are skipped: they are being deleted, or redacted by another process. */
export const unredactedStatement = (
  sql: SqlClient,
  {
    platform,
    ids,
    atMost
  }: { readonly platform: PlatformId; readonly ids: ReadonlyArray<string>; readonly atMost: number }
): Statement<{ readonly id: string }> => sql`
  select id from matches where ${ofPosts(sql, platform, ids)} and redacted_at is null
  limit ${atMost} for update skip locked`

/** Reads the primary key: the cost of a page does not depend on the number of stored matches. */
export const postsStatement = (
  sql: SqlClient,
  { platform, after, upTo, limit }: Parameters<MatchStore["Type"]["posts"]>[0]
): Statement<{ readonly id: string; readonly post_id: string | null }> => sql`
  select id, case when platform = ${platform} and redacted_at is null then platform_post_id end as post_id
  from matches
  where id > greatest(${Option.getOrNull(Option.map(after, toUuid))}::uuid, (select floor from retention))
    and id <= ${toUuid(upTo)}
  order by id limit ${limit}`

// ---- helpers ----

/** By the expression of the indexes, and by the id itself, as two long ids might have one digest. */
const ofPosts = (sql: SqlClient, platform: PlatformId, ids: ReadonlyArray<string>): Fragment => {
  const key = (id: string) => sql.literal(`case when octet_length(${id}) <= 200 then ${id} else md5(${id}) end`)
  return sql`platform = ${platform} and ${key("platform_post_id")} = any(array(
      select ${key("id")} from unnest(${ids}::text[]) as wanted(id)
    )) and platform_post_id = any(${ids}::text[])`
}
