/** Ways of writing the same rows to a table: the whole pipeline, and its baselines. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Chunk, Deferred, Effect, Option, Queue } from "effect"
import { v7 } from "uuid"
import { insertStatement } from "../../adapters/sql/SqlMatchStore.ts"
import { toUuid } from "../../core/model/Ids.ts"
import type { Signal } from "../../core/platforms/Platform.ts"
import { copyLine } from "./copy.ts"
import type { Engine } from "./engines.ts"
import type { Post } from "./posts.ts"
import type { AccountRules } from "./setup.ts"

export interface Writer {
  readonly title: string
  readonly table: string
  /** Only the inner effect is timed. All rows are durable when it ends. */
  readonly prepare: (posts: ReadonlyArray<Post>) => Effect.Effect<Effect.Effect<unknown, unknown>, unknown, SqlClient>
}

export const PIPELINE = "the whole pipeline"
export const BARE = "bare insert loop"
export const COPY = "one COPY"

/** The pipeline's maximum batch. */
const BATCH = 500

/** Events that arrive together. */
const CHUNK = 50

export const pipelineWriter = (feed: Queue.Queue<Chunk.Chunk<Signal>>): Writer => ({
  title: PIPELINE,
  table: "matches",
  prepare: (posts) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      let left = posts.length
      const ack = Effect.suspend(() => (--left === 0 ? Deferred.succeed(done, undefined) : Effect.void))
      const signals = posts.map((post) => signalOf(post, { receivedAt: Date.now(), ack }))
      const chunks = batchesOf(signals, CHUNK).map((chunk) => Chunk.unsafeFromArray(chunk))
      return Effect.zipRight(Queue.offerAll(feed, chunks), Deferred.await(done))
    })
})

export const signalOf = (
  { id, rule, payload }: Post,
  { receivedAt, ack }: { readonly receivedAt: number; readonly ack: Effect.Effect<unknown> }
): Signal => ({
  _tag: "Event",
  delivery: {
    platformPostId: id,
    payload,
    platformRuleIds: [String(rule)],
    cursor: Option.some(id),
    receivedAt,
    ack: Effect.asVoid(ack)
  }
})

/** The pipeline's statement, without the cursor. Ids are created beforehand. */
export const bareWriter = (owned: AccountRules): Writer => ({
  title: BARE,
  table: "matches",
  prepare: (posts) =>
    Effect.map(SqlClient, (sql) => {
      const batches = batchesOf(posts.map(rowOf(owned)), BATCH)
      return Effect.forEach(batches, (rows) => insertBare(sql, rows), { discard: true })
    })
})

export const insertBare = (sql: SqlClient, rows: ReadonlyArray<ReturnType<ReturnType<typeof rowOf>>>) => {
  const [first, last] = [rows[0]?.id ?? "", rows.at(-1)?.id ?? ""]
  return insertStatement(sql, Option.some({ json: JSON.stringify(rows), first, last }), { self: "" })
}

/** One COPY, thus one transaction, of prepared text. */
export const copyWriter = (owned: AccountRules, engine: Engine): Writer => ({
  title: COPY,
  table: "raw_copy",
  prepare: (posts) => {
    const lines = posts.map((post) => copyLine(columnsOf(rowOf(owned)(post))))
    return engine.copy(`raw_copy (${COLUMNS})`, Buffer.from(lines.join("")))
  }
})

/** With the columns, indexes and foreign key of `matches`. */
export const makeRawTable = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`create table raw_copy (like matches including all)`
  yield* sql`alter table raw_copy add foreign key (rule_id) references rules on delete cascade`
})

export const rowOf =
  ({ account, rules }: AccountRules) =>
  ({ id, rule, payload }: Post) => {
    const ruleId = rules[rule]
    if (ruleId === undefined) throw new Error(`Unknown rule "${rule}"`)
    return {
      id: v7(),
      rule_id: toUuid(ruleId),
      rule_version: 1,
      account_id: toUuid(account),
      platform: "x",
      platform_post_id: id,
      payload,
      bytes: JSON.stringify(payload).length,
      created_at: new Date().toISOString()
    }
  }

// ---- helpers ----

/** In column order. */
const COLUMNS = "id, rule_id, account_id, platform, platform_post_id, payload, created_at, bytes"

const columnsOf = (row: ReturnType<ReturnType<typeof rowOf>>): ReadonlyArray<string> => [
  row.id,
  row.rule_id,
  row.account_id,
  row.platform,
  row.platform_post_id,
  JSON.stringify(row.payload),
  row.created_at,
  String(row.bytes)
]

const batchesOf = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
