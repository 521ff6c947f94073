/** `POST /matches/explain` and `POST /rules/hits`: results, arguments, limits and the isolation of accounts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { localPlatforms } from "../platforms.ts"
import { assertError, call, type Json, type Target, xPost } from "./client.ts"
import { serve, service, serviceOn } from "./inProcess.ts"

const draft = (x: string, firehose?: string) => ({
  name: "Storms",
  intent: "Storms",
  platforms: firehose === undefined ? ["x"] : ["x", "firehose"],
  overrides: { x, ...(firehose !== undefined && { firehose }) }
})

const createRule = async (target: Target, x: string, firehose?: string): Promise<string> => {
  const { body } = await call(target, "/api.CreateRule", draft(x, firehose))
  return String(body["rule_id"])
}

const explain = async (target: Target, request: object): Promise<Json> => {
  const { status, body } = await call(target, "/matches/explain", request)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body
}

const clausesOf = (explanation: Json, filter: string) =>
  [...(explanation["clauses"] ?? [])].map(({ span, held }) => [
    filter.slice(Number(span?.["start"]), Number(span?.["end"])),
    held as unknown
  ])

describe("POST /matches/explain", () => {
  it.scopedLive("explains a match, and a miss by event and by id, with a change that matches", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* Effect.promise(async () => {
        const filter = "storm -is:retweet"
        const rule_id = await createRule(ann, filter)
        const calm = { data: { id: "2", text: "a calm evening after the storms", lang: "en" } }
        await call(ann, "/local/events", [xPost("1", "A storm is coming"), calm])
        const { body } = await call(ann, "/matches", { rule_id })
        const [match] = body["matches"] ?? []

        const hit = await explain(ann, { match_id: match?.["id"] })
        assert.deepInclude(hit, { rule_id, platform: "x", filter, matched: true, changes: [] } as object)
        assert.deepStrictEqual(clausesOf(hit, filter), [
          ["storm", true],
          ["is:retweet", false]
        ])
        const [storm] = hit["clauses"] ?? []
        const place = { value: 0, start: 2, end: 7, text: "storm" }
        assert.deepStrictEqual(storm?.["tested"] as unknown, {
          field: "x.text",
          values: ["A storm is coming"],
          count: 1,
          place
        })

        for (const request of [
          { rule_id, event: calm },
          { rule_id, platform: "x", platform_post_id: "2" }
        ]) {
          const miss = await explain(ann, request)
          assert.isFalse(miss["matched"] as unknown)
          assert.deepStrictEqual(miss["decisive"] as unknown, [{ start: 0, end: 5 }])
          const [change] = miss["changes"] ?? []
          const changed = String(change?.["text"])
          const again = await call(ann, "/rules/check", { overrides: { x: changed }, events: { x: calm } })
          assert.isTrue(again.body["platforms"]?.["x"]?.["explanation"]?.["matched"] as unknown, changed)
        }
      })
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("explains a match with the version of the rule that matched, and an event with the present one", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* Effect.promise(async () => {
        const rule_id = await createRule(ann, "storm")
        const post = xPost("1", "A storm is coming")
        await call(ann, "/local/events", [post])
        const [match] = (await call(ann, "/matches", { rule_id })).body["matches"] ?? []
        await call(ann, "/api.UpdateRule", { rule_id, overrides: { x: "flood" } })
        const before = await explain(ann, { match_id: match?.["id"] })
        assert.deepInclude(before, { rule_version: 1, filter: "storm", matched: true } as object)
        const now = await explain(ann, { rule_id, event: post })
        assert.deepInclude(now, { rule_version: 2, filter: "flood", matched: false } as object)
      })
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("finds the platform of an event, or asks for it", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* Effect.promise(async () => {
        const rule_id = await createRule(ann, "storm", "title:storm")
        const page = { document: { url: "http://a.example", title: "Storm" } }
        assert.strictEqual(String((await explain(ann, { rule_id, event: page }))["platform"]), "firehose")
        const both = await call(ann, "/matches/explain", { rule_id, platform_post_id: "1" })
        assertError(both, 400, "invalid_argument")
        assert.include(JSON.stringify(both.body), 'the rule watches \\"x\\" and \\"firehose\\"')
      })
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("refuses incomplete and contradictory requests", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* Effect.promise(async () => {
        const rule_id = await createRule(ann, "storm")
        const both = await createRule(ann, "storm", "storm")
        for (const [request, path] of [
          [{}, ""],
          [{ rule_id }, "event"],
          [{ rule_id, event: xPost("1", "a"), platform_post_id: "1" }, "event"],
          [{ rule_id, event: { data: 1 } }, "event"],
          [{ rule_id, platform: "firehose", event: xPost("1", "a") }, "platform"],
          [{ rule_id: both }, "event"],
          [{ rule_id: both, platform: "firehose", event: xPost("1", "a") }, "event"],
          [{ rule_id: both, event: { foo: 1 } }, "event"],
          [{ rule_id: both, platform_post_id: "1" }, "platform"],
          [{ match_id: "match_1", platform: "x" }, "platform"],
          [{ match_id: "match_1", rule_id }, ""]
        ] as const) {
          const answer = await call(ann, "/matches/explain", request)
          assertError(answer, 400, "invalid_argument")
          const [issue] = answer.body["details"]?.["issues"] ?? []
          assert.strictEqual(String(issue?.["path"]), path, JSON.stringify(request))
        }
      })
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("treats rules, matches and events of another account like unknown ones", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* Effect.promise(async () => {
        const annsRule = await createRule(ann, "storm")
        const bobsRule = await createRule(bob, "storm")
        await call(ann, "/local/events", [xPost("77", "storm")])
        const { body } = await call(ann, "/matches", {})
        const [match] = body["matches"] ?? []
        const id = String(match?.["id"])
        const answerTo = async (path: string, request: object) => {
          const answer = await call(bob, path, request)
          assertError(answer, 404, "not_found")
          return JSON.stringify(answer.body)
        }
        const other = (id: string) => id.replace(/.$/, (last) => (last === "0" ? "1" : "0"))
        const unknown = { match: other(id), rule: other(annsRule) }
        const same = async (path: string, foreign: object, other: object, [one, two]: readonly [string, string]) =>
          assert.strictEqual((await answerTo(path, foreign)).replaceAll(one, two), await answerTo(path, other))
        await same("/matches/explain", { match_id: id }, { match_id: unknown.match }, [id, unknown.match])
        for (const event of [{ event: xPost("77", "storm") }, { platform_post_id: "77" }]) {
          const ids = [annsRule, unknown.rule] as const
          await same("/matches/explain", { rule_id: annsRule, ...event }, { rule_id: unknown.rule, ...event }, ids)
        }
        await same("/rules/hits", { rule_id: annsRule }, { rule_id: unknown.rule }, [annsRule, unknown.rule])
        const posts = [
          { rule_id: bobsRule, platform_post_id: "77" },
          { rule_id: bobsRule, platform_post_id: "78" }
        ] as const
        await same("/matches/explain", ...posts, ['"77', '"78'])
        assert.isTrue((await explain(ann, { rule_id: annsRule, platform_post_id: "77" }))["matched"] as unknown)
      })
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("counts as a check", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* Effect.promise(async () => {
        const rule_id = await createRule(ann, "storm")
        // Spends more than the limit, so that the next one is refused.
        await call(ann, "/matches/explain", { rule_id, event: xPost("1", "calm ".repeat(4_000)) })
        for (const path of ["/matches/explain", "/rules/hits"]) {
          assertError(await call(ann, path, { rule_id }), 429, "resource_exhausted")
        }
      })
    }).pipe(Effect.provide(serviceOn(localPlatforms({}, { checks: 0.000_1 }))))
  )
})

describe("POST /rules/hits", () => {
  it.scopedLive("counts for each clause on how many events it held and how many it alone blocked", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* Effect.promise(async () => {
        const rule_id = await createRule(ann, "storm (rain OR snow) -wind", "storm AND language:de")
        const texts = ["storm rain", "storm", "storm", "storm snow wind", "rain", "calm", "storm rain"]
        await call(
          ann,
          "/local/events",
          texts.map((text, n) => xPost(String(n), text))
        )
        await call(bob, "/local/events", [xPost("9", "storm rain")])
        const { status, body } = await call(ann, "/rules/hits", { rule_id })
        assert.strictEqual(status, 200)
        const [x, firehose] = [body["platforms"]?.["x"], body["platforms"]?.["firehose"]]
        assert.deepInclude(x, { state: "active", basis: "all_events", tested: 7, matched: 2 } as object)
        assert.deepStrictEqual(
          [...(x?.["clauses"] ?? [])].map(
            ({ text, negated, held, blocked }) => [text, negated, held, blocked] as unknown
          ),
          [
            ["storm", false, 5, 1],
            ["rain", false, 3, 2],
            ["snow", false, 1, 2],
            ["wind", true, 1, 1]
          ]
        )
        assert.deepStrictEqual(
          [...(x?.["parts"] ?? [])].map(({ text, held, blocked }) => [text, held, blocked] as unknown),
          [
            ["storm", 5, 1],
            ["(rain OR snow)", 4, 2],
            ["-wind", 6, 1]
          ]
        )
        assert.include(String(firehose?.["note"]), "No events to test")
        const limited = await call(ann, "/rules/hits", { rule_id, platform: "x", events: 3 })
        assert.deepStrictEqual(Object.keys(limited.body["platforms"] ?? {}), ["x"])
        assert.strictEqual(Number(limited.body["platforms"]?.["x"]?.["tested"]), 3)
      })
    }).pipe(Effect.provide(service))
  )
})
