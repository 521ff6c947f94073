/** Changes a rule under a stream of events, and kills the program meanwhile: no event is lost, none is stored twice. */
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { storeImage } from "../adapters/runtimes/assets.ts"
import * as pglite from "../adapters/sql/pglite.ts"
import * as postgresClient from "../adapters/sql/postgres.ts"
import { changeRun, type Store } from "./changes/changeRun.ts"
import { inProcess, type OpenFeed, simulated } from "./changes/feeds.ts"
import { sized } from "./long.ts"
import { START_MILLIS } from "./program.ts"
import { temporaryDatabase, temporaryFolder } from "./stores.ts"

const unfinished = Effect.flatMap(SqlClient, (sql) =>
  Effect.map(
    sql`select 1 from registrations g join rules r on r.id = g.rule_id
      where g.state in ('pending', 'removing') or r.purpose = 'update'`,
    ({ length }) => length
  )
)

const embedded = Effect.map(
  temporaryFolder,
  (folder): Store => ({
    settings: { EARSHOT_DATA_DIR: folder },
    skipMinutes: Effect.void,
    unfinished: Effect.orDie(Effect.provide(unfinished, pglite.layerWith({ dataDir: folder, image: storeImage })))
  })
)

const postgres = Effect.map(temporaryDatabase, ({ url }): Store => {
  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient>) =>
    Effect.orDie(Effect.provide(effect, postgresClient.layerWith({ url })))
  return {
    settings: { DATABASE_URL: Redacted.value(url) },
    skipMinutes: run(
      Effect.flatMap(SqlClient, (sql) => sql`update registrations set since = since - interval '3 minutes'`)
    ).pipe(Effect.asVoid),
    unfinished: run(unfinished)
  }
})

const places: ReadonlyArray<readonly [string, OpenFeed, typeof embedded | typeof postgres]> = [
  ["in process, with the embedded store", inProcess, embedded],
  ["on simulated platforms, with the embedded store", simulated, embedded],
  ["in process, with Postgres", inProcess, postgres],
  ["on simulated platforms, with Postgres", simulated, postgres]
]

const SEEDS = sized(
  [2],
  Array.from({ length: 100 }, (_, index) => index + 1)
)

describe("changes of a rule under kill -9", { timeout: 5 * START_MILLIS }, () => {
  for (const seed of SEEDS) {
    const [where, open, openStore] = places[(seed - 1) % places.length] ?? assert.fail()
    it.scopedLive(`lose and repeat no event, and each match has the right version, ${where}, seed ${seed}`, () =>
      Effect.gen(function* () {
        const { kills, events, matches, versions, ...differences } = yield* changeRun({
          seed,
          open,
          store: yield* openStore
        })
        const none = { inconsistent: [], lost: [], twice: [], wrongVersion: [], unwanted: [] }
        const facts = `${events} events, ${matches} matches, ${versions} versions`
        assert.deepStrictEqual(differences, none, `${facts}, killed ${kills.join(", ")}`)
        assert.isAbove(matches, 100)
        assert.isAbove(versions, 1)
      })
    )
  }
})
