/** `GrantStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Array as Arr, Effect, Layer, Option } from "effect"
import type { GrantEnd, GrantScope } from "../../core/grants/Grant.ts"
import {
  type GrantSelector,
  GrantStore,
  KEPT_GRANTS,
  KEPT_TOKENS,
  type NewGrant,
  type NewTokens,
  type StoredGrant,
  withKeyEnd
} from "../../core/grants/GrantStore.ts"
import { fromUuid, type GrantId, toUuid } from "../../core/model/Ids.ts"
import { fromDate, fromMillis, type Timestamp } from "../../core/model/Timestamp.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const columns = sql.literal(
    "g.id, g.account_id, g.client_id, g.client_name, g.redirect_host, g.scope, g.resource, g.key_id, g.created_at, g.last_used_at, g.expires_at, g.ended_at, g.ended_by, g.generation, least(k.revoked_at, k.expires_at) as key_ends_at"
  )
  const joined = sql`grants g join keys k on k.id = g.key_id`

  const insert = (grant: NewGrant) =>
    Effect.gen(function* () {
      yield* sql`delete from grants g using keys k
        where g.account_id = ${toUuid(grant.account_id)} and k.id = g.key_id
        and (g.ended_at is not null or least(g.expires_at, k.revoked_at, k.expires_at) <= ${grant.created_at})
        and g.id not in (
          select id from grants where account_id = ${toUuid(grant.account_id)} order by id desc limit ${KEPT_GRANTS - 1}
        )`
      const inserted =
        yield* sql`insert into grants (id, account_id, key_id, client_id, client_name, redirect_host, scope, resource,
          code_digest, redirect_uri, challenge, code_expires_at, created_at, expires_at)
        values (${toUuid(grant.id)}, ${toUuid(grant.account_id)}, ${toUuid(grant.key_id)}, ${grant.client_id},
          ${grant.client_name}, ${grant.redirect_host}, ${grant.scope}, ${grant.resource}, ${grant.codeDigest},
          ${grant.redirectUri}, ${grant.challenge}, ${grant.expiresAt}, ${grant.created_at}, ${grant.expiresAt})
        on conflict (id) do nothing returning 1`
      return inserted.length > 0
    }).pipe(sql.withTransaction, unavailable("grants.insert"))

  const addTokens = (id: GrantId, { access, refresh }: NewTokens, generation: number, at: Timestamp) =>
    Effect.gen(function* () {
      yield* sql`delete from grant_tokens where grant_id = ${toUuid(id)} and (expires_at <= ${at} or digest in (
        select digest from grant_tokens where grant_id = ${toUuid(id)}
        order by generation desc, expires_at desc offset ${KEPT_TOKENS - 2}
      ))`
      yield* sql`insert into grant_tokens (digest, grant_id, kind, generation, expires_at) values
        (${access.digest}, ${toUuid(id)}, 'access', ${generation}, ${access.expiresAt}),
        (${refresh.digest}, ${toUuid(id)}, 'refresh', ${generation}, ${refresh.expiresAt})`
    })

  const exchange: GrantStore["Type"]["exchange"] = (id, tokens, at) =>
    Effect.gen(function* () {
      const exchanged = yield* sql`update grants
        set generation = 1, rotated_at = ${at}, expires_at = ${tokens.refresh.expiresAt}
        where id = ${toUuid(id)} and generation = 0 and ended_at is null returning 1`
      if (exchanged.length > 0) yield* addTokens(id, tokens, 1, at)
      return exchanged.length > 0
    }).pipe(sql.withTransaction, unavailable("grants.exchange"))

  const rotate: GrantStore["Type"]["rotate"] = (id, generation, tokens, { at, graceMillis }) =>
    Effect.gen(function* () {
      const since = fromMillis(Date.parse(at) - graceMillis)
      // Of two concurrent calls, the second sees the number of the first.
      const rotated = yield* sql`update grants set
          rotated_at = case generation when ${generation} then ${at} else rotated_at end,
          generation = ${generation} + 1,
          expires_at = ${tokens.refresh.expiresAt}
        where id = ${toUuid(id)} and ended_at is null
          and (generation = ${generation} or (generation = ${generation} + 1 and rotated_at > ${since}))
        returning 1`
      if (rotated.length > 0) yield* addTokens(id, tokens, generation + 1, at)
      return rotated.length > 0
    }).pipe(sql.withTransaction, unavailable("grants.rotate"))

  const end = ({ id, account }: GrantSelector, { at, by }: { readonly at: Timestamp; readonly by: GrantEnd }) =>
    Effect.gen(function* () {
      const owned = sql.and([
        sql`g.id = ${toUuid(id)}`,
        ...Option.match(account, { onNone: () => [], onSome: (own) => [sql`g.account_id = ${toUuid(own)}`] })
      ])
      const ended = yield* sql<GrantRow>`update grants g
        set ended_by = case when g.ended_at is null then ${by} else g.ended_by end, ended_at = coalesce(g.ended_at, ${at})
        from keys k where k.id = g.key_id and ${owned} returning ${columns}`
      if (ended.length > 0) yield* sql`delete from grant_tokens where grant_id = ${toUuid(id)}`
      return Option.map(Arr.head(ended), (row) => toGrant(row, at))
    }).pipe(sql.withTransaction, unavailable("grants.end"))

  return GrantStore.of({
    insert,
    findByCode: (digest, at) =>
      Effect.map(
        sql<GrantRow & CodeRow>`select ${columns}, g.redirect_uri, g.challenge, g.code_expires_at
          from ${joined} where g.code_digest = ${digest}`,
        (rows) =>
          Option.map(Arr.head(rows), (row) => ({
            grant: toGrant(row, at),
            redirectUri: row.redirect_uri,
            challenge: row.challenge,
            expiresAt: fromDate(row.code_expires_at)
          }))
      ).pipe(unavailable("grants.findByCode")),
    findByToken: (digest, at) =>
      Effect.map(
        sql<GrantRow & TokenRow>`select ${columns}, t.kind, t.generation as of_generation, t.expires_at as until
          from grant_tokens t join grants g on g.id = t.grant_id join keys k on k.id = g.key_id
          where t.digest = ${digest}`,
        (rows) =>
          Option.map(Arr.head(rows), (row) => ({
            grant: toGrant(row, at),
            kind: row.kind,
            generation: row.of_generation,
            expiresAt: fromDate(row.until)
          }))
      ).pipe(unavailable("grants.findByToken")),
    list: (account, at) =>
      Effect.map(
        Option.match(account, {
          onNone: () => sql<GrantRow>`select ${columns} from ${joined} order by g.id`,
          onSome: (own) =>
            sql<GrantRow>`select ${columns} from ${joined} where g.account_id = ${toUuid(own)} order by g.id`
        }),
        Arr.map((row) => toGrant(row, at))
      ).pipe(unavailable("grants.list")),
    exchange,
    rotate,
    end,
    touch: (id, at) =>
      Effect.asVoid(sql`update grants set last_used_at = ${at} where id = ${toUuid(id)}`).pipe(
        unavailable("grants.touch")
      ),
    secret: (own) =>
      Effect.gen(function* () {
        const read = sql<{ readonly secret: string }>`select secret from grant_secret`
        const known = Arr.head(yield* read)
        if (Option.isSome(known)) return known.value.secret
        yield* sql`insert into grant_secret (only_row, secret) values (true, ${own}) on conflict do nothing`
        // If another process was faster, its secret wins.
        return yield* Effect.map(Effect.flatMap(read, Arr.head), ({ secret }) => secret)
      }).pipe(Effect.catchTag("NoSuchElementException", Effect.die), unavailable("grants.secret"))
  })
})

export const layer: Layer.Layer<GrantStore, never, SqlClient> = Layer.effect(GrantStore, make)

// ---- helpers ----

interface GrantRow {
  readonly id: string
  readonly account_id: string
  readonly client_id: string
  readonly client_name: string
  readonly redirect_host: string
  readonly scope: GrantScope
  readonly resource: string
  readonly key_id: string
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly expires_at: Date
  readonly ended_at: Date | null
  readonly ended_by: GrantEnd | null
  readonly generation: number
  readonly key_ends_at: Date | null
}

interface CodeRow {
  readonly redirect_uri: string
  readonly challenge: string
  readonly code_expires_at: Date
}

interface TokenRow {
  readonly kind: "access" | "refresh"
  readonly of_generation: number
  readonly until: Date
}

const toGrant = (row: GrantRow, at: Timestamp): StoredGrant =>
  withKeyEnd(
    {
      id: fromUuid("grant", row.id),
      account_id: fromUuid("acct", row.account_id),
      client_id: row.client_id,
      client_name: row.client_name,
      redirect_host: row.redirect_host,
      scope: row.scope,
      resource: row.resource,
      key_id: fromUuid("key", row.key_id),
      created_at: fromDate(row.created_at),
      last_used_at: toTimestamp(row.last_used_at),
      expires_at: fromDate(row.expires_at),
      ended_at: toTimestamp(row.ended_at),
      ended_by: row.ended_by,
      isExchanged: row.generation > 0,
      keyEndsAt: toTimestamp(row.key_ends_at)
    },
    at
  )

const toTimestamp = (date: Date | null): Timestamp | null => (date === null ? null : fromDate(date))
