/** The check use case: issues, canonical text, translation, explanation, backtest and the platform's verdict. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Backtests } from "../../../core/backtests/Backtests.ts"
import { EventLog } from "../../../core/backtests/EventLog.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { fromUuid } from "../../../core/model/Ids.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import { checkFilters } from "../../../core/rules/RuleCheck.ts"
import { quotas } from "../../quotas.ts"
import { Fakes, fakes } from "../world.ts"

const recent = Layer.provide(RecentEvents.layerWith({ keep: 100 }), EventLog.layerMemory)
const layer = Layer.provideMerge(Layer.mergeAll(Backtests.layer, fakes, quotas()), Layer.merge(recent, Platforms.layer))

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")

describe("checkFilters", () => {
  it.effect("returns the issues of an invalid filter, with span and fix", () =>
    Effect.gen(function* () {
      const { platforms } = yield* checkFilters(ann, { overrides: { x: "storm AND flood" } })
      assert.isFalse(platforms["x"]?.valid)
      assert.notProperty(platforms["x"], "canonical")
      const [issue] = platforms["x"]?.issues ?? []
      assert.strictEqual(issue?.severity, "error")
      assert.deepStrictEqual(issue?.span, { start: 6, end: 9 })
      assert.strictEqual(issue?.fix?.text, "storm flood")
      assert.notProperty(platforms, "firehose")
    }).pipe(Effect.provide(layer))
  )

  it.effect("returns the canonical text and the translation with the fidelity of each clause", () =>
    Effect.gen(function* () {
      const { platforms } = yield* checkFilters(ann, { overrides: { x: "(Storm) from:NASA" } })
      assert.isTrue(platforms["x"]?.valid)
      assert.strictEqual(platforms["x"]?.canonical, "storm from:nasa")
      const translation = platforms["x"]?.translations["firehose"]
      assert.strictEqual(translation?.text, "storm")
      assert.strictEqual(translation?.fidelity, "wider")
      assert.deepStrictEqual(
        translation?.clauses.map(({ fidelity }) => fidelity),
        ["exact", "impossible"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks the platform only with ask_platforms", () =>
    Effect.gen(function* () {
      const { x } = yield* Fakes
      const overrides = { x: "storm" }
      assert.notProperty((yield* checkFilters(ann, { overrides })).platforms["x"], "platform_verdict")
      const taken = yield* checkFilters(ann, { overrides, ask_platforms: true })
      assert.deepStrictEqual(taken.platforms["x"]?.platform_verdict, { accepted: true })
      x.state = "refused"
      const refused = yield* checkFilters(ann, { overrides, ask_platforms: true })
      assert.deepStrictEqual(refused.platforms["x"]?.platform_verdict, { accepted: false, reason: "no" })
      x.state = "away"
      const error = yield* Effect.flip(checkFilters(ann, { overrides, ask_platforms: true }))
      assert.strictEqual(error._tag, "PlatformUnavailable")
    }).pipe(Effect.provide(layer))
  )

  it.effect("explains which clauses held for a sample event, and which were decisive", () =>
    Effect.gen(function* () {
      const events = {
        x: { data: { id: "1", text: "A storm is coming", lang: "fr" } },
        firehose: { document: { url: "https://example.com/", title: "Storm", diff: { chunks: [] } } }
      }
      const { platforms } = yield* checkFilters(ann, {
        overrides: { x: "storm lang:en", firehose: "title:storm" },
        events
      })
      const x = platforms["x"]?.explanation
      assert.isFalse(x?.matched)
      assert.deepStrictEqual(
        x?.clauses.map(({ held }) => held),
        [true, false]
      )
      assert.deepStrictEqual(x?.decisive, [{ start: 6, end: 13 }])
      assert.isTrue(platforms["firehose"]?.explanation?.matched)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails with InvalidArgument for a sample that is not an event of its platform", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        checkFilters(ann, { overrides: { x: "storm" }, events: { x: { data: { id: "1" } } } })
      )
      assert.strictEqual(error.message, 'Request is not valid: "events.x": Not an X post: "data" has no "text"')
    }).pipe(Effect.provide(layer))
  )

  it.effect("backtests each valid filter on recent events only on request", () =>
    Effect.gen(function* () {
      const events = yield* RecentEvents
      const posts = ["A storm", "Calm"].map((text, n) => ({ data: { id: String(n), text } }))
      yield* events.record("x", posts)
      const backtest = { events: 1_000, samples: 3 }
      const { platforms } = yield* checkFilters(ann, { overrides: { x: "storm", firehose: "storm" }, backtest })
      assert.deepInclude(platforms["x"]?.backtest, { tested: 2, matched: 1, share: 0.5, samples: [posts[0]] })
      assert.deepInclude(platforms["firehose"]?.backtest, { tested: 0, matched: 0 })
      const wrong = yield* checkFilters(ann, { overrides: { x: "storm AND" }, backtest })
      assert.notProperty(wrong.platforms["x"], "backtest")
      const unasked = yield* checkFilters(ann, { overrides: { x: "storm" } })
      assert.notProperty(unasked.platforms["x"], "backtest")
    }).pipe(Effect.provide(layer))
  )
})
