import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as SqlOwnership from "../../../adapters/sql/SqlOwnership.ts"
import { postgresClient } from "../../stores.ts"

describe("The row of a server", () => {
  it.live("is deleted by one that starts when its runner has been gone for an hour", () =>
    Effect.gen(function* () {
      yield* addServer("killed long ago", { started: "3 hours", lastSeen: "2 hours" })
      yield* addServer("killed long ago, without runner", { started: "3 hours" })
      yield* addServer("killed lately", { started: "3 hours", lastSeen: "10 minutes" })
      yield* addServer("alive", { started: "3 hours", lastSeen: "0 seconds" })
      yield* addServer("starting", { started: "10 minutes" })
      yield* Layer.build(SqlOwnership.layerWith({ name: "self", version: "1.2.3", location: "here" }))
      assert.sameMembers(yield* servers, ["killed lately", "alive", "starting", "self"])
    }).pipe(Effect.scoped, Effect.provide(postgresClient))
  )
})

// ---- helpers ----

const servers = Effect.gen(function* () {
  const sql = yield* SqlClient
  const rows = yield* sql<{ readonly name: string }>`select name from servers`
  return rows.map(({ name }) => name)
})

const addServer = (name: string, ago: { readonly started: string; readonly lastSeen?: string }) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`with s as (
        insert into servers (id, name, version, started_at)
        values (gen_random_uuid(), ${name}, '1.2.3', now() - ${ago.started}::interval) returning id
      )
      insert into earshot_runners (address, runner, last_heartbeat)
      select id::text || ':1', '', now() - ${ago.lastSeen ?? null}::interval from s
      where ${ago.lastSeen !== undefined}`
  })
