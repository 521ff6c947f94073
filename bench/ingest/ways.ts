/** The ways of getting the same rows into a table: the whole pipeline, and what it is held against. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Chunk, Deferred, Effect, Option, Queue } from "effect"
import { v7 } from "uuid"
import { insertStatement } from "../../adapters/sql/SqlMatchStore.ts"
import { toUuid } from "../../core/model/Ids.ts"
import type { Signal } from "../../core/platforms/Platform.ts"
import { copyLine } from "./copy.ts"
import type { Engine } from "./engines.ts"
import type { Post } from "./posts.ts"
import type { Owned } from "./world.ts"

export interface Way {
  readonly title: string
  readonly table: string
  /** Whatever is ready beforehand; the effect inside is what is timed, and all is durable when it ends. */
  readonly prepare: (posts: ReadonlyArray<Post>) => Effect.Effect<Effect.Effect<unknown, unknown>, unknown, SqlClient>
}

export const PIPELINE = "the whole pipeline"
export const BARE = "bare loop of its insert"
export const ROWS = "multi-row INSERT"
export const COPY = "COPY, all in one"

/** As many as the pipeline writes in one step when it has them. */
const BATCH = 500

/** As many as come off the wire together. */
const CHUNK = 50

export const pipelineWay = (feed: Queue.Queue<Chunk.Chunk<Signal>>): Way => ({
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

/** The statement of the pipeline, without the place in the stream; ids are made beforehand. */
export const bareWay = (owned: Owned): Way => ({
  title: BARE,
  table: "matches",
  prepare: (posts) =>
    Effect.map(SqlClient, (sql) => {
      const batches = batchesOf(posts.map(rowOf(owned)), BATCH)
      return Effect.forEach(
        batches,
        (rows) => {
          const [first, last] = [rows[0]?.id ?? "", rows.at(-1)?.id ?? ""]
          return insertStatement(sql, Option.some({ json: JSON.stringify(rows), first, last }), { self: "" })
        },
        { discard: true }
      )
    })
})

export const rowsWay = (owned: Owned): Way => ({
  title: ROWS,
  table: "raw_rows",
  prepare: (posts) =>
    Effect.map(SqlClient, (sql) => {
      const batches = batchesOf(posts.map(rowOf(owned)), BATCH)
      return Effect.forEach(
        batches,
        (rows) => {
          const values = rows.map((row) => columnsOf(row))
          const places = values.map((columns, at) => `(${columns.map((_, i) => `$${at * columns.length + i + 1}`)})`)
          return sql.unsafe(`insert into raw_rows values ${places}`, values.flat())
        },
        { discard: true }
      )
    })
})

/** One COPY, hence one transaction, of text that lies ready. */
export const copyWay = (owned: Owned, engine: Engine): Way => ({
  title: COPY,
  table: "raw_copy",
  prepare: (posts) => {
    const lines = posts.map((post) => copyLine(columnsOf(rowOf(owned)(post))))
    return engine.copy("raw_copy", Buffer.from(lines.join("")))
  }
})

/** With the columns, the indexes and the foreign key of the table of matches. */
export const makeRawTables = Effect.gen(function* () {
  const sql = yield* SqlClient
  for (const table of ["raw_rows", "raw_copy"]) {
    yield* sql`create table ${sql(table)} (like matches including all)`
    yield* sql`alter table ${sql(table)} add foreign key (rule_id) references rules on delete cascade`
  }
})

// ---- helpers ----

const rowOf =
  ({ account, rules }: Owned) =>
  ({ id, rule, payload }: Post) => {
    const ruleId = rules[rule]
    if (ruleId === undefined) throw new Error(`There is no rule ${rule}`)
    return {
      id: v7(),
      rule_id: toUuid(ruleId),
      account_id: toUuid(account),
      platform: "x",
      platform_post_id: id,
      payload,
      created_at: new Date().toISOString()
    }
  }

/** In the order of the table. */
const columnsOf = (row: ReturnType<ReturnType<typeof rowOf>>): ReadonlyArray<string> => [
  row.id,
  row.rule_id,
  row.account_id,
  row.platform,
  row.platform_post_id,
  JSON.stringify(row.payload),
  row.created_at
]

const batchesOf = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
