/** `KeyStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Array as Arr, Effect, Layer, Option } from "effect"
import type { Key } from "../../core/keys/Key.ts"
import { KeyStore, type NewAccount, type NewKey } from "../../core/keys/KeyStore.ts"
import { fromUuid, type KeyId, toUuid } from "../../core/model/Ids.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import { unavailable } from "./unavailable.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const columns = sql.literal(
    "k.id, k.account_id, a.name as account, k.name, k.hint, k.created_at, k.last_used_at, k.revoked_at"
  )
  const keys = sql`select ${columns} from keys k join accounts a on a.id = k.account_id`

  const stored = (key: NewKey) => sql<KeyRow>`${keys} where k.digest = ${key.digest} or k.id = ${toUuid(key.id)}`

  const addAccount = ({ id, name, createdAt }: NewAccount) =>
    sql`insert into accounts (id, name, created_at) values (${toUuid(id)}, ${name}, ${createdAt})
      on conflict (name) do nothing`

  const account = (wanted: NewAccount) =>
    Effect.gen(function* () {
      yield* addAccount(wanted)
      const found = yield* sql<{ readonly id: string }>`select id from accounts where name = ${wanted.name}`
      return yield* Effect.map(Arr.head(found), ({ id }) => fromUuid("acct", id))
    }).pipe(Effect.catchTag("NoSuchElementException", Effect.die), unavailable("keys.account"))

  const add = (key: NewKey) =>
    Effect.gen(function* () {
      yield* addAccount({ ...key.account, createdAt: key.createdAt })
      yield* sql`insert into keys (id, account_id, name, hint, digest, created_at)
        select ${toUuid(key.id)}, a.id, ${key.name}, ${key.hint}, ${key.digest}, ${key.createdAt}
        from accounts a where a.name = ${key.account.name}
        on conflict do nothing`
    })

  const insert = (key: NewKey) =>
    Effect.gen(function* () {
      const existing = yield* stored(key)
      if (Arr.isNonEmptyReadonlyArray(existing)) return toKey(existing[0])
      yield* sql.withTransaction(add(key))
      // Read after the commit: if another process was faster, its row wins.
      return yield* Effect.map(Effect.flatMap(stored(key), Arr.head), toKey)
    }).pipe(Effect.catchTag("NoSuchElementException", Effect.die), unavailable("keys.insert"))

  const revoke = (id: KeyId, at: Timestamp) =>
    sql<KeyRow>`update keys k set revoked_at = coalesce(k.revoked_at, ${at})
      from accounts a where a.id = k.account_id and k.id = ${toUuid(id)}
      returning ${columns}`

  return KeyStore.of({
    insert,
    account,
    findByDigest: (digest) =>
      Effect.map(sql<KeyRow>`${keys} where k.digest = ${digest}`, firstKey).pipe(unavailable("keys.findByDigest")),
    list: Effect.map(sql<KeyRow>`${keys} order by k.id`, Arr.map(toKey)).pipe(unavailable("keys.list")),
    revoke: (id, at) => Effect.map(revoke(id, at), firstKey).pipe(unavailable("keys.revoke")),
    touch: (id, at) =>
      Effect.asVoid(sql`update keys set last_used_at = ${at} where id = ${toUuid(id)}`).pipe(unavailable("keys.touch"))
  })
})

export const layer: Layer.Layer<KeyStore, never, SqlClient> = Layer.effect(KeyStore, make)

// ---- helpers ----

interface KeyRow {
  readonly id: string
  readonly account_id: string
  readonly account: string
  readonly name: string
  readonly hint: string
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly revoked_at: Date | null
}

const toKey = (row: KeyRow): Key => ({
  id: fromUuid("key", row.id),
  account_id: fromUuid("acct", row.account_id),
  account: row.account,
  name: row.name,
  hint: row.hint,
  created_at: fromDate(row.created_at),
  last_used_at: row.last_used_at === null ? null : fromDate(row.last_used_at),
  revoked_at: row.revoked_at === null ? null : fromDate(row.revoked_at)
})

const firstKey = (rows: ReadonlyArray<KeyRow>): Option.Option<Key> => Option.map(Arr.head(rows), toKey)
