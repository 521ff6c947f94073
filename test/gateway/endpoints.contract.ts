/** The five endpoints of the specification in their basic use. */
import { assert, describe, it } from "@effect/vitest"
import { answerOf, call, draft, type Target } from "./client.ts"

export const endpointsContract = (target: () => Target): void => {
  describe("the five endpoints", () => {
    it("POST /api.CreateRule returns rule_id and, per platform, platform_rule_id and translated_value", async () => {
      const { status, body } = await call(target(), "/api.CreateRule", draft("creation", ["x", "firehose"]))
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(Object.keys(body), ["rule_id", "platforms"])
      assert.match(String(body["rule_id"]), /^rule_[0-9a-z]{26}$/)
      assert.sameMembers(Object.keys(body["platforms"] ?? {}), ["x", "firehose"])
      for (const result of Object.values(body["platforms"] ?? {})) {
        assert.sameMembers(Object.keys(result), ["platform_rule_id", "translated_value"])
        assert.strictEqual(String(result["translated_value"]), "creation")
        assert.isNotEmpty(result["platform_rule_id"])
      }
      await call(target(), "/api.DeleteRule", { rule_id: body["rule_id"] })
    })

    it("GET /api.ListRules returns every field of a rule, newest first", async () => {
      const first = await call(target(), "/api.CreateRule", draft("listed1"))
      const second = await call(target(), "/api.CreateRule", { ...draft("listed2"), name: "  Second  " })
      const { status, body } = await call(target(), "/api.ListRules")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(Object.keys(body), ["rules"])
      const [newest, next] = [...(body["rules"] ?? [])]
      assert.deepStrictEqual([newest?.["id"], next?.["id"]], [second.body["rule_id"], first.body["rule_id"]])
      assert.sameMembers(Object.keys(newest ?? {}), ["id", "name", "intent", "platforms", "created_at", "version"])
      assert.strictEqual(String(newest?.["name"]), "Second")
      assert.match(String(newest?.["created_at"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual(newest?.["platforms"] as unknown, {
        firehose: { ...second.body["platforms"]?.["firehose"], state: "active" }
      })
      await call(target(), "/api.DeleteRule", { rule_id: first.body["rule_id"] })
      await call(target(), "/api.DeleteRule", { rule_id: second.body["rule_id"] })
    })

    it("POST /api.DeleteRule returns the rule_id, and not_found the second time", async () => {
      const created = await call(target(), "/api.CreateRule", draft())
      const rule_id = created.body["rule_id"]
      const deleted = await call(target(), "/api.DeleteRule", { rule_id })
      assert.deepStrictEqual([deleted.status, deleted.body as unknown], [200, { rule_id }])
      const again = await call(target(), "/api.DeleteRule", { rule_id })
      assert.deepStrictEqual(
        [again.status, again.body as unknown],
        [404, { code: "not_found", message: `Cannot find rule "${rule_id}"`, details: { rule_id } }]
      )
    })

    it("POST /matches accepts an empty object", async () => {
      const { status, body } = await call(target(), "/matches", {})
      assert.deepStrictEqual([status, body["matches"] as unknown], [200, []])
      assert.deepStrictEqual(body["coverage"]?.["platforms"] as unknown, [], "there are no rules to watch for")
    })

    it("POST /platforms/syntax returns all platforms, or the requested ones", async () => {
      const all = await call(target(), "/platforms/syntax", {})
      assert.sameMembers(Object.keys(all.body["platforms"] ?? {}), ["x", "firehose"])
      const one = await call(target(), "/platforms/syntax", { platforms: ["firehose"] })
      assert.deepStrictEqual(one.body as unknown, { platforms: { firehose: all.body["platforms"]?.["firehose"] } })
      assert.strictEqual(String(one.body["platforms"]?.["firehose"]?.["rule_type"]), "regular")
      assert.strictEqual(String(all.body["platforms"]?.["x"]?.["rule_type"]), "premium")
      assert.sameMembers(Object.keys(all.body["platforms"]?.["x"] ?? {}), [
        "platform",
        "rule_type",
        "summary",
        "syntax",
        "operators",
        "examples",
        "limits"
      ])
    })

    it("GET /health/live and /health/ready need no key", async () => {
      const live = await answerOf(await fetch(`${target().url}/health/live`))
      assert.deepStrictEqual([live.status, live.body as unknown], [200, { status: "ok" }])
      const ready = await answerOf(await fetch(`${target().url}/health/ready`))
      assert.strictEqual(ready.status, 200)
      assert.strictEqual(String(ready.body["store"]), "ok")
    })
  })
}
