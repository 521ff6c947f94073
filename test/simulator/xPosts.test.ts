/** X's lookup of posts by id, and the control of what became of posts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stage, X } from "./stage.ts"

const lookUp = (ids: string, fields = "") => `/2/tweets?ids=${ids}${fields === "" ? "" : `&tweet.fields=${fields}`}`

describe("GET /2/tweets", () => {
  it.scoped("returns posts with the fields asked for, and an error for each missing one", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.post("one", "two", "three", "four", "five")
      const change = (id: string, state: string) =>
        Effect.map(sim.call("/control/x/posts", { method: "POST", body: { ids: [id], state } }), ({ body }) => body)
      assert.deepStrictEqual(yield* change("1000002", "deleted"), { changed: 1 })
      yield* change("1000003", "protected")
      yield* change("1000004", "withheld")
      yield* change("1000005", "edited")
      assert.deepStrictEqual(yield* change("99", "deleted"), { changed: 0 })
      const ids = "1000001,1000002,1000003,1000004,1000005,99"
      const { status, headers, body } = yield* sim.call(lookUp(ids, "withheld"), { headers: X })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("x-rate-limit-limit"), "900")
      assert.deepStrictEqual(body.data, [
        { id: "1000001", text: "one", edit_history_tweet_ids: ["1000001"] },
        {
          id: "1000004",
          text: "four",
          edit_history_tweet_ids: ["1000004"],
          withheld: { copyright: false, country_codes: ["XX"] }
        },
        { id: "1000005", text: "five", edit_history_tweet_ids: ["1000005", "1000006"] }
      ])
      assert.deepStrictEqual(
        body.errors.map((error: Record<string, string>) => [error["resource_id"], error["type"]?.split("/").at(-1)]),
        [
          ["1000002", "resource-not-found"],
          ["1000003", "not-authorized-for-resource"],
          ["99", "resource-not-found"]
        ]
      )
      assert.strictEqual((yield* sim.control.state).x.posts_read, 3, "a post that is found is billed")
      yield* change("1000002", "present")
      assert.notProperty((yield* sim.call(lookUp("1000002"), { headers: X })).body, "errors")
    })
  )

  it.scoped("refuses ids of another form, more than 100 ids, and calls beyond the limit or without the token", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { posts_limit: 4 } })
      const many = Array.from({ length: 101 }, (_, i) => i + 1).join(",")
      for (const ids of ["", "1,a", many]) {
        assert.strictEqual((yield* sim.call(lookUp(ids), { headers: X })).status, 400)
      }
      assert.strictEqual((yield* sim.call(lookUp("1"))).status, 401)
      const statuses = [yield* sim.call(lookUp("1"), { headers: X }), yield* sim.call(lookUp("1"), { headers: X })]
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        [200, 429]
      )
    })
  )

  it.scoped("the control endpoint explains a wrong body", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      for (const body of [{}, { ids: ["a"], state: "deleted" }, { ids: ["1"], state: "gone" }]) {
        const answer = yield* sim.call("/control/x/posts", { method: "POST", body })
        assert.strictEqual(answer.status, 400)
        assert.match(answer.body.message, /^Expected \{"ids": \["1"\], "state": "deleted"\}/)
      }
    })
  )
})
