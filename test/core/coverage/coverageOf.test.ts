/** The coverage of rules: only the time in which the stream was open and the platform held the rule. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { newLedger } from "../../../core/coverage/Coverage.ts"
import { makeCoverageOf } from "../../../core/coverage/coverageOf.ts"
import { StreamStore } from "../../../core/coverage/StreamStore.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { type AccountId, Ids, type RuleId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import type { GapCause } from "../../../core/platforms/Platform.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { newRule, noLimits } from "../../contract/samples.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { memoryStreams } from "../../stores/memoryStreams.ts"
import { ann } from "../world.ts"

const layer = Layer.mergeAll(memoryRules, memoryStreams, Layer.provide(Ids.layer, Entropy.layerCounting))

const minute = (minutes: number) => Timestamp.fromMillis(minutes * 60_000)

/** Created at one time and held by x since another. */
const addRule = (created: number, held: number) =>
  Effect.gen(function* () {
    const rules = yield* RuleStore
    const id = yield* (yield* Ids).rule
    const filters = [{ platform: "x", text: "word" }]
    yield* rules.reserve(newRule(ann, { id, createdAt: minute(created), filters }), noLimits)
    yield* rules.activate(id, new Map([["x", { platformRuleId: id, translatedValue: "word" }]]), minute(held))
    return id
  })

/** The platform x was watched in this time, with these gaps. A gap without an end is open. */
const watched = (
  since: number,
  until: number,
  gaps: ReadonlyArray<readonly [from: number, to: number | undefined, cause: GapCause]> = []
) =>
  Effect.gen(function* () {
    const streams = yield* StreamStore
    const [open] = gaps.flatMap(([from, to, cause]) =>
      to === undefined ? [{ since: from * 60_000, cause, detail: "" }] : []
    )
    yield* streams.save({
      platform: "x",
      ledger: {
        ...newLedger,
        watchedSince: Option.some(since * 60_000),
        watchedUntil: until * 60_000,
        openGap: Option.fromNullable(open)
      },
      gaps: gaps.flatMap(([from, to, cause]) =>
        to === undefined
          ? []
          : [{ from: from * 60_000, to: to * 60_000, cause, detail: "", isRecovered: false, isSuspected: false }]
      ),
      recovered: [],
      cursor: Option.none(),
      batch: 1
    })
  })

const read = (rule: Option.Option<RuleId>, account: AccountId = ann) =>
  Effect.gen(function* () {
    const coverageOf = makeCoverageOf({ streams: yield* StreamStore, rules: yield* RuleStore })
    const window = { from: Option.none(), to: 60 * 60_000 }
    const { platforms } = (yield* coverageOf({ account, rule, platforms: ["x", "firehose"] }))(window)
    return platforms.map(({ platform, watched_since, watched_until, gaps }) => ({
      platform,
      watched: [watched_since, watched_until],
      gaps: gaps.map(({ rule_id, from, to, cause }) => [rule_id, from, to, cause])
    }))
  })

const test = (name: string, effect: Effect.Effect<void, unknown, RuleStore | StreamStore | Ids>) =>
  it.effect(name, () => Effect.provide(effect, layer))

