/** Matches that were deleted by retention. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Keys } from "../../core/keys/Keys.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { firstMatchIdAt } from "../../core/model/Ids.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import { assertError, call, draft, firehoseUpdate, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"

describe("deleted matches", () => {
  it.scopedLive("a cursor that points to them fails with the floor; a list without cursor ends before them", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* ask(ann, "/api.CreateRule", draft("cat"))
      for (const page of [1, 2, 3, 4]) yield* ask(ann, "/local/events", firehoseUpdate(`http://${page}`, "cat"))
      const first = yield* ask(ann, "/matches", { limit: 2 })
      const second = yield* ask(ann, "/matches", { limit: 1, cursor: first.body["next_cursor"] })

      const store = yield* MatchStore
      yield* store.trim({ before: firstMatchIdAt(2 ** 47), keep: Option.none(), atMost: 2 })
      const expired = yield* ask(ann, "/matches", { cursor: second.body["next_cursor"] })
      const floor = String(expired.body["details"]?.["floor"])
      assertError(
        expired,
        400,
        "failed_precondition",
        /^Cannot continue .* are no longer kept; start again without a cursor$/
      )
      assert.include(String(expired.body["message"]), `from before "${floor}"`)
      const lastDeleted = [...(second.body["matches"] ?? [])][0]
      assert.isAtMost(Math.abs(Date.parse(floor) - Date.parse(String(lastDeleted?.["created_at"]))), 1_000)

      const path = `/trpc/matches.list?input=${encodeURIComponent(JSON.stringify({ cursor: second.body["next_cursor"] }))}`
      const typed = yield* ask(ann, path)
      assert.deepStrictEqual(
        [typed.status, String(typed.body["error"]?.["data"]?.["code"]), typed.body["error"]?.["data"]?.["details"]],
        [400, "failed_precondition", { floor }] as unknown
      )

      const above = yield* ask(ann, "/matches", { cursor: first.body["next_cursor"] })
      assert.deepStrictEqual(above.body["matches"] as unknown, [], "the cursor's match is the last one kept")
      assert.isUndefined(above.body["next_cursor"])
      const all = yield* ask(ann, "/matches", {})
      assert.deepStrictEqual(all.body["matches"], first.body["matches"])
      assert.isUndefined(all.body["next_cursor"])
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("a limit of the account expires its cursors only, and kept_since tells of it", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      for (const owner of [ann, bob]) {
        yield* ask(owner, "/api.CreateRule", draft("cat"))
        for (const page of [1, 2, 3]) yield* ask(owner, "/local/events", firehoseUpdate(`http://${page}`, "cat"))
      }
      const oldestOf = (owner: Target) =>
        Effect.map(ask(owner, "/matches", {}), ({ body }) => [...(body["matches"] ?? [])].at(-1)?.["id"])
      const [annsOldest, bobsOldest] = [yield* oldestOf(ann), yield* oldestOf(bob)]
      const { usages, trimAccount } = yield* MatchStore
      const { authenticate } = yield* Keys
      const { account } = yield* authenticate(ann.key)
      assert.strictEqual((yield* usages).get(account)?.matches, 3)
      const limits = { matches: 1, bytes: 0 }
      yield* trimAccount({ account, platforms: PLATFORM_IDS, before: firstMatchIdAt(2 ** 47), limits, atMost: 100 })

      for (const path of ["/matches", "/matches/wait"]) {
        assertError(yield* ask(ann, path, { cursor: annsOldest }), 400, "failed_precondition", /no longer kept/)
      }
      const left = yield* ask(ann, "/matches", {})
      assert.lengthOf([...(left.body["matches"] ?? [])], 1)
      assert.match(String(left.body["coverage"]?.["kept_since"]), /^20/)
      const other = yield* ask(bob, "/matches/wait", { cursor: bobsOldest })
      assert.lengthOf([...(other.body["matches"] ?? [])], 2)
      assert.isUndefined((yield* ask(bob, "/matches", {})).body["coverage"]?.["kept_since"])
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

const ask = (target: Target, path: string, body?: unknown) => Effect.promise(() => call(target, path, body))
