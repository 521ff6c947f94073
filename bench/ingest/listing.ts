/** Measures the time to list a page of matches in stores of several sizes, in turns. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option, Redacted } from "effect"
import pg from "pg"
import * as Postgres from "../../adapters/sql/postgres.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { fromUuid, toUuid } from "../../core/model/Ids.ts"
import { Random } from "../../fixtures/distributions.ts"
import { isSmoke } from "../figures.ts"
import { postgresServer } from "./engines.ts"
import { somePayloads } from "./posts.ts"
import { type AccountRules, layer, makeRules } from "./setup.ts"

const PAGE = 50
const ROUNDS = isSmoke ? 1 : 20
const PAGES_PER_TURN = isSmoke ? 10 : 25

/** All rules belong to one account. Most matches are of the busy ones. */
const RULES = 1_000
const BUSY_RULES = 100

export interface Kind {
  readonly title: string
  /** A page from anywhere in the history, not the newest. */
  readonly isDeep: boolean
  /** Of all rules of the account, without naming one. */
  readonly isOfAll: boolean
}

export const KINDS: ReadonlyArray<Kind> = [
  { title: "newest of a rule", isDeep: false, isOfAll: false },
  { title: "deep of a rule", isDeep: true, isOfAll: false },
  { title: `newest of ${RULES} rules`, isDeep: false, isOfAll: true },
  { title: `deep of ${RULES} rules`, isDeep: true, isOfAll: true }
]

export interface Listing {
  readonly rows: number
  /** In milliseconds, for every call. */
  readonly millis: ReadonlyMap<Kind, Array<number>>
}

export const measureLists = (sizes: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    // Listing does not depend on the WAL, and the largest store fills faster without it.
    const { url } = yield* postgresServer(["shared_buffers=512MB", "wal_level=minimal", "max_wal_senders=0"])
    const stores = yield* Effect.forEach(sizes, (rows) => openStore(url, rows))
    const random = new Random(5)
    for (let round = -1; round < ROUNDS; round++) {
      for (const { lists, listing } of stores) {
        for (const [kind, millis] of listing.millis) {
          const taken = yield* lists(random, kind)
          if (round >= 0) millis.push(...taken)
        }
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
    const owned = yield* Effect.provide(makeRules(RULES), context)
    yield* Effect.provide(fill(owned, rows), context)
    const lists = (random: Random, kind: Kind) => Effect.provide(listPages(owned, { rows, random, kind }), context)
    const listing: Listing = { rows, millis: new Map(KINDS.map((kind) => [kind, []])) }
    return { lists, listing }
  })

const createDatabase = async (server: string, name: string) => {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
}

/** In time order, one in ten of any rule, the others of a busy one. */
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
          (${rules.map(toUuid)}::uuid[])[1 + (hashint8(n) & 2147483647) %
            case n % 10 when 0 then ${rules.length}::int else ${BUSY_RULES}::int end],
          ${toUuid(account)}::uuid, 'x', (1800000000000000000 + n * 65536)::text, payloads[1 + n % 64], 1000, now()
        from generate_series(1::bigint, ${rows}::bigint) n, samples`
    })
    yield* sql.withTransaction(insertAll)
    // All tables: a thousand new rules leave entries in the indexes until autovacuum runs.
    yield* sql`vacuum analyze`
  })

/** From this row on every busy rule has a full page. */
const FIRST_DEEP_ROW = 9_000

const UUID_START = "01890000-0000-7000-8000-"

interface Pages {
  readonly rows: number
  readonly random: Random
  readonly kind: Kind
}

const listPages = ({ account, rules }: AccountRules, { rows, random, kind }: Pages) =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    const busy = rules.slice(0, BUSY_RULES)
    const millis: Array<number> = []
    for (let page = 0; page < PAGES_PER_TURN; page++) {
      const row = random.between(FIRST_DEEP_ROW, rows)
      const before = kind.isDeep
        ? Option.some(fromUuid("match", UUID_START + row.toString(16).padStart(12, "0")))
        : Option.none()
      const start = performance.now()
      const { items } = yield* store.list({
        account,
        rules: kind.isOfAll ? Option.none() : Option.some([random.pick(busy)]),
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
