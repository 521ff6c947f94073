/** The check use case: issues, canonical text, translation, explanation, backtest and the platform's verdict. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import { Backtests } from "../../../core/backtests/Backtests.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { PlatformRefused } from "../../../core/model/Errors.ts"
import { type AccountId, fromUuid } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import { type Acceptance, type Platform, Platforms, type RecentCount } from "../../../core/platforms/Platform.ts"
import type { RegistrationState, Rule } from "../../../core/rules/Rule.ts"
import { checkFilters } from "../../../core/rules/RuleCheck.ts"
import { Rules } from "../../../core/rules/Rules.ts"
import { quotas } from "../../quotas.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { Fakes, fakes } from "../world.ts"

const recent = Layer.provide(RecentEvents.layerWith({ keep: 100 }), memoryEvents)

/** The rules of the accounts; those without an entry have none. */
const withRules = (rules: ReadonlyMap<AccountId, ReadonlyArray<Rule>> = new Map()) =>
  Layer.provideMerge(
    Layer.mergeAll(
      Backtests.layer,
      fakes,
      quotas(),
      Layer.mock(Rules, { list: (account) => Effect.succeed({ rules: rules.get(account) ?? [] }) })
    ),
    Layer.merge(recent, Platforms.layer)
  )

const layer = withRules()

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const bob = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

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

  it.effect("says that fixes may be missing if a filter has too many issues to verify them", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 60 }, (_, n) => `lang:q${n} AND`).join(" ")
      const { platforms } = yield* checkFilters(ann, { overrides: { x: many } })
      assert.match(platforms["x"]?.incomplete ?? "", /^The search for fixes stopped/)
      assert.strictEqual(platforms["x"]?.issues.at(-1)?.message, "102 more issues are not shown")
    }).pipe(Effect.provide(layer))
  )

  it.effect("refuses an event for a platform without a filter", () =>
    Effect.gen(function* () {
      const events = { firehose: { document: { url: "https://a.b" } } }
      const error = yield* Effect.flip(checkFilters(ann, { overrides: { x: "storm" }, events }))
      assert.strictEqual(
        error.message,
        'Request is not valid: "events.firehose": There is no filter for it in "overrides": add one, or leave the event out'
      )
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

  it.effect("shows each loss of a translation on events that it takes as samples", () =>
    Effect.gen(function* () {
      const { platforms } = yield* checkFilters(ann, { overrides: { x: "storm from:nasa" } })
      const translation = platforms["x"]?.translations["firehose"]
      const [word, account] = translation?.clauses ?? []
      assert.notProperty(word, "effects")
      assert.notProperty(word, "witnesses")
      assert.deepStrictEqual(account?.effects, ["wider"])
      const [witness] = account?.witnesses ?? []
      assert.strictEqual(witness?.matched_by, "firehose")
      const again = yield* checkFilters(ann, {
        overrides: { x: "storm from:nasa", firehose: translation?.text ?? "" },
        events: witness?.events ?? {}
      })
      assert.strictEqual(again.platforms["x"]?.explanation?.matched, false)
      assert.deepStrictEqual(again.platforms["x"]?.explanation?.decisive, [{ start: 6, end: 15 }])
      assert.strictEqual(again.platforms["firehose"]?.explanation?.matched, true)
    }).pipe(Effect.provide(layer))
  )

  it.effect("offers no translation of a rule that loses what it looks for", () =>
    Effect.gen(function* () {
      const { platforms } = yield* checkFilters(ann, {
        overrides: { firehose: 'removed:"free plan" AND url:*pricing*' }
      })
      const translation = platforms["firehose"]?.translations["x"]
      assert.notProperty(translation, "text")
      assert.strictEqual(translation?.fidelity, "impossible")
      assert.strictEqual(
        translation?.reason,
        'X cannot express what this rule looks for, removed:"free plan"; the rest alone matches unrelated events'
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks the platform only with ask_platforms", () =>
    Effect.gen(function* () {
      const { x } = yield* Fakes
      const overrides = { x: "storm" }
      assert.notProperty((yield* checkFilters(ann, { overrides })).platforms["x"], "platform_verdict")
      const taken = yield* checkFilters(ann, { overrides, ask_platforms: true })
      assert.deepStrictEqual(taken.platforms["x"]?.platform_verdict, accepted)
      x.state = "refused"
      const refused = yield* checkFilters(ann, { overrides, ask_platforms: true })
      assert.deepStrictEqual(refused.platforms["x"]?.platform_verdict, {
        ...accepted,
        accepted: false,
        reason: "no"
      })
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
      assert.deepInclude(platforms["x"]?.backtest, { tested: 2, matched: 1, samples: [posts[0]] })
      assert.deepInclude(platforms["firehose"]?.backtest, { tested: 0, matched: 0 })
      const wrong = yield* checkFilters(ann, { overrides: { x: "storm AND" }, backtest })
      assert.notProperty(wrong.platforms["x"], "backtest")
      const unasked = yield* checkFilters(ann, { overrides: { x: "storm" } })
      assert.notProperty(unasked.platforms["x"], "backtest")
    }).pipe(Effect.provide(layer))
  )

  it.effect("a backtest on a real platform is based on matched events, without share and rate", () =>
    Effect.gen(function* () {
      const events = yield* RecentEvents
      const at = (minute: number) => new Date(minute * 60_000).toISOString()
      const posts = Array.from({ length: 100 }, (_, n) => ({
        data: { id: String(n), text: n < 5 ? "A storm" : "Calm", created_at: at(n) }
      }))
      yield* events.record("x", posts)
      const { platforms } = yield* checkFilters(ann, {
        overrides: { x: "storm" },
        backtest: { events: 1_000, samples: 0 }
      })
      assert.deepStrictEqual(platforms["x"]?.backtest, {
        basis: "matched_events",
        tested: 100,
        matched: 5,
        already_matched: 0,
        from: Timestamp.fromMillis(0),
        to: Timestamp.fromMillis(99 * 60_000),
        samples: []
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("a backtest counts what the active rules of the account on that platform match already", () => {
    const rules = new Map([
      [ann, [rule("x", "rain", "active"), rule("x", "wind", "failed"), rule("firehose", "storm", "active")]],
      [bob, [rule("x", "storm", "active")]]
    ])
    return Effect.gen(function* () {
      const texts = ["A storm", "Storm and rain", "Storm and wind", "Rain"]
      yield* (yield* RecentEvents).record(
        "x",
        texts.map((text, n) => ({ data: { id: String(n), text } }))
      )
      const request = { overrides: { x: "storm" }, backtest: { events: 1_000, samples: 0 } }
      const overlap = (account: AccountId) =>
        Effect.map(checkFilters(account, request), ({ platforms }) => platforms["x"]?.backtest?.already_matched)
      assert.strictEqual(yield* overlap(ann), 1)
      assert.strictEqual(yield* overlap(bob), 3)
    }).pipe(Effect.provide(withRules(rules)))
  })

  it.effect("says who judged the filter: the platform, a service in its place, or Earshot itself", () =>
    Effect.gen(function* () {
      const { x } = yield* Fakes
      const verdictWith = (changes: Partial<Platform["capabilities"]>, acceptance: Acceptance) => {
        Object.assign(x.platform, {
          capabilities: { ...x.platform.capabilities, ...changes },
          verify: () => Effect.succeed(Either.right(acceptance))
        })
        return Effect.map(
          checkFilters(ann, { overrides: { x: "storm" }, ask_platforms: true }),
          ({ platforms }) => platforms["x"]?.platform_verdict
        )
      }
      assert.deepStrictEqual(yield* verdictWith({}, "confirmed"), accepted)
      assert.deepStrictEqual(yield* verdictWith({}, "presumed"), { ...accepted, judged_by: "earshot" })
      const address = "http://127.0.0.1:9797"
      assert.deepStrictEqual(yield* verdictWith({ address }, "confirmed"), {
        ...accepted,
        judged_by: "other_service",
        address
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks a platform that counts, and only for a filter that it accepts", () =>
    Effect.gen(function* () {
      const { x } = yield* Fakes
      const ask = Effect.map(
        checkFilters(ann, { overrides: { x: "storm" }, ask_platforms: true }),
        ({ platforms }) => platforms["x"]
      )
      let answer: ReturnType<NonNullable<Platform["countRecent"]>> = Effect.succeed(week(336))
      Object.assign(x.platform, {
        countRecent: () => answer,
        capabilities: { ...x.platform.capabilities, pricePerEvent: 0.005 }
      })
      assert.deepInclude(yield* ask, {
        platform_verdict: accepted,
        counts: { total: 336, per_hour: 2, from: Timestamp.fromMillis(0), to: Timestamp.fromMillis(WEEK) },
        price: { per_month: 7.2, currency: "USD" }
      })
      answer = Effect.succeed(week(336, { without: ["bio"], note: "More or less" }))
      assert.deepInclude((yield* ask)?.counts, { bound: "upper", without: ["bio"], note: "More or less" })

      answer = new PlatformRefused({ platform: "x", reason: "not countable", upstream: {} })
      const uncounted = yield* ask
      assert.deepInclude(uncounted, { platform_verdict: accepted, counts_reason: "not countable" })
      assert.doesNotHaveAnyKeys(uncounted, ["counts", "price"])

      x.state = "refused"
      assert.doesNotHaveAnyKeys(yield* ask, ["counts", "counts_reason", "price"])
    }).pipe(Effect.provide(layer))
  )
})

// ---- helpers ----

/** The verdict of a platform on the network. */
const accepted = { accepted: true, asked: true, judged_by: "platform" as const }

const rule = (platform: string, text: string, state: RegistrationState): Rule => ({
  id: fromUuid("rule", "01890000-0000-7000-8000-000000000001"),
  name: "n",
  intent: "i",
  platforms: { [platform]: { platform_rule_id: "1", translated_value: text, state } },
  created_at: Timestamp.fromMillis(0),
  version: 1
})

const WEEK = 7 * Timestamp.DAY_MILLIS

const week = (total: number, rest: Partial<RecentCount> = {}): RecentCount => ({
  total,
  from: 0,
  to: WEEK,
  without: [],
  parts: [],
  ...rest
})
