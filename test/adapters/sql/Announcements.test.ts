/** Announcements reach other processes at once, also after a lost connection. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted, Schedule, Stream } from "effect"
import pg from "pg"
import { Announcements, CHANNEL } from "../../../adapters/sql/Announcements.ts"
import * as postgres from "../../../adapters/sql/postgres.ts"
import * as stores from "../../../adapters/sql/stores.ts"
import { LiveMatches, nextUpdates } from "../../../core/matches/LiveMatches.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { newAccount, newMatch, visibleRule } from "../../contract/samples.ts"
import { temporaryDatabase } from "../../stores.ts"

describe("Announcements", () => {
  it.scopedLive("receives announcements of other processes and not its own, also after a reconnect", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const { received, self } = yield* Effect.provide(Announcements, Announcements.layerListening(url))
      let times = 0
      yield* Effect.forkScoped(Stream.runForEach(received, () => Effect.sync(() => ++times)))
      const until = (count: number) => Effect.repeat(Effect.sleep("10 millis"), { until: () => times >= count })
      const announce = (by: string) => query(url, `select pg_notify('${CHANNEL}', '${by}')`)

      // One for announcements that may have been missed before.
      yield* until(1)
      yield* announce("another")
      yield* until(2)
      yield* announce(self)
      yield* announce("another")
      yield* until(3)
      assert.strictEqual(times, 3)

      for (let lost = 0; lost < 3; lost++) {
        const before = times
        yield* endListeners(url)
        // One for announcements that may have been missed meanwhile.
        yield* until(before + 1)
        yield* announce("another")
        yield* until(before + 2)
        assert.strictEqual(times, before + 2)
      }
    })
  )

  // The test clock stands still, so polling never runs.
  it.scoped("deliver another process's match to listeners without polling", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const process = Layer.provideMerge(LiveMatches.layer, Layer.provide(stores.layer, postgres.layerWith({ url })))
      const [writer, reader] = [yield* Layer.build(Layer.fresh(process)), yield* Layer.build(Layer.fresh(process))]
      const { rule, account } = yield* Effect.gen(function* () {
        const account = yield* newAccount
        return { account, rule: (yield* visibleRule(account)).id }
      }).pipe(Effect.provide(writer))
      const matches = Array.from({ length: 5 }, () => newMatch(rule))

      const { listen } = yield* Effect.provide(LiveMatches, reader)
      const live = yield* listen({ account, rules: Option.none(), platforms: PLATFORM_IDS }, Option.none())
      const ids: Array<string> = []
      const reading = yield* nextUpdates(live).pipe(
        Effect.map((some) => ids.push(...some.map((one) => (one._tag === "Matched" ? one.match.id : one._tag)))),
        Effect.repeat({ until: (count) => count >= matches.length }),
        Effect.forkScoped
      )
      const store = yield* Effect.provide(MatchStore, writer)
      for (const [at, match] of matches.entries()) {
        yield* store.insert([match])
        while (ids.length <= at) yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      }
      yield* Fiber.join(reading)
      assert.deepStrictEqual(
        ids,
        matches.map(({ id }) => id)
      )
    })
  )
})

// ---- helpers ----

const query = (url: Redacted.Redacted, statement: string) =>
  Effect.acquireUseRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url) })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(async () => (await client.query<{ readonly ended: boolean }>(statement)).rows),
    (client) => Effect.promise(() => client.end())
  )

/** Waits for a listening connection and terminates it. */
const endListeners = (url: Redacted.Redacted) =>
  Effect.repeat(
    query(
      url,
      `select pg_terminate_backend(pid) as ended from pg_stat_activity where query = 'listen ${CHANNEL}' and datname = current_database()`
    ),
    { until: (rows) => rows.some(({ ended }) => ended), schedule: Schedule.spaced("20 millis") }
  )
