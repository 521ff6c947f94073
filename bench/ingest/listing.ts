/** Measures the time to list a page of matches in stores of several sizes, in turns. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option, Redacted } from "effect"
import pg from "pg"
import * as Postgres from "../../adapters/sql/postgres.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { fromUuid, toUuid } from "../../core/model/Ids.ts"
import { Random } from "../engine/workload/random.ts"
import { isSmoke } from "../figures.ts"
import { postgresServer } from "./engines.ts"
import { somePayloads } from "./posts.ts"
import { type AccountRules, layer, makeRules } from "./setup.ts"

const PAGE = 50
const ROUNDS = isSmoke ? 1 : 20
const PAGES_PER_TURN = isSmoke ? 10 : 100

export interface Listing {
  readonly rows: number
  /** In milliseconds, for every call. */
  readonly newest: Array<number>
  readonly deep: Array<number>
}

export const measureLists = (sizes: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    // Listing does not depend on the WAL, and the largest store fills faster without it.
    const { url } = yield* postgresServer(["shared_buffers=512MB", "wal_level=minimal", "max_wal_senders=0"])
    const stores = yield* Effect.forEach(sizes, (rows) => openStore(url, rows))
    const random = new Random(5)
    for (let round = -1; round < ROUNDS; round++) {
      for (const { lists, listing } of stores) {
        const newest = yield* lists(random, false)
        const deep = yield* lists(random, true)
        if (round < 0) continue
        listing.newest.push(...newest)
        listing.deep.push(...deep)
      }
    }
    return stores.map(({ listing }) => listing)
  })

// ---- helpers ----

const openStore = (server: string, rows: number) =>
  Effect.gen(function* () {
    const url = new URL(server)
    url.pathname = `rows_${rows}`
    yield* Effect.promise(() => createDatabase(server, `rows_${rows}`))
    const context = yield* Layer.build(layer(Postgres.layerWith({ url: Redacted.make(url.href) })))
    const owned = yield* Effect.provide(makeRules, context)
    yield* Effect.provide(fill(owned, rows), context)
    const lists = (random: Random, isDeep: boolean) =>
      Effect.provide(listPages(owned, { rows, random, isDeep }), context)
    const listing: Listing = { rows, newest: [], deep: [] }
    return { lists, listing }
  })

const createDatabase = async (server: string, name: string) => {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
}

/** In time order, each for a random rule. */
const fill = ({ account, rules }: AccountRules, rows: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const payloads = JSON.stringify(somePayloads(64))
    const insertAll = Effect.gen(function* () {
      // Rows inserted into a table that was truncated in the same transaction are not logged.
      yield* sql`truncate matches`
      // Skips the foreign key check.
      yield* sql`set local session_replication_role = replica`
      yield* sql`
        with samples as materialized (select array_agg(value) as payloads from jsonb_array_elements(${payloads}::jsonb))
        insert into matches (id, rule_id, account_id, platform, platform_post_id, payload, bytes, created_at)
        select
          ('${sql.literal(UUID_START)}' || lpad(to_hex(n), 12, '0'))::uuid,
          (${rules.map(toUuid)}::uuid[])[1 + (hashint8(n) & 2147483647) % ${rules.length}::int],
          ${toUuid(account)}::uuid, 'x', (1800000000000000000 + n * 65536)::text, payloads[1 + n % 64], 1000, now()
        from generate_series(1::bigint, ${rows}::bigint) n, samples`
    })
    yield* sql.withTransaction(insertAll)
    yield* sql`vacuum analyze matches`
  })

/** From this row on every rule has a full page. */
const FIRST_DEEP_ROW = 9_000

const UUID_START = "01890000-0000-7000-8000-"

interface Pages {
  readonly rows: number
  readonly random: Random
  /** A page from anywhere in the history, not the newest. */
  readonly isDeep: boolean
}

const listPages = ({ account, rules }: AccountRules, { rows, random, isDeep }: Pages) =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    const millis: Array<number> = []
    for (let page = 0; page < PAGES_PER_TURN; page++) {
      const row = random.between(FIRST_DEEP_ROW, rows)
      const before = isDeep
        ? Option.some(fromUuid("match", UUID_START + row.toString(16).padStart(12, "0")))
        : Option.none()
      const start = performance.now()
      const { items } = yield* store.list({
        account,
        rules: Option.some([random.pick(rules)]),
        platforms: ["x"],
        before,
        limit: PAGE
      })
      millis.push(performance.now() - start)
      if (items.length !== PAGE)
        return yield* Effect.dieMessage(`A page has ${items.length} matches instead of ${PAGE}`)
    }
    return millis
  })
