/** `LimitStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option } from "effect"
import { fromUuid, toUuid } from "../../core/model/Ids.ts"
import type { WindowLimit } from "../../core/quotas/Limit.ts"
import { type Count, LimitStore } from "../../core/quotas/LimitStore.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const shareCounts = (server: string, counts: ReadonlyArray<Count>) =>
    Effect.gen(function* () {
      const rows = JSON.stringify(
        counts.map(({ account, limit, window, used }) => ({
          account_id: toUuid(account),
          name: limit,
          minute: window,
          used
        }))
      )
      const own = sql`jsonb_to_recordset(${rows}::jsonb) as own(account_id uuid, name text, minute integer, used float8)`
      yield* sql`insert into account_counts (account_id, name, minute, server, used)
        select account_id, name, minute, ${server}, used from ${own}
        on conflict (account_id, name, minute, server) do update set used = excluded.used`
      yield* sql`delete from account_counts where minute < ${Math.max(...counts.map(({ window }) => window))}`
      const others = yield* sql<OtherRow>`select own.account_id, own.name, own.minute, coalesce(sum(c.used), 0) as used
        from ${own} left join account_counts c
          on c.account_id = own.account_id and c.name = own.name and c.minute = own.minute and c.server <> ${server}
        group by own.account_id, own.name, own.minute`
      return others.map(toCount)
    }).pipe(unavailable("limits.shareCounts"))

  return LimitStore.of({
    limitsOf: (account) =>
      sql<{ readonly name: string; readonly value: string }>`
        select name, value from account_limits where account_id = ${toUuid(account)}`.pipe(
        Effect.map((rows) => new Map(rows.map(({ name, value }) => [name, Number(value)]))),
        unavailable("limits.of")
      ),
    setLimit: (account, name, value) =>
      Option.match(value, {
        onNone: () => sql`delete from account_limits where account_id = ${toUuid(account)} and name = ${name}`,
        onSome: (limit) => sql`insert into account_limits (account_id, name, value)
          values (${toUuid(account)}, ${name}, ${limit})
          on conflict (account_id, name) do update set value = excluded.value`
      }).pipe(Effect.asVoid, unavailable("limits.set")),
    shareCounts
  })
})

export const layer: Layer.Layer<LimitStore, never, SqlClient> = Layer.effect(LimitStore, make)

// ---- helpers ----

interface OtherRow {
  readonly account_id: string
  readonly name: WindowLimit
  readonly minute: number
  readonly used: number
}

const toCount = ({ account_id, name, minute, used }: OtherRow): Count => ({
  account: fromUuid("acct", account_id),
  limit: name,
  window: minute,
  used
})
