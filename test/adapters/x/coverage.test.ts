/** What X's stream tells about its coverage: it claims only what it has shown. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SettingsPatch } from "../../../adapters/simulator/settings.ts"
import { sized } from "../../long.ts"
import { NOW, pass, type Stage, settle } from "../simulator/stage.ts"
import { type Adapter, attempts, passInSteps, type Watcher, withSimulator } from "./platform.ts"

const SECOND = 1_000

/** With an open stream and one rule, "cat". */
const watched = <A, E, R>(
  settings: NonNullable<SettingsPatch["x"]>,
  body: (on: Stage, adapter: Adapter, watcher: Watcher) => Effect.Effect<A, E, R>
) =>
  withSimulator({ x: { connection_cap: 1, ...settings } }, (on, adapter) =>
    Effect.gen(function* () {
      yield* adapter.platform.register(["cat"])
      return yield* body(on, adapter, yield* adapter.watch())
    })
  )

/** Seconds since the start, for each gap that the watcher told of. */
const gaps = ({ signals }: Watcher) =>
  signals.flatMap((signal) => (signal._tag === "GapStarted" ? [[(signal.at - NOW) / SECOND, signal.cause]] : []))

describe("a gap", () => {
  it.scoped("begins at the last line when X freezes and then cuts the stream", () =>
    watched({ tier: "pay-per-use", keep_alive_seconds: 20 }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* passInSteps(45)
        yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: false })
        yield* passInSteps(20)
        assert.strictEqual(watcher.aliveAt(), NOW + 40 * SECOND, "nothing after it counts as watched")
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(5)
        assert.deepStrictEqual(gaps(watcher), [[40, "outage"]])
      })
    )
  )

  it.scoped("does not come up when the last rule is replaced by a new one", () =>
    watched({ tier: "pay-per-use" }, (on, { platform }, watcher) =>
      Effect.gen(function* () {
        const { rules } = yield* platform.inventory
        yield* platform.unregister(rules.map(({ platformRuleId }) => platformRuleId))
        yield* pass(1)
        yield* platform.register(["dog"])
        for (let second = 0; second < 8; second++) {
          yield* on.post(`dog ${second}`)
          yield* pass(1)
        }
        assert.lengthOf(watcher.texts(), 8)
        assert.deepStrictEqual(gaps(watcher), [])
        assert.lengthOf(yield* attempts(on), 1)
      })
    )
  )

  it.scoped("begins when the stream is closed for lack of rules", () =>
    watched({ tier: "pay-per-use" }, (_, { platform }, watcher) =>
      Effect.gen(function* () {
        const { rules } = yield* platform.inventory
        yield* platform.unregister(rules.map(({ platformRuleId }) => platformRuleId))
        yield* passInSteps(61, 1)
        yield* platform.register(["dog"])
        yield* passInSteps(10, 1)
        assert.deepStrictEqual(gaps(watcher), [[60, "no_rules"]])
        const last = watcher.signals.at(-1)
        assert.deepInclude(last, { _tag: "Watching", at: NOW + 66 * SECOND })
      })
    )
  )

  it.scoped("is recovered only if a post from before it came again", () =>
    watched({ tier: "enterprise" }, (on, _, watcher) =>
      Effect.gen(function* () {
        const replays = () => watcher.signals.filter(({ _tag }) => _tag === "Replayed")
        yield* passInSteps(100)
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(5)
        yield* on.post("cat, new")
        yield* settle
        assert.lengthOf(watcher.texts(), 1)
        assert.deepStrictEqual(replays(), [], "backfill was asked for, and nothing shows that it came")
        yield* passInSteps(20)
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(5)
        const at = NOW + 125.25 * SECOND
        assert.deepStrictEqual(replays(), [{ _tag: "Replayed", from: at - 60 * SECOND, to: at }])
        assert.lengthOf(watcher.texts(), 1)
      })
    )
  )
})

