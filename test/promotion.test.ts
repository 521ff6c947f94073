/** Kills the real program while it promotes a shadow: the rule gets its filters and its matches, and the request its answer. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { eventually } from "./eventually.ts"
import { call, draft, xPost } from "./gateway/client.ts"
import { sized } from "./long.ts"
import { KEY, type Running, START_MILLIS, startService } from "./program.ts"
import { temporaryDatabase, temporaryFolder } from "./stores.ts"

type Settings = Readonly<Record<string, string>>

/** The short form runs on Postgres. */
const stores = [
  ["the embedded store", Effect.map(temporaryFolder, (folder): Settings => ({ EARSHOT_DATA_DIR: folder }))],
  ["Postgres", Effect.map(temporaryDatabase, ({ url }): Settings => ({ DATABASE_URL: Redacted.value(url) }))]
] as const

describe("kill -9 during a promotion", { timeout: 3 * START_MILLIS }, () => {
  for (const [name, open] of stores.slice(sized(1, 0))) {
    it.scopedLive(`loses no match of the shadow, with ${name}`, () =>
      Effect.gen(function* () {
        const settings = yield* open
        const start = (more: Settings = {}) =>
          Effect.acquireRelease(
            Effect.promise(() => startService("node", { ...settings, EARSHOT_DEMO_FEED: "off", ...more })),
            ({ signal, ended }) =>
              Effect.promise(() => {
                signal("SIGKILL")
                return ended
              })
          )
        const targetOf = (service: Running) => ({ ...service, key: KEY })

        const crashing = yield* start({ EARSHOT_CRASH_AT: "update.changed" })
        const target = targetOf(crashing)
        const promotion = yield* Effect.promise(async () => {
          const created = await call(target, "/api.CreateRule", draft("cat", ["x"]))
          const rule_id = String(created.body["rule_id"])
          await call(target, "/api.ShadowRule", { rule_id, overrides: { x: "dog" } })
          await call(target, "/local/events", [xPost("1", "a dog"), xPost("2", "a cat"), xPost("3", "another dog")])
          return { rule_id, since: "2020-01-01" }
        })
        const keyed = { headers: { "idempotency-key": "promote" } }
        yield* Effect.promise(() => call(target, "/api.PromoteRule", promotion, keyed).catch(() => {}))
        assert.isNull((yield* Effect.promise(() => crashing.ended)).code, "it was killed")

        const next = targetOf(yield* start())
        yield* Effect.promise(async () => {
          const { rule_id } = promotion
          await eventually(async () => {
            const { body } = await call(next, "/matches", { rule_id })
            assert.deepStrictEqual(
              [...(body["matches"] ?? [])].map((match) => [
                String(match["platform_post_id"]),
                Number(match["rule_version"]),
                String(match["reapplied"])
              ]),
              [
                ["3", 2, "true"],
                ["1", 2, "true"],
                ["2", 1, "undefined"]
              ]
            )
          })
          const { body } = await call(next, "/api.PromoteRule", promotion, keyed)
          assert.strictEqual(Number(body["added"]), 2)
          assert.strictEqual(Number(body["rule"]?.["version"]), 2)
        })
      })
    )
  }
})
