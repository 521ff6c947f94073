/** `KeyStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Array as Arr, Effect, Layer, Option } from "effect"
import type { Key, Scope } from "../../core/keys/Key.ts"
import { type KeySelector, KeyStore, type NewKey, type StoredAccount } from "../../core/keys/KeyStore.ts"
import { LastAdminKey } from "../../core/model/Errors.ts"
import { fromUuid, toUuid } from "../../core/model/Ids.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const columns = sql.literal(
    "k.id, k.account_id, a.name as account, k.name, k.scope, k.hint, k.created_at, k.last_used_at, k.expires_at, k.previous_secret_until, k.revoked_at"
  )
  const keys = sql`select ${columns} from keys k join accounts a on a.id = k.account_id`

  const stored = (key: NewKey) => sql<KeyRow>`${keys} where k.digest = ${key.digest} or k.id = ${toUuid(key.id)}`

  const account = ({ id, name, createdAt }: StoredAccount) =>
    Effect.gen(function* () {
      yield* sql`insert into accounts (id, name, created_at) values (${toUuid(id)}, ${name}, ${createdAt})
        on conflict (name) do nothing`
      const found = yield* sql<{ readonly id: string }>`select id from accounts where name = ${name}`
      return yield* Effect.map(Arr.head(found), ({ id }) => fromUuid("acct", id))
    }).pipe(Effect.catchTag("NoSuchElementException", Effect.die), unavailable("keys.account"))

  const insert = (key: NewKey) =>
    Effect.gen(function* () {
      const existing = yield* stored(key)
      if (Arr.isNonEmptyReadonlyArray(existing)) return toKey(existing[0])
      yield* sql`insert into keys (id, account_id, name, scope, hint, digest, created_at, expires_at)
        values (${toUuid(key.id)}, ${toUuid(key.accountId)}, ${key.name}, ${key.scope}, ${key.hint}, ${key.digest},
          ${key.createdAt}, ${Option.getOrNull(key.expiresAt)})
        on conflict do nothing`
      // Read after the insert: if another process was faster, its row wins.
      return yield* Effect.map(Effect.flatMap(stored(key), Arr.head), toKey)
    }).pipe(Effect.catchTag("NoSuchElementException", Effect.die), unavailable("keys.insert"))

  const insertFirst = (key: NewKey) =>
    Effect.gen(function* () {
      // Locks the account: the second of two concurrent calls sees the key of the first.
      yield* sql`select 1 from accounts where id = ${toUuid(key.accountId)} for update`
      const existing = yield* sql`select 1 from keys limit 1`
      return existing.length > 0 ? Option.none() : Option.some(yield* insert(key))
    }).pipe(sql.withTransaction, unavailable("keys.insertFirst"))

  const selected = ({ id, account }: KeySelector) =>
    sql.and([
      sql`a.id = k.account_id`,
      sql`k.id = ${toUuid(id)}`,
      ...Option.match(account, { onNone: () => [], onSome: (own) => [sql`k.account_id = ${toUuid(own)}`] })
    ])

  const isActive = (key: "k" | "other", at: Timestamp) =>
    sql`(${sql.literal(key)}.revoked_at is null
      and (${sql.literal(key)}.expires_at is null or ${sql.literal(key)}.expires_at > ${at}))`

  const revoke = (selector: KeySelector, { at, force }: { readonly at: Timestamp; readonly force: boolean }) =>
    Effect.gen(function* () {
      // Locks the account: of two concurrent revocations, the second sees the first.
      const found = yield* sql`select 1 from keys k, accounts a where ${selected(selector)} for update of a`
      if (found.length === 0) return Option.none()
      const revoked = yield* sql<KeyRow>`update keys k set revoked_at = coalesce(k.revoked_at, ${at})
        from accounts a where ${selected(selector)} and (
          ${force} or k.scope <> 'admin' or not ${isActive("k", at)} or exists (
            select 1 from keys other
            where other.account_id = k.account_id and other.id <> k.id and other.scope = 'admin'
              and ${isActive("other", at)}
          )
        )
        returning ${columns}`
      return revoked.length === 0 ? yield* new LastAdminKey({ keyId: selector.id }) : firstKey(revoked)
    }).pipe(sql.withTransaction, unavailable("keys.revoke"))

  const rotate: KeyStore["Type"]["rotate"] = (selector, { digest, hint, at, previousUntil }) =>
    sql<KeyRow>`update keys k
      set previous_digest = k.digest, previous_secret_until = ${previousUntil}, digest = ${digest}, hint = ${hint}
      from accounts a where ${selected(selector)} and ${isActive("k", at)}
      returning ${columns}`.pipe(Effect.map(firstKey), unavailable("keys.rotate"))

  return KeyStore.of({
    insert,
    insertFirst,
    account,
    accounts: (wanted) =>
      Effect.map(
        Option.match(wanted, {
          onNone: () => sql<AccountRow>`select id, name, created_at from accounts order by id`,
          onSome: (id) => sql<AccountRow>`select id, name, created_at from accounts where id = ${toUuid(id)}`
        }),
        Arr.map(({ id, name, created_at }) => ({ id: fromUuid("acct", id), name, createdAt: fromDate(created_at) }))
      ).pipe(unavailable("keys.accounts")),
    findByDigest: (digest, at) =>
      Effect.map(
        sql<KeyRow>`${keys} where k.digest = ${digest}
          or (k.previous_digest = ${digest} and k.previous_secret_until > ${at})`,
        firstKey
      ).pipe(unavailable("keys.findByDigest")),
    list: (account) =>
      Effect.map(
        Option.match(account, {
          onNone: () => sql<KeyRow>`${keys} order by k.id`,
          onSome: (own) => sql<KeyRow>`${keys} where k.account_id = ${toUuid(own)} order by k.id`
        }),
        Arr.map(toKey)
      ).pipe(unavailable("keys.list")),
    revoke,
    rotate,
    touch: (id, at) =>
      Effect.asVoid(sql`update keys set last_used_at = ${at} where id = ${toUuid(id)}`).pipe(unavailable("keys.touch"))
  })
})

export const layer: Layer.Layer<KeyStore, never, SqlClient> = Layer.effect(KeyStore, make)

// ---- helpers ----

interface AccountRow {
  readonly id: string
  readonly name: string
  readonly created_at: Date
}

interface KeyRow {
  readonly id: string
  readonly account_id: string
  readonly account: string
  readonly name: string
  readonly scope: Scope
  readonly hint: string
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly expires_at: Date | null
  readonly previous_secret_until: Date | null
  readonly revoked_at: Date | null
}

const toKey = (row: KeyRow): Key => ({
  id: fromUuid("key", row.id),
  account_id: fromUuid("acct", row.account_id),
  account: row.account,
  name: row.name,
  scope: row.scope,
  hint: row.hint,
  created_at: fromDate(row.created_at),
  last_used_at: toTimestamp(row.last_used_at),
  expires_at: toTimestamp(row.expires_at),
  previous_secret_until: toTimestamp(row.previous_secret_until),
  revoked_at: toTimestamp(row.revoked_at)
})

const toTimestamp = (date: Date | null): Timestamp | null => (date === null ? null : fromDate(date))

const firstKey = (rows: ReadonlyArray<KeyRow>): Option.Option<Key> => Option.map(Arr.head(rows), toKey)
