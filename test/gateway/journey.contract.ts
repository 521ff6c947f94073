/** A user journey: create a rule, publish events, page through the matches, delete the rule. */
import { assert, describe, it } from "@effect/vitest"
import type { Coverage } from "../../core/coverage/Coverage.ts"
import { assertError, call, draft, firehoseUpdate, type Json, type Target, xPost } from "./client.ts"

export const journeyContract = (target: () => Target): void => {
  describe("a user journey", () => {
    const publishLines = (events: ReadonlyArray<unknown>) =>
      call(target(), "/local/events", undefined, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson" },
        body: `${events.map((event) => JSON.stringify(event)).join("\n")}\n\n`
      })

    it("creates a rule, finds matches on both platforms, and deletes the rule with its matches", async () => {
      const created = await call(target(), "/api.CreateRule", draft("volcano", ["x", "firehose"]))
      const rule_id = created.body["rule_id"]

      const lines = await publishLines([
        xPost("1", "A Volcano!"),
        xPost("2", "Nothing"),
        firehoseUpdate("http://a", "volcano")
      ])
      assert.deepStrictEqual(
        [lines.status, lines.body as unknown],
        [200, { accepted: { x: 2, firehose: 1 }, matches: 2 }]
      )
      const one = await call(target(), "/local/events", firehoseUpdate("http://b", "the volcano"))
      assert.deepStrictEqual(one.body as unknown, { accepted: { firehose: 1 }, matches: 1 })
      const several = await call(target(), "/local/events", [xPost("3", "volcano"), xPost("1", "A Volcano!")])
      assert.deepStrictEqual(several.body as unknown, { accepted: { x: 2 }, matches: 2 })

      const found = await call(target(), "/matches", { rule_id })
      const matches = [...(found.body["matches"] ?? [])]
      assert.deepStrictEqual(
        matches.map((match) => String(match["platform"])),
        ["x", "firehose", "firehose", "x"],
        "newest first, each event once"
      )
      const [newest] = matches
      assert.sameMembers(Object.keys(newest ?? {}), [
        "id",
        "rule_id",
        "rule_version",
        "created_at",
        "platform",
        "platform_post_id",
        "payload"
      ])
      assert.strictEqual(newest?.["rule_id"], rule_id)
      assert.strictEqual(String(newest?.["platform_post_id"]), "3")
      assert.deepStrictEqual(newest?.["payload"] as unknown, xPost("3", "volcano"))
      assert.match(String(newest?.["created_at"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

      const onX = await call(target(), "/matches", { rule_id, platform: "x" })
      assert.deepStrictEqual(
        [...(onX.body["matches"] ?? [])].map((match) => String(match["platform_post_id"])),
        ["3", "1"]
      )

      await call(target(), "/api.DeleteRule", { rule_id })
      assertError(await call(target(), "/matches", { rule_id }), 404, "not_found", /rule_/)
      const rest = await call(target(), "/matches", {})
      assert.deepStrictEqual(rest.body["matches"] as unknown, [])
    })

    it("pages with next_cursor without gaps or repeats while new matches are stored", async () => {
      const created = await call(target(), "/api.CreateRule", draft("comet", ["x"]))
      const rule_id = created.body["rule_id"]
      const ids = Array.from({ length: 23 }, (_, index) => `comet-${index}`)
      await publishLines(ids.map((id) => xPost(id, "comet")))

      const seen: Array<string> = []
      let cursor: Json | undefined
      let pages = 0
      do {
        const page = await call(target(), "/matches", {
          rule_id,
          limit: 5,
          ...(cursor === undefined ? {} : { cursor })
        })
        const matches = [...(page.body["matches"] ?? [])]
        assert.isAtMost(matches.length, 5)
        seen.push(...matches.map((match) => String(match["platform_post_id"])))
        cursor = page.body["next_cursor"]
        await publishLines([xPost(`late-${pages}`, "comet")])
        pages++
      } while (cursor !== undefined)

      assert.strictEqual(pages, 5)
      assert.deepStrictEqual(seen, ids.toReversed())
      await call(target(), "/api.DeleteRule", { rule_id })
    })

    it("has no next_cursor on a full last page", async () => {
      const created = await call(target(), "/api.CreateRule", draft("eclipse", ["x"]))
      const rule_id = created.body["rule_id"]
      await publishLines([xPost("e1", "eclipse"), xPost("e2", "eclipse")])
      const page = await call(target(), "/matches", { rule_id, limit: 2 })
      assert.deepStrictEqual(Object.keys(page.body), ["matches", "coverage"])
      assert.lengthOf([...(page.body["matches"] ?? [])], 2)
      const { from, to, platforms } = page.body["coverage"] as unknown as Coverage
      const [x, ...others] = platforms
      assert.deepInclude(x, { platform: "x", gaps: [], more_gaps: false, suspected: [] })
      assert.lengthOf(others, 0, "the rule watches x only")
      assert.isAtLeast(Date.parse(x?.watched_since ?? ""), Date.parse(from ?? ""), "not before the rule was created")
      assert.isBelow(Date.parse(x?.watched_since ?? ""), Date.parse(to))
      await call(target(), "/api.DeleteRule", { rule_id })
    })

    it("accepts all events of a request or none, and names the invalid one", async () => {
      const created = await call(target(), "/api.CreateRule", draft("tornado", ["x"]))
      const rule_id = created.body["rule_id"]
      assertError(await publishLines([xPost("t1", "tornado"), { nonsense: 1 }]), 400, "invalid_argument", /line 2/)
      const array = await call(target(), "/local/events", [xPost("t1", "tornado"), { nonsense: 1 }])
      assertError(array, 400, "invalid_argument", /event 2/)
      const broken = await call(target(), "/local/events", undefined, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson" },
        body: `${JSON.stringify(xPost("t1", "tornado"))}\n{"data":`
      })
      assertError(broken, 400, "invalid_argument", /line 2/)
      assert.deepStrictEqual((await call(target(), "/matches", { rule_id })).body["matches"] as unknown, [])
      await call(target(), "/api.DeleteRule", { rule_id })
    })
  })
}
