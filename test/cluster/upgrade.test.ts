/** A server that was frozen while a newer version changed the schema. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { asSuperuser } from "../postgres.ts"
import { KEY, START_MILLIS, startService } from "../program.ts"
import { temporaryDatabase } from "../stores.ts"

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

// ---- helpers ----

const LOCK_MILLIS = 6_000
