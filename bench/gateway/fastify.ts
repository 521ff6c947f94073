/** Baseline: what people write by hand, Fastify over two tables of their own. */
import type { AddressInfo } from "node:net"
import { PGlite } from "@electric-sql/pglite"
import { fastify } from "fastify"
import pg from "pg"
import { KEY, matches, rules } from "./data.ts"

/** `isText`: does not parse the payloads, and writes the answer itself. */
export const serve = async (location: string, isText: boolean): Promise<number> => {
  const query = await openStore(location)
  const app = fastify()
  app.addHook("onRequest", async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${KEY}`) return reply.code(401).send({})
  })
  app.post<{ Body: Query }>("/matches", { schema: { body: QUERY } }, async ({ body }, reply) => {
    const { rule_id, platform, limit, cursor } = body
    const found = await query(
      `select id, rule_id, rule_version, created_at, platform, platform_post_id, payload${isText ? "::text" : ""}
        from matches where platform = $1 and ($2::text is null or rule_id = $2) and ($3::text is null or id < $3)
        order by id desc limit $4`,
      [platform, rule_id, cursor, limit]
    )
    const next_cursor = found.length === limit ? found.at(-1)?.id : undefined
    if (!isText) return { matches: found, next_cursor }
    reply.type("application/json; charset=utf-8")
    const next = next_cursor === undefined ? "" : `,"next_cursor":"${next_cursor}"`
    return `{"matches":[${found.map(textOf).join()}]${next}}`
  })
  app.get("/api.ListRules", async () => ({
    rules: await query("select id, name, intent, platforms, created_at, version from rules order by id desc")
  }))
  await app.listen({ port: 0, host: "127.0.0.1" })
  return (app.server.address() as AddressInfo).port
}

// ---- helpers ----

interface Query {
  readonly rule_id?: string
  readonly platform: string
  readonly limit: number
  readonly cursor?: string
}

const QUERY = {
  type: "object",
  additionalProperties: false,
  required: ["platform"],
  properties: {
    rule_id: { type: "string" },
    platform: { enum: ["x", "firehose"] },
    limit: { type: "integer", minimum: 1, maximum: 500, default: 50 },
    cursor: { type: "string" }
  }
}

interface Row {
  readonly id: string
  readonly rule_id: string
  readonly rule_version: number
  readonly created_at: Date
  readonly platform: string
  readonly platform_post_id: string
  readonly payload: unknown
}

const textOf = ({ id, rule_id, rule_version, created_at, platform, platform_post_id, payload }: Row): string =>
  `{"id":"${id}","rule_id":"${rule_id}","rule_version":${rule_version},"created_at":"${created_at.toISOString()}",` +
  `"platform":"${platform}","platform_post_id":"${platform_post_id}","payload":${payload}}`

/** Fills the tables, and returns how to query them. */
const openStore = async (location: string) => {
  const db = location.startsWith("postgres:") ? new pg.Pool({ connectionString: location }) : new PGlite(location)
  const query = async (text: string, values: Array<unknown> = []): Promise<ReadonlyArray<Row>> =>
    (await (db instanceof PGlite ? db.query<Row>(text, values) : db.query<Row>(text, values))).rows
  await query(`create table rules (id text primary key, name text not null, intent text not null,
    platforms jsonb not null, created_at timestamptz not null, version integer not null)`)
  await query(`create table matches (id text primary key, rule_id text not null references rules,
    rule_version integer not null, created_at timestamptz not null, platform text not null,
    platform_post_id text not null, payload jsonb not null)`)
  await query("create index on matches (platform, id)")
  await query("create index on matches (rule_id, platform, id)")
  for (const [table, rows] of Object.entries({ rules, matches })) {
    await query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(rows)
    ])
  }
  await query("analyze")
  return query
}
