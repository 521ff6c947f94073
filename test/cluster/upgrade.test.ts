/** A server that was frozen or cut off while a newer version changed the schema. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { asSuperuser } from "../../fixtures/postgres.ts"
import { sized } from "../long.ts"
import { KEY, START_MILLIS, startService } from "../program.ts"
import { temporaryDatabase } from "../stores.ts"
import { startProxy } from "./proxy.ts"

describe("a server that wakes up on a newer schema", { timeout: 3 * START_MILLIS }, () => {
  it.scopedLive("goes on after additive migrations, and ends with code 1 after any other", () =>
    Effect.gen(function* () {
      const database = Redacted.value((yield* temporaryDatabase).url)
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startService("node", { DATABASE_URL: database })),
        ({ signal }) => Effect.sync(() => signal("SIGKILL"))
      )
      const sleepThrough = async (id: number, additive: boolean) => {
        server.signal("SIGSTOP")
        await sleep(LOCK_MILLIS + 1_000)
        await asSuperuser(
          database,
          `insert into earshot_migrations (migration_id, name, additive) values (${id}, 'future', ${additive})`
        )
        server.signal("SIGCONT")
      }
      yield* Effect.promise(async () => {
        await sleepThrough(98, true)
        await sleep(5_000)
        const rules = await fetch(`${server.url}/api.ListRules`, { headers: { authorization: `Bearer ${KEY}` } })
        assert.strictEqual(rules.status, 200)

        await sleepThrough(99, false)
        const { code, stdout, stderr } = await server.ended
        assert.strictEqual(code, 1)
        const reason = "a newer version of the service has changed its schema. Start that version or a later one"
        assert.include(stdout + stderr, `This server ends: Cannot open the store at`)
        assert.match(stderr, new RegExp(`earshot: Cannot open the store at "postgres://[^"]*": ${reason}\\n$`))
      })
    })
  )
})

describe("a server that was cut off from Postgres during the upgrade", { timeout: 3 * START_MILLIS }, () => {
  for (const mode of sized<ReadonlyArray<"refused" | "silent">>(["silent"], ["refused", "silent"])) {
    it.scopedLive(`ends with code 1 when it is back (connections were ${mode})`, () =>
      Effect.gen(function* () {
        const database = Redacted.value((yield* temporaryDatabase).url)
        const behind = new URL(database)
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => startProxy({ host: behind.hostname, port: Number(behind.port) })),
          ({ close }) => Effect.promise(close)
        )
        behind.host = `127.0.0.1:${proxy.port}`
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => startService("node", { DATABASE_URL: behind.href })),
          ({ signal }) => Effect.sync(() => signal("SIGKILL"))
        )
        yield* Effect.promise(async () => {
          // The last line of a start.
          await server.printed(/^Console: /m)
          proxy.set(mode)
          await sleep(LOCK_MILLIS + 1_000)
          await asSuperuser(database, "insert into earshot_migrations (migration_id, name) values (99, 'future')")
          proxy.set("open")
          const { code, stderr } = await server.ended
          assert.strictEqual(code, 1, stderr)
          assert.match(stderr, /has changed its schema\. Start that version or a later one\n$/)
        })
      })
    )
  }
})

// ---- helpers ----

const LOCK_MILLIS = 6_000
