/** The settings that no other test covers: the behaviour with the default and with another value. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SettingsPatch } from "../../simulator/settings.ts"
import { pageOf, pass, postOf, RULES, recordsOf, STREAM, type Stage, settle, stage, TAP, X } from "./stage.ts"

const addX = (sim: Stage, value: string) => sim.call(RULES, { method: "POST", headers: X, body: { add: [{ value }] } })

interface Case {
  readonly name: string
  readonly patch: SettingsPatch
  readonly observe: (sim: Stage) => Effect.Effect<unknown>
  readonly before: unknown
  readonly after: unknown
}

const cases: ReadonlyArray<Case> = [
  {
    name: "x.refused_warnings",
    patch: { x: { refused_warnings: ["negated-group"] } },
    observe: (sim) => Effect.map(addX(sim, "skiing -(snow OR day)"), ({ body }) => body.meta.summary.valid),
    before: 1,
    after: 0
  },
  {
    name: "x.length_counts",
    patch: { x: { length_counts: "code-points" } },
    observe: (sim) => Effect.map(addX(sim, `cat "${"🐈".repeat(600)}"`), ({ body }) => body.meta.summary.valid),
    before: 0,
    after: 1
  },
  {
    name: "x.add_order",
    patch: { x: { add_order: "reversed" } },
    observe: (sim) =>
      Effect.map(
        sim.call(`${RULES}?dry_run=true`, {
          method: "POST",
          headers: X,
          body: { add: [{ value: "a1" }, { value: "b1" }] }
        }),
        ({ body }) => body.data.map(({ value }: { value: string }) => value)
      ),
    before: ["a1", "b1"],
    after: ["b1", "a1"]
  },
  {
    name: "x.sends_meta_sent",
    patch: { x: { sends_meta_sent: false } },
    observe: (sim) => Effect.map(sim.call(RULES, { headers: X }), ({ body }) => "sent" in body.meta),
    before: true,
    after: false
  },
  {
    name: "x.project_rule_cap",
    patch: { x: { project_rule_cap: 15 } },
    observe: (sim) => Effect.map(sim.call(`${RULES}/counts`, { headers: X }), ({ body }) => body.data.cap_per_project),
    before: "1000",
    after: "15"
  },
  {
    name: "x.bearer_token",
    patch: { x: { bearer_token: "another" } },
    observe: (sim) => Effect.map(sim.call(RULES, { headers: X }), ({ status }) => status),
    before: 200,
    after: 401
  },
  {
    name: "firehose.tap_token",
    patch: { firehose: { tap_token: "fh_another" } },
    observe: (sim) => Effect.map(sim.call("/v1/rules", { headers: TAP }), ({ status }) => status),
    before: 200,
    after: 401
  },
  {
    name: "firehose.retry_after",
    patch: { firehose: { retry_after: false } },
    observe: (sim) =>
      Effect.gen(function* () {
        yield* sim.control.inject({ kind: "rate-limit", platform: "firehose", headers: true, reset_seconds: 5 })
        return (yield* sim.call("/v1/rules", { headers: TAP })).headers.get("retry-after")
      }),
    before: "5",
    after: null
  },
  {
    name: "firehose.undated_pages",
    patch: { firehose: { undated_pages: "kept" } },
    observe: (sim) =>
      Effect.gen(function* () {
        yield* sim.addFirehose("cat")
        const { publish_time: _, ...document } = pageOf("cat", 1).document
        return (yield* Effect.orDie(sim.control.publish([{ document }]))).matches > 0
      }),
    before: false,
    after: true
  },
  {
    name: "firehose.refused_warnings",
    patch: { firehose: { refused_warnings: ["unknown-label"] } },
    observe: (sim) =>
      Effect.map(
        sim.call("/v1/validate/public", { method: "POST", body: { value: 'cat AND page_category:"/Nonsense"' } }),
        ({ body }) => body.data.valid
      ),
    before: true,
    after: false
  },
  {
    name: "firehose.retention_hours",
    patch: { firehose: { retention_hours: 0.5 } },
    observe: (sim) =>
      Effect.gen(function* () {
        yield* sim.addFirehose("cat")
        yield* sim.page("cat")
        yield* sim.control.advance(3_600)
        const stream = yield* sim.listen("/v1/stream?since=2h", TAP)
        yield* stream.hangUp
        return stream.text().includes("update")
      }),
    before: true,
    after: false
  },
  {
    name: "firehose.partition",
    patch: { firehose: { partition: 3 } },
    observe: (sim) =>
      Effect.gen(function* () {
        yield* sim.addFirehose("cat")
        yield* sim.page("cat")
        const stream = yield* sim.listen("/v1/stream?since=1h", TAP)
        yield* stream.hangUp
        return /id: (\d)-/.exec(stream.text())?.[1]
      }),
    before: "0",
    after: "3"
  }
]

describe("setting", () => {
  for (const { name, patch, observe, before, after } of cases) {
    it.scoped(name, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* observe(yield* stage()), before)
        assert.deepStrictEqual(yield* observe(yield* stage(patch)), after)
      })
    )
  }

  it.scoped("x.counts_share_limit gives rules/counts its own rate limit when false", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { rules_get_limit: 1 } })
      const counts = Effect.map(sim.call(`${RULES}/counts`, { headers: X }), ({ status }) => status)
      yield* sim.call(RULES, { headers: X })
      assert.strictEqual(yield* counts, 429)
      yield* sim.control.patch({ x: { counts_share_limit: false } })
      assert.strictEqual(yield* counts, 200)
    })
  )

  it.scoped("x.penalty_seconds extends the rate limit with each call", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { rules_get_limit: 1, penalty_seconds: 60 } })
      const call = Effect.map(sim.call(RULES, { headers: X }), ({ status }) => status)
      yield* call
      yield* call
      yield* pass(900)
      assert.strictEqual(yield* call, 429)
      yield* pass(120)
      assert.strictEqual(yield* call, 200)
    })
  )

  it.scoped("x.refused_connects_count does not count refused connections when false", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { refused_connects_count: false } })
      yield* sim.addX("cat")
      const first = yield* sim.listen(STREAM, X)
      yield* sim.call(STREAM, { headers: X })
      yield* first.hangUp
      yield* pass(5)
      assert.strictEqual((yield* sim.listen(STREAM, X)).headers.get("x-rate-limit-remaining"), "48")
    })
  )

  it.scoped("x.ids_filter lists all rules when the filter is ignored", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const [cat] = yield* sim.addX("cat", "dog")
      const listed = Effect.map(sim.call(`${RULES}?ids=${cat}`, { headers: X }), ({ body }) => body.data.length)
      assert.strictEqual(yield* listed, 1)
      yield* sim.control.patch({ x: { ids_filter: "ignored" } })
      assert.strictEqual(yield* listed, 2)
    })
  )

  it.scoped("x.deletes keeps half of the rules of a delete, or all", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { deletes: "none" } })
      const ids = yield* sim.addX("cat", "dog", "bird")
      const remove = (wanted: ReadonlyArray<string>) =>
        Effect.map(
          sim.call(RULES, { method: "POST", headers: X, body: { delete: { ids: wanted } } }),
          ({ body }) => body.meta.summary
        )
      assert.deepStrictEqual(yield* remove(ids), { deleted: 0, not_deleted: 3 })
      yield* sim.control.patch({ x: { deletes: "half" } })
      assert.deepStrictEqual(yield* remove([...ids, "99"]), { deleted: 1, not_deleted: 3 })
      assert.lengthOf((yield* sim.control.state).x.rules, 2)
    })
  )

  it.scoped("x.vocabulary renames tweets to posts, also in includes", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { vocabulary: "post" } })
      yield* sim.addX("cat")
      const stream = yield* sim.listen(`${STREAM}?expansions=referenced_tweets.id&tweet.fields=referenced_tweets`, X)
      const post = postOf("a cat", 1)
      const errors = [{ title: "Not Found Error", resource_id: "5" }]
      yield* sim.control.publish([
        {
          data: { ...post.data, referenced_tweets: [{ type: "quoted", id: "5" }] },
          includes: { tweets: [{ id: "5", text: "old", edit_history_tweet_ids: ["5"] }] },
          errors
        }
      ])
      yield* settle
      const [record] = recordsOf(stream.text())
      assert.deepStrictEqual(record.data.referenced_posts, [{ type: "quoted", id: "5" }])
      assert.deepStrictEqual(record.includes, { posts: [{ id: "5", text: "old", edit_history_post_ids: ["5"] }] })
      assert.deepStrictEqual([record.errors, stream.ended()], [errors, "open"])
    })
  )
})