describe("coverageOf", () => {
  test(
    "lists only the platforms of the rule, from its creation on",
    Effect.gen(function* () {
      const rule = yield* addRule(12, 13)
      yield* watched(10, 50, [
        [5, 11, "outage"],
        [10.5, 14, "store_down"],
        [20, 30, "cap"]
      ])
      assert.deepStrictEqual(yield* read(Option.some(rule)), [
        {
          platform: "x",
          watched: [minute(13), minute(50)],
          gaps: [
            [undefined, minute(20), minute(30), "cap"],
            [undefined, minute(12), minute(14), "store_down"]
          ]
        }
      ])
    })
  )

  test(
    "counts the time until the stream opens for the first rule as pending",
    Effect.gen(function* () {
      const rule = yield* addRule(12, 13)
      yield* watched(2, 5, [[5, undefined, "no_rules"]])
      const pending = (to?: Timestamp.Timestamp) => [[undefined, minute(12), to, "rule_pending" as const]]
      assert.deepStrictEqual(yield* read(Option.some(rule)), [
        { platform: "x", watched: [undefined, undefined], gaps: pending() }
      ])
      yield* watched(2, 20, [[5, 14, "no_rules"]])
      assert.deepStrictEqual(yield* read(Option.some(rule)), [
        { platform: "x", watched: [minute(14), minute(20)], gaps: pending(minute(14)) }
      ])
    })
  )

  test(
    "counts a rule as watched once it takes effect, not once the platform has accepted it",
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const rule = yield* addRule(12, 13)
      yield* rules.addPending(rule, "x", { from: minute(12), to: minute(70) })
      yield* watched(2, 50)
      assert.deepStrictEqual(yield* read(Option.some(rule)), [
        {
          platform: "x",
          watched: [undefined, undefined],
          gaps: [[rule, minute(12), undefined, "rule_pending"]]
        }
      ])
      yield* rules.tookEffect("x", [rule], minute(15))
      assert.deepStrictEqual(yield* read(Option.some(rule)), [
        {
          platform: "x",
          watched: [minute(15), minute(50)],
          gaps: [[rule, minute(12), minute(15), "rule_pending"]]
        }
      ])
      yield* rules.addPending(rule, "x", { from: minute(30), to: minute(31) })
      assert.deepStrictEqual(
        (yield* read(Option.some(rule))).map(({ watched }) => watched),
        [[minute(15), minute(50)]],
        "a rule that was registered again was watched before"
      )
    })
  )

  test(
    "leaves out the gaps of new rules before any other gap, and says so",
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const oldest = yield* addRule(1, 1)
      yield* rules.fail(oldest, "x", { reason: "no room", lostSince: minute(3), at: minute(3) })
      yield* rules.restore(oldest, "x", {
        registered: { platformRuleId: oldest, translatedValue: "word" },
        lostSince: minute(3),
        at: minute(4)
      })
      yield* watched(1, 50, [[5, 6, "outage"]])
      for (let created = 0; created < 120; created++) {
        const id = yield* addRule(10 + created / 10, 10 + created / 10)
        yield* rules.addPending(id, "x", { from: minute(10 + created / 10), to: minute(11 + created / 10) })
      }
      const coverageOf = makeCoverageOf({ streams: yield* StreamStore, rules })
      const coverage = yield* coverageOf({ account: ann, rule: Option.none(), platforms: ["x"] })
      const gapsFrom = (from: Option.Option<number>) => {
        const [platform] = coverage({ from, to: 60 * 60_000 }).platforms
        return { gaps: platform?.gaps ?? [], more: platform?.more_gaps }
      }
      const { gaps, more } = gapsFrom(Option.none())
      assert.deepStrictEqual(
        gaps.slice(-2).map(({ from, cause }) => [from, cause]),
        [
          [minute(5), "outage"],
          [minute(3), "rule_failed"]
        ]
      )
      assert.deepStrictEqual([gaps.length, more], [100, true])
      assert.deepStrictEqual(
        gaps.slice(0, -2).map(({ from }) => from),
        Array.from({ length: 98 }, (_, at) => minute(10 + (119 - at) / 10)),
        "the newest of the others"
      )
      assert.isFalse(gapsFrom(Option.some(20 * 60_000)).more, "none of this period is left out")
    })
  )

  test(
    "counts the time until the stream opens again for the only rule as pending",
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const rule = yield* addRule(1, 1)
      yield* watched(1, 50, [[25, 31, "no_rules"]])
      yield* rules.fail(rule, "x", { reason: "no room", lostSince: minute(20), at: minute(20) })
      const pause = { by: "budget" as const, reason: "no budget", until: minute(59), limit: 1 }
      yield* rules.fail(rule, "x", { reason: "no budget", lostSince: minute(20), at: minute(28), pause })
      const registered = { platformRuleId: "again", translatedValue: "cat" }
      yield* rules.restore(rule, "x", { registered, lostSince: minute(20), at: minute(30) })
      assert.deepStrictEqual(yield* read(Option.some(rule)), [
        {
          platform: "x",
          watched: [minute(1), minute(50)],
          gaps: [
            [rule, minute(30), minute(31), "rule_pending"],
            [rule, minute(28), minute(30), "budget"],
            [rule, minute(20), minute(28), "rule_failed"]
          ]
        }
      ])
    })
  )

  test(
    "has a gap for a rule that the platform rejects, and none for the others",
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const [kept, failed] = [yield* addRule(1, 1), yield* addRule(1, 1)]
      yield* watched(1, 50)
      yield* rules.fail(failed, "x", { reason: "no room", lostSince: minute(20), at: minute(22) })
      const gap = [failed, minute(20), undefined, "rule_failed" as const]
      assert.deepStrictEqual(yield* read(Option.some(failed)), [
        { platform: "x", watched: [minute(1), minute(20)], gaps: [gap] }
      ])
      const whole = { platform: "x", watched: [minute(1), minute(50)] }
      assert.deepStrictEqual(yield* read(Option.some(kept)), [{ ...whole, gaps: [] }])
      assert.deepStrictEqual(yield* read(Option.none()), [{ ...whole, gaps: [gap] }])
    })
  )

  test(
    "is empty for an account without rules",
    Effect.gen(function* () {
      yield* watched(1, 50)
      assert.deepStrictEqual(yield* read(Option.none()), [])
    })
  )
})