describe("a long gap", () => {
  it.scoped("is recovered in the background, with each post once, where the plan has it", () =>
    watched({ tier: "enterprise" }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* passInSteps(60)
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 1_200 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(60)
        yield* on.post("cat, early in the gap")
        yield* passInSteps(1_100)
        yield* on.post("cat, late in the gap")
        yield* passInSteps(200)
        assert.sameMembers([...watcher.texts()], ["cat, early in the gap", "cat, late in the gap"])
        const [opened] = watcher.signals.filter(({ _tag }) => _tag === "Watching").slice(-1)
        const last = watcher.signals.findLast(({ _tag }) => _tag === "Replayed")
        if (last?._tag !== "Replayed" || opened?._tag !== "Watching") return assert.fail("nothing was replayed")
        assert.isAtMost(last.from, NOW + 60 * SECOND)
        assert.isAtLeast(last.to, opened.at)
      })
    )
  )

  it.scoped("stays a gap where the plan has no recovery", () =>
    watched({ tier: "pay-per-use" }, (on, { logs }, watcher) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 1_200 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(60)
        yield* on.post("cat")
        yield* passInSteps(1_400)
        assert.deepStrictEqual(watcher.texts(), [])
        assert.deepStrictEqual(
          watcher.signals.filter(({ _tag }) => _tag === "Replayed"),
          []
        )
        assert.lengthOf(
          logs.filter((line) => line.includes("has no recovery")),
          1
        )
      })
    )
  )
})

describe("an unreadable record", () => {
  it.scoped("is lost in the time since the line before it", () =>
    watched({ tier: "pay-per-use", keep_alive_seconds: 20 }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* passInSteps(30)
        yield* on.control.inject({ kind: "torn-line", platform: "x" })
        yield* on.post("cat")
        yield* settle
        assert.deepInclude(watcher.signals.at(-1), { _tag: "Lost", from: NOW + 20 * SECOND, to: NOW + 30 * SECOND })
        assert.deepStrictEqual(gaps(watcher), [])
      })
    )
  )
})

describe("a quiet stream", () => {
  const suspected = ({ signals }: Watcher) =>
    signals.flatMap((signal) =>
      signal._tag === "Suspected" ? [[(signal.from - NOW) / SECOND, (signal.to - NOW) / SECOND]] : []
    )

  it.scoped("is neither a gap nor suspected if X counts no posts either", () =>
    watched({ tier: "pay-per-use" }, (on, _, watcher) =>
      Effect.gen(function* () {
        for (let i = 0; i < 6; i++) yield* on.post(`cat ${i}`)
        yield* passInSteps(sized(3, 24) * 3_600, 60)
        assert.deepStrictEqual(gaps(watcher), [])
        assert.deepStrictEqual(suspected(watcher), [])
        assert.lengthOf(yield* attempts(on), 1)
        const { calls } = yield* on.control.state
        assert.isBelow(calls["x.counts.recent"]?.statuses[200] ?? 0, 20)
      })
    )
  )

  it.scoped("is a gap if X counts posts that did not come", () =>
    watched({ tier: "pay-per-use" }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* pass(100)
        yield* on.post("cat 1")
        yield* settle
        yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: true })
        yield* passInSteps(300, 20)
        yield* on.post("cat 2")
        yield* passInSteps(320, 20)
        assert.deepStrictEqual(gaps(watcher), [[360, "stall"]], "from the minute on in which X counts a post")
        assert.lengthOf(yield* attempts(on), 3, "also one with backfill, which the plan does not have")
        yield* on.post("cat 3")
        yield* settle
        assert.strictEqual(watcher.texts().at(-1), "cat 3")
      })
    )
  )

  it.scoped("is suspected at growing intervals if X does not say", () =>
    watched({ tier: "pay-per-use" }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "counts.recent", seconds: 100_000 })
        for (let i = 0; i < 6; i++) yield* on.post(`cat ${i}`)
        yield* passInSteps(3_600, 60)
        assert.deepStrictEqual(suspected(watcher), [
          [0, 960],
          [960, 1_920]
        ])
        assert.deepStrictEqual(gaps(watcher), [])
        assert.lengthOf(yield* attempts(on), 1)
        yield* passInSteps(5.1 * 3_600, 60)
        const [[at = 0, cause] = [], ...others] = gaps(watcher)
        assert.deepStrictEqual([cause, others], ["stall", []], "connects anew once, to make sure")
        assert.isAtLeast(Number(at), 6 * 3_600)
      })
    )
  )
})
