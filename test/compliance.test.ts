/** The whole service, with the simulator as another process: posts deleted on X are redacted, once it is turned on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "./eventually.ts"
import { call, draft, type Json, type Target } from "./gateway/client.ts"
import { KEY, type Served, START_MILLIS, serveInProcess, startCommand } from "./program.ts"
import { temporaryFolder } from "./stores.ts"

describe("compliance of the whole service", { timeout: 4 * START_MILLIS }, () => {
  it.scopedLive("asks X for nothing by default, and redacts what X no longer has when it is turned on", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const simulator = yield* Effect.acquireRelease(
        Effect.sync(() => startCommand("node", ["simulate", "--port", "0", "--rate", "0"])),
        ({ signal, ended }) =>
          Effect.promise(() => {
            signal("SIGTERM")
            return ended
          })
      )
      const [url = "", token = ""] = (yield* Effect.promise(() =>
        simulator.printed(/X_BASE_URL=(\S+ X_BEARER_TOKEN=\S+)/)
      )).split(" X_BEARER_TOKEN=")
      const control = async (path: string, body?: unknown) => {
        const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
        return (await fetch(`${url}/control/${path}`, init)).json() as Promise<Json>
      }
      const lookUps = async () => Number((await control("state"))["calls"]?.["x.posts"]?.["calls"] ?? 0)
      const start = (settings = {}) =>
        Effect.promise(() =>
          serveInProcess({ EARSHOT_DATA_DIR: folder, X_BASE_URL: url, X_BEARER_TOKEN: token, ...settings })
        )
      const as = (running: Served): Target => ({ ...running, key: KEY })
      const matches = async (running: Served) =>
        [...((await call(as(running), "/matches", {})).body["matches"] ?? [])].reverse()

      const first = yield* start()
      yield* Effect.promise(async () => {
        assert.strictEqual((await call(as(first), "/api.CreateRule", draft("storm", ["x"]))).status, 200)
        await eventually(async () => assert.lengthOf([...((await control("state"))["x"]?.["connections"] ?? [])], 1))
        await fetch(`${url}/control/events`, {
          method: "POST",
          body: [501, 502, 503].map((id) => JSON.stringify(post(String(id)))).join("\n")
        })
        await eventually(async () => assert.lengthOf(await matches(first), 3))
        await control("x/posts", { ids: ["501"], state: "deleted" })
        assert.strictEqual(await lookUps(), 0)
        await first.stop()
      })

      const second = yield* start({ X_COMPLIANCE_INTERVAL: "1" })
      yield* Effect.promise(async () => {
        await eventually(async () => assert.property((await matches(second))[0], "redacted"))
        const reasons = (await matches(second)).map((match) => String(match["redacted"]?.["reason"]))
        assert.deepStrictEqual(reasons, ["deleted", "undefined", "undefined"])
        assert.strictEqual(await lookUps(), 1)
        await second.stop()
      })

      // The round is over: a restart does not begin another before the hour is over.
      const third = yield* start({ X_COMPLIANCE_INTERVAL: "1" })
      yield* Effect.promise(async () => {
        await new Promise((resume) => setTimeout(resume, 2_000))
        assert.strictEqual(await lookUps(), 1)
        await third.stop()
      })
    })
  )
})

// ---- helpers ----

const post = (id: string) => ({
  data: { id, text: "a storm", lang: "en", author_id: "7", edit_history_tweet_ids: [id] },
  includes: { users: [{ id: "7", name: "Seven", username: "seven", verified: true }] }
})
