/** Two accounts on one server: isolation, and limits per account. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { EVERY_ACCOUNT, Keys } from "../../core/keys/Keys.ts"
import { LocalFeed, sentEvents } from "../../core/platforms/LocalFeed.ts"
import { assertError, call, draft, firehoseUpdate, type Target } from "./client.ts"
import { serve, service, X_LIMIT } from "./inProcess.ts"
import { exchange, requestText } from "./raw.ts"

describe("two accounts", () => {
  it.scopedLive("a foreign rule gets the same response as an unknown one, byte for byte", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      const created = yield* ask(ann, "/api.CreateRule", draft("secret"))
      const foreign = String(created.body["rule_id"])
      yield* ask(ann, "/local/events", firehoseUpdate("http://a", "secret"))
      // Another id of the same length, from the same minute.
      const unknown = foreign.slice(0, -4) + (foreign.endsWith("0000") ? "1111" : "0000")

      for (const path of ["/api.DeleteRule", "/matches", "/matches/wait", "/trpc/rules.delete"]) {
        const [toForeign, toUnknown] = [
          yield* Effect.promise(() => bytesOf(bob, path, foreign)),
          yield* Effect.promise(() => bytesOf(bob, path, unknown))
        ]
        assert.match(toForeign, /"status":404/)
        assert.strictEqual(toForeign, toUnknown, path)
      }
      assert.deepStrictEqual((yield* ask(bob, "/api.ListRules")).body as unknown, { rules: [] })
      assert.deepStrictEqual((yield* ask(bob, "/matches", {})).body["matches"] as unknown, [])

      const mine = yield* ask(ann, "/matches", { rule_id: foreign })
      assert.lengthOf([...(mine.body["matches"] ?? [])], 1, "Ann's matches are untouched")
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("a cursor of another account shows only the caller's own matches", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      for (const owner of [ann, bob]) yield* ask(owner, "/api.CreateRule", draft("shared"))
      const feed = yield* LocalFeed
      yield* feed.publish(sentEvents([1, 2].map((page) => firehoseUpdate(`http://${page}`, "shared"))))
      const [newest] = [...((yield* ask(ann, "/matches", {})).body["matches"] ?? [])]
      const seen = [...((yield* ask(bob, "/matches", { cursor: newest?.["id"] })).body["matches"] ?? [])]
      const own = [...((yield* ask(bob, "/api.ListRules")).body["rules"] ?? [])].map((rule) => rule["id"])
      assert.isNotEmpty(seen)
      for (const match of seen) assert.include(own, match["rule_id"])
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("publishing events counts only matches of the caller's own rules", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      for (const owner of [ann, bob, bob]) yield* ask(owner, "/api.CreateRule", draft("shared"))
      yield* ask(ann, "/api.CreateRule", draft("secret"))
      const events = [firehoseUpdate("http://a", "shared secret"), firehoseUpdate("http://b", "secret")]
      const counted = (who: Target) =>
        Effect.map(ask(who, "/local/events", events), ({ body }) => Number(body["matches"]))
      assert.deepStrictEqual([yield* counted(ann), yield* counted(bob)], [3, 2])
      assert.strictEqual(yield* counted(yield* as("carol")), 0)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("a revoked key immediately gets the same response as an unknown one", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const ann = yield* as("ann")
      assert.strictEqual((yield* ask(ann, "/api.ListRules")).status, 200)
      const keys = yield* Keys
      for (const { id } of yield* keys.list(EVERY_ACCOUNT)) yield* keys.revoke(id, { ...EVERY_ACCOUNT, force: true })
      const list = requestText("GET", "/api.ListRules", { authorization: `Bearer ${ann.key}`, "x-request-id": "same" })
      const other = { authorization: "Bearer unknown-key-of-nobody", "x-request-id": "same" }
      const revoked = yield* Effect.promise(() => exchange(ann, list))
      const unknown = yield* Effect.promise(() => exchange(ann, requestText("GET", "/api.ListRules", other)))
      assert.strictEqual(revoked?.status, 401)
      assert.strictEqual(masked(revoked), masked(unknown))
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("the rule limit of x applies per account; firehose has no limit", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      const ids: Array<unknown> = []
      for (let i = 0; i < X_LIMIT; i++) {
        ids.push((yield* ask(ann, "/api.CreateRule", draft(`limited${i}`, ["x"]))).body["rule_id"])
      }
      for (const platforms of [["x"], ["x", "firehose"]] as const) {
        const refused = yield* ask(ann, "/api.CreateRule", draft("over", platforms))
        assertError(refused, 429, "resource_exhausted", /another rule on "x": 2 of 2/)
        assert.deepStrictEqual(refused.body["details"] as unknown, { platform: "x", limit: X_LIMIT, used: X_LIMIT })
      }
      assert.lengthOf([...((yield* ask(ann, "/api.ListRules")).body["rules"] ?? [])], X_LIMIT)
      assert.strictEqual((yield* ask(bob, "/api.CreateRule", draft("free", ["x"]))).status, 200)
      for (let i = 0; i < 40; i++) {
        assert.strictEqual((yield* ask(ann, "/api.CreateRule", draft())).status, 200)
      }
      yield* ask(ann, "/api.DeleteRule", { rule_id: ids[0] })
      assert.strictEqual((yield* ask(ann, "/api.CreateRule", draft("again", ["x"]))).status, 200)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("twenty concurrent creates do not exceed a limit of two", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const ann = yield* as("ann")
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => draft(`burst${i}`, ["x"])),
        (rule) => ask(ann, "/api.CreateRule", rule),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        answers.filter(({ status }) => status === 200),
        X_LIMIT
      )
      assert.lengthOf(
        answers.filter(({ status }) => status === 429),
        20 - X_LIMIT
      )
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

const ask = (target: Target, path: string, body?: unknown) => Effect.promise(() => call(target, path, body))

/** The whole response, with the date and the caller's id masked. */
const bytesOf = async (target: Target, path: string, ruleId: string): Promise<string> => {
  const headers = {
    authorization: `Bearer ${target.key}`,
    "content-type": "application/json",
    "x-request-id": "same"
  }
  const answer = await exchange(target, requestText("POST", path, headers, JSON.stringify({ rule_id: ruleId })))
  return masked(answer).replaceAll(ruleId, "ID")
}

const masked = (answer: Awaited<ReturnType<typeof exchange>>): string =>
  JSON.stringify({ ...answer, headers: { ...answer?.headers, date: "" } })
