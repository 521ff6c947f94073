/** The life of a rule over HTTP: change, pause, resume, shadow, promote and reapply, on each store. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect } from "effect"
import { localPlatforms } from "../platforms.ts"
import { storesOfDoors } from "../stores.ts"
import { assertError, call, draft, type Json, type Target, xPost } from "./client.ts"
import { serve, serviceOn } from "./inProcess.ts"

for (const [name, stores] of storesOfDoors) {
  const service = serviceOn(localPlatforms({ x: 2 }), stores)
  withLayer(service, { excludeTestServices: true, timeout: "240 seconds" })(`changes of a rule on ${name}`, (it) => {
    const test = (title: string, body: (ann: Target, bob: Target) => Promise<void>) =>
      it.scoped(title, () =>
        Effect.gen(function* () {
          const target = yield* serve
          const account = `${name} ${title}`
          const ann = yield* target(account)
          const bob = yield* target(`not ${account}`)
          yield* Effect.promise(() => body(ann, bob))
        })
      )

    test("an update keeps the matches and gives a new version", async (ann) => {
      const rule = await newRule(ann, "cat")
      await publish(ann, "1", "a cat")
      const { body } = await call(ann, "/api.UpdateRule", {
        rule_id: rule,
        name: "Dogs",
        overrides: { x: "dog" },
        expected_version: 1
      })
      assert.deepInclude(plain(body["rule"]), { name: "Dogs", version: 2 })
      await publish(ann, "2", "a dog")
      await publish(ann, "3", "a cat")
      assert.deepStrictEqual(await matchesOf(ann, rule), [
        ["2", 2],
        ["1", 1]
      ])

      const stale = await call(ann, "/api.UpdateRule", { rule_id: rule, name: "Cats", expected_version: 1 })
      assertError(stale, 409, "aborted", /has version 2, not 1/)
      const refused = await call(ann, "/api.UpdateRule", { rule_id: rule, overrides: { x: "(dog" } })
      assertError(refused, 400, "invalid_argument")
      const same = await call(ann, "/api.UpdateRule", { rule_id: rule, name: "Dogs", overrides: { x: "dog" } })
      assert.strictEqual(Number(same.body["rule"]?.["version"]), 2)

      const { body: got } = await call(ann, `/api.GetRule?rule_id=${rule}`)
      assert.deepStrictEqual(got["rule"], same.body["rule"])
      const { body: history } = await call(ann, `/api.ListRuleVersions?rule_id=${rule}`)
      const versions = [...(history["versions"] ?? [])]
      assert.deepStrictEqual(versions.map((one) => [one["version"], one["changed"], one["overrides"]]) as unknown, [
        [2, ["name", "overrides.x"], { x: "dog" }],
        [1, [], { x: "cat" }]
      ])
      assert.match(String(versions[0]?.["key_id"]), /^key_/)
    })

    test("an update adds and removes platforms, within the limit of the account", async (ann) => {
      const rule = await newRule(ann, "cat")
      await newRule(ann, "bird")
      const both = await call(ann, "/api.UpdateRule", {
        rule_id: rule,
        platforms: ["x", "firehose"],
        overrides: { firehose: "cat" }
      })
      assert.hasAllKeys(both.body["rule"]?.["platforms"], ["x", "firehose"])
      const missing = await call(ann, "/api.UpdateRule", {
        rule_id: await newRule(ann, "fish", "firehose"),
        platforms: ["x"]
      })
      assertError(missing, 400, "invalid_argument", /overrides\.x/)
      const only = await call(ann, "/api.UpdateRule", { rule_id: rule, platforms: ["firehose"] })
      assert.hasAllKeys(only.body["rule"]?.["platforms"], ["firehose"])
      await newRule(ann, "cow")
      const full = await call(ann, "/api.UpdateRule", { rule_id: rule, platforms: ["x"], overrides: { x: "cat" } })
      assertError(full, 429, "resource_exhausted")
      assert.hasAllKeys((await call(ann, `/api.GetRule?rule_id=${rule}`)).body["rule"]?.["platforms"], ["firehose"])
    })

    test("a paused rule keeps its matches, holds no place, and says so in its coverage", async (ann) => {
      const rule = await newRule(ann, "cat")
      await newRule(ann, "bird")
      await publish(ann, "1", "a cat")
      const { body } = await call(ann, "/api.PauseRule", { rule_id: rule })
      assert.strictEqual(String(body["rule"]?.["platforms"]?.["x"]?.["state"]), "paused")
      await publish(ann, "2", "a cat")
      assert.deepStrictEqual(await matchesOf(ann, rule), [["1", 1]])
      const listed = await call(ann, "/matches", { rule_id: rule })
      const [gap] = [...(listed.body["coverage"]?.["platforms"] ?? [])].flatMap((one) => [...(one["gaps"] ?? [])])
      assert.strictEqual(String(gap?.["cause"]), "paused")
      assert.isUndefined(gap?.["to"])

      const shadow = await call(ann, "/api.ShadowRule", { rule_id: rule, overrides: { x: "dog" } })
      assertError(shadow, 400, "failed_precondition", /is paused/)
      const third = await newRule(ann, "cow")
      assertError(await call(ann, "/api.ResumeRule", { rule_id: rule }), 429, "resource_exhausted")
      await call(ann, "/api.DeleteRule", { rule_id: third })
      await call(ann, "/api.UpdateRule", { rule_id: rule, overrides: { x: "cat OR dog" } })
      const resumed = await call(ann, "/api.ResumeRule", { rule_id: rule })
      assert.deepInclude(plain(resumed.body["rule"]?.["platforms"]?.["x"]), {
        state: "active",
        translated_value: "cat OR dog"
      })
      await publish(ann, "3", "a dog")
      assert.deepStrictEqual(await matchesOf(ann, rule), [
        ["3", 4],
        ["1", 1]
      ])
      const created = await call(ann, "/api.CreateRule", { ...draft("owl", ["firehose"]), paused: true })
      const own = await call(ann, `/api.GetRule?rule_id=${created.body["rule_id"]}`)
      assert.strictEqual(String(own.body["rule"]?.["platforms"]?.["firehose"]?.["state"]), "paused")
    })

    test("a shadow is compared exactly, reaches no list, and can be promoted with its matches", async (ann, bob) => {
      const rule = await newRule(ann, "cat")
      const started = await call(ann, "/api.ShadowRule", { rule_id: rule, overrides: { x: "cat lang:en OR dog" } })
      assert.strictEqual(started.status, 200, JSON.stringify(started.body))
      for (const [id, text, lang] of [
        ["1", "a cat", "en"],
        ["2", "eine Katze, a cat", "de"],
        ["3", "a dog", "en"],
        ["4", "a bird", "en"],
        ["5", "cat and dog", "de"]
      ] as const) {
        await publish(ann, id, text, lang)
      }
      const compared = (await call(ann, "/api.CompareRule", { rule_id: rule })).body
      const counts = ["present_only", "candidate_only", "both"].map((side) => Number(compared[side]?.["count"]))
      assert.deepStrictEqual(counts, [1, 1, 2])
      const [sample] = [...(compared["present_only"]?.["samples"] ?? [])]
      assert.strictEqual(String(sample?.["platform_post_id"]), "2")
      const decisive = [...(sample?.["explanation"]?.["decisive"] ?? [])]
      assert.isNotEmpty(decisive)
      assert.deepStrictEqual(
        (await matchesOf(ann, rule)).map(([id]) => id),
        ["5", "2", "1"]
      )
      assert.lengthOf([...((await call(ann, "/matches", {})).body["matches"] ?? [])], 3)
      assert.lengthOf([...((await call(ann, "/api.ListRules")).body["rules"] ?? [])], 1)
      assertError(await call(bob, "/api.CompareRule", { rule_id: rule }), 404, "not_found")

      const promoted = await call(ann, "/api.PromoteRule", { rule_id: rule, since: "2020-01-01" })
      assert.strictEqual(Number(promoted.body["added"]), 1)
      assert.isUndefined(promoted.body["rule"]?.["shadow"])
      assert.strictEqual(Number(promoted.body["rule"]?.["version"]), 2)
      const all = [...((await call(ann, "/matches", { rule_id: rule })).body["matches"] ?? [])]
      assert.deepInclude(plain(all[0]), { platform_post_id: "3", reapplied: true, rule_version: 2 })
      await publish(ann, "6", "another dog")
      assert.deepStrictEqual((await matchesOf(ann, rule))[0], ["6", 2])
      assertError(
        await call(ann, "/api.CompareRule", { rule_id: rule }),
        400,
        "failed_precondition",
        /has no shadow: start one first$/
      )
    })

    test("a shadow is compared with the present filters only, and the answer says since when", async (ann) => {
      const rule = await newRule(ann, "cat")
      const compared = async () => {
        const { body } = await call(ann, "/api.CompareRule", { rule_id: rule })
        const counts = ["present_only", "candidate_only", "both"].map((side) => Number(body[side]?.["count"]))
        return { counts, since: String(body["since"]), version: plain(body)["since_version"] }
      }
      await call(ann, "/api.ShadowRule", { rule_id: rule, overrides: { x: "dog" } })
      await publish(ann, "1", "a cat")
      await publish(ann, "2", "a cat and a dog")
      const before = await compared()
      assert.deepStrictEqual([before.counts, before.version], [[1, 0, 1], undefined])

      // A new name does not change what is compared; new filters do.
      await call(ann, "/api.UpdateRule", { rule_id: rule, name: "Pets" })
      assert.deepStrictEqual(await compared(), before)
      await call(ann, "/api.UpdateRule", { rule_id: rule, overrides: { x: "dog" } })
      await publish(ann, "3", "another dog")
      const after = await compared()
      assert.deepStrictEqual([after.counts, after.version], [[0, 0, 1], 3])
      assert.isTrue(after.since > before.since)
      await call(ann, "/api.UpdateRule", { rule_id: rule, name: "Dogs" })
      assert.deepStrictEqual(await compared(), after)
    })

    test("a dropped shadow leaves the rule as it was, and frees its place", async (ann) => {
      const rule = await newRule(ann, "cat")
      await call(ann, "/api.ShadowRule", { rule_id: rule, overrides: { x: "dog" } })
      assertError(await call(ann, "/api.CreateRule", draft("cow", ["x"])), 429, "resource_exhausted")
      const wrong = await call(ann, "/api.ShadowRule", { rule_id: rule, overrides: { firehose: "dog" } })
      assertError(wrong, 400, "invalid_argument", /nothing to compare with/)
      assertError(await call(ann, "/api.PauseRule", { rule_id: rule }), 400, "failed_precondition", /has a shadow/)
      const dropped = await call(ann, "/api.DropShadow", { rule_id: rule })
      assert.isUndefined(dropped.body["rule"]?.["shadow"])
      await newRule(ann, "cow")
      await call(ann, "/api.DeleteRule", { rule_id: rule })
    })

    test("reapply adds what the present filters match among recent events, once", async (ann, bob) => {
      await publish(ann, "1", "a dog")
      await publish(ann, "2", "a cat")
      await publish(bob, "3", "a dog of bob")
      const rule = await newRule(ann, "cat")
      await call(ann, "/api.UpdateRule", { rule_id: rule, overrides: { x: "dog OR cat" } })
      const first = await call(ann, "/rules/reapply", { rule_id: rule })
      assert.deepInclude(plain(first.body["platforms"]?.["x"]), { tested: 2, matched: 2, added: 2, is_complete: true })
      const again = await call(ann, "/rules/reapply", { rule_id: rule })
      assert.deepInclude(plain(again.body["platforms"]?.["x"]), { matched: 2, added: 0 })
      const all = [...((await call(ann, "/matches", { rule_id: rule })).body["matches"] ?? [])]
      assert.deepStrictEqual(
        all.map((match) => [match["platform_post_id"], match["reapplied"], match["rule_version"]]) as unknown,
        [
          ["2", true, 2],
          ["1", true, 2]
        ]
      )
      const none = await call(ann, "/rules/reapply", { rule_id: rule, since: "2990-01-01" })
      assert.deepInclude(plain(none.body["platforms"]?.["x"]), { tested: 0, matched: 0 })
    })
  })
}

// ---- helpers ----

const plain = (json: Json | undefined) => json as unknown as Readonly<Record<string, unknown>>

const newRule = async (target: Target, filter: string, platform: "x" | "firehose" = "x"): Promise<string> => {
  const created = await call(target, "/api.CreateRule", { ...draft(filter, [platform]), name: filter })
  assert.strictEqual(created.status, 200, JSON.stringify(created.body))
  return String(created.body["rule_id"])
}

const publish = async (target: Target, id: string, text: string, lang = "en") => {
  const { data } = xPost(id, text)
  const sent = await call(target, "/local/events", { data: { ...data, lang } })
  assert.strictEqual(sent.status, 200, JSON.stringify(sent.body))
}

/** The post and version of each match, newest first. */
const matchesOf = async (target: Target, rule: string): Promise<ReadonlyArray<readonly [string, number]>> => {
  const { body } = await call(target, "/matches", { rule_id: rule })
  return [...(body["matches"] ?? [])].map((match) => [String(match["platform_post_id"]), Number(match["rule_version"])])
}
