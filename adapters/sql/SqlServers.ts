/** `Servers` in SQL: reads what the servers write about themselves. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option, Schema } from "effect"
import { fromDate } from "../../core/model/Timestamp.ts"
import { Servers, type ServersService, StreamReport } from "../../core/ownership/Servers.ts"
import { isLive } from "./liveServers.ts"
import { storableJson } from "./parameters.ts"
import { fenced, unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  // The owner of a stream reports every two seconds.
  const oldestReport = sql`now() - interval '15 seconds'`

  return {
    list: sql<ServerRow>`
      select s.name, s.version, s.started_at,
        array(select o.name from owners o where o.server = s.id order by o.name) as owns
      from servers s where ${isLive(sql, "s.id")} order by s.started_at`.pipe(
      Effect.map((rows) => rows.map((row) => ({ ...row, started_at: fromDate(row.started_at) }))),
      unavailable("servers.list")
    ),
    ownerOf: (work) =>
      sql<OwnerRow>`
        select o.name as work, coalesce(s.name, o.server::text) as server, o.epoch::float8, o.since,
          ${isLive(sql, "o.server")} and coalesce(greatest(r.at, o.since) > ${oldestReport}, true) as "isAlive"
        from owners o left join servers s on s.id = o.server
          left join stream_reports r on o.name = 'stream/' || r.platform
        where o.name = ${work}`.pipe(
        Effect.map(([row]) =>
          Option.map(Option.fromNullable(row), (found) => ({ ...found, since: fromDate(found.since) }))
        ),
        unavailable("servers.ownerOf")
      ),
    report: (platform, report) =>
      sql`insert into stream_reports (platform, report)
        values (${platform}, ${storableJson(Schema.encodeSync(StreamReport)(report))}::jsonb)
        on conflict (platform) do update set report = excluded.report, at = now()`.pipe(
        Effect.asVoid,
        fenced(sql),
        unavailable("servers.report")
      ),
    reportOn: (platform) =>
      sql<{ readonly report: unknown }>`select report from stream_reports where platform = ${platform}`.pipe(
        Effect.map(([row]) => Option.flatMap(Option.fromNullable(row?.report), decode)),
        unavailable("servers.reportOn")
      )
  } satisfies ServersService
})

export const layer: Layer.Layer<never, never, SqlClient> = Layer.effect(Servers, make)

// ---- helpers ----

/** None if a server of another version wrote it. */
const decode = Schema.decodeUnknownOption(StreamReport)

interface ServerRow {
  readonly name: string
  readonly version: string
  readonly started_at: Date
  readonly owns: ReadonlyArray<string>
}

interface OwnerRow {
  readonly work: string
  readonly server: string
  readonly epoch: number
  readonly since: Date
  readonly isAlive: boolean
}
