/** What X's stream tells about its coverage: it claims only what it has shown. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { sized } from "../../long.ts"
import { NOW, pass, STREAM, type Stage, settle } from "../../simulator/stage.ts"
import { type Adapter, attempts, passInSteps, TAG, type Watcher, withSimulator, withX } from "./platform.ts"

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
  it.scoped("begins before the last line, by the delay of posts, when X freezes and then cuts the stream", () =>
    watched({ tier: "pay-per-use", keep_alive_seconds: 20 }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* passInSteps(45)
        yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: false })
        yield* passInSteps(20)
        assert.strictEqual(
          watcher.aliveAt(),
          NOW + 30 * SECOND,
          "nothing after it counts, and posts come up to 10 s late"
        )
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(5)
        assert.deepStrictEqual(gaps(watcher), [[30, "outage"]])
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

  it.scoped("is recovered only if a post from before it came again, and one from after it", () =>
    watched({ tier: "enterprise" }, (on, _, watcher) =>
      Effect.gen(function* () {
        const replays = () => watcher.signals.filter(({ _tag }) => _tag === "Replayed")
        yield* passInSteps(100)
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(5)
        yield* on.post("cat, new")
        yield* passInSteps(20)
        assert.lengthOf(watcher.texts(), 1)
        assert.deepStrictEqual(replays(), [], "backfill was asked for, and nothing shows that it came")
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(40)
        assert.deepStrictEqual(replays(), [], "a post from before came again, and more of the backfill may follow")
        yield* on.post("cat, newer")
        yield* settle
        const at = NOW + 125.25 * SECOND
        assert.deepStrictEqual(replays(), [{ _tag: "Replayed", from: at - 60 * SECOND, to: at }])
        assert.lengthOf(watcher.texts(), 2)
      })
    )
  )

  it.scoped("stays the same gap when its backfill is cut, and the next request asks from its start", () =>
    watched({ tier: "enterprise" }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* on.post("cat, before")
        yield* passInSteps(30)
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 80 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        for (let second = 0; second < 80; second += 5) {
          yield* on.post(`cat ${second}`)
          yield* passInSteps(5)
        }
        yield* on.control.inject({ kind: "cut-backfill", platform: "x", records: 3 })
        yield* passInSteps(60)
        yield* on.post("cat, after")
        yield* settle
        assert.lengthOf(new Set(watcher.texts()), 18)
        const opened = watcher.signals.findLast(({ _tag }) => _tag === "Watching")
        const replays = watcher.signals.filter(({ _tag }) => _tag === "Replayed")
        assert.lengthOf(replays, 1, "not of the connection whose backfill was cut")
        const [first] = gaps(watcher)
        const [replayed] = replays
        if (opened?._tag !== "Watching" || replayed?._tag !== "Replayed") return assert.fail("nothing was replayed")
        assert.isAtMost(replayed.from, NOW + Number(first?.[0]) * SECOND)
        assert.strictEqual(replayed.to, opened.at)
      })
    )
  )
})

describe("a process that is killed during a backfill", () => {
  it.scoped("leaves a cursor from before the gap, and the next process proves that the gap is recovered", () =>
    watched({ tier: "enterprise" }, (on, { watch }, watcher) =>
      Effect.gen(function* () {
        yield* passInSteps(40)
        yield* on.post("cat, before")
        yield* passInSteps(20)
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 70 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(30)
        for (let number = 0; number < 5; number++) yield* on.post(`cat ${number}`)
        yield* passInSteps(60)
        assert.lengthOf(watcher.texts(), 6, "all are read, and nothing shows that these are all")
        const [[start] = []] = gaps(watcher)
        const cursors = watcher.deliveries.flatMap(({ cursor }) => Option.toArray(cursor))
        yield* watcher.stop
        yield* passInSteps(10)
        const next = yield* watch(cursors.at(-1))
        yield* passInSteps(15)
        yield* on.post("cat, after")
        yield* settle
        const [replayed] = next.signals.filter(({ _tag }) => _tag === "Replayed")
        if (replayed?._tag !== "Replayed") return assert.fail("nothing was replayed")
        assert.isAtMost(replayed.from, NOW + Number(start) * SECOND)
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
  it.scoped("is lost in the time since the line before it, less the delay of posts", () =>
    watched({ tier: "pay-per-use", keep_alive_seconds: 20 }, (on, _, watcher) =>
      Effect.gen(function* () {
        yield* passInSteps(30)
        yield* on.control.inject({ kind: "torn-line", platform: "x" })
        yield* on.post("cat")
        yield* settle
        assert.deepInclude(watcher.signals.at(-1), { _tag: "Lost", from: NOW + 10 * SECOND, to: NOW + 30 * SECOND })
        assert.deepStrictEqual(gaps(watcher), [])
      })
    )
  )

  for (const fault of [
    { kind: "oversized", bytes: 17 * 1024 * 1024 },
    { kind: "without-rules" },
    { kind: "unknown-rules" }
  ] as const) {
    it.scoped(`(${fault.kind}) is lost, logged and counted`, () =>
      watched({ tier: "pay-per-use" }, (on, { platform, logs }, watcher) =>
        Effect.gen(function* () {
          yield* passInSteps(30)
          yield* on.control.inject({ ...fault, platform: "x" })
          yield* on.post("cat")
          yield* settle
          // X lists its rules twice.
          for (let list = 0; list < 2; list++) yield* platform.inventory
          yield* passInSteps(20)
          const [lost, ...others] = watcher.signals.filter(({ _tag }) => _tag === "Lost")
          if (lost?._tag !== "Lost") return assert.fail("nothing is lost")
          assert.isAtMost(lost.from, NOW + 30 * SECOND)
          assert.isAtLeast(lost.to, NOW + 30 * SECOND)
          assert.deepStrictEqual(others, [])
          assert.lengthOf(
            logs.filter((line) => line.startsWith("Skipped a")),
            1
          )
        })
      )
    )
  }
})

describe("a post for a rule of another program", () => {
  it.scoped("is not lost, also if X has not listed the rule before", () =>
    watched({ tier: "pay-per-use" }, (on, { platform, logs }, watcher) =>
      Effect.gen(function* () {
        yield* platform.inventory
        yield* on.addX("dog")
        yield* on.post("dog 1")
        yield* settle
        for (let list = 0; list < 3; list++) yield* platform.inventory
        yield* on.post("dog 2")
        yield* passInSteps(60)
        assert.lengthOf(watcher.texts(), 2)
        assert.deepStrictEqual(
          watcher.signals.filter(({ _tag }) => _tag === "Lost"),
          []
        )
        assert.deepStrictEqual(
          logs.filter((line) => line.startsWith("Skipped a")),
          []
        )
      })
    )
  )
})

describe("a process that was frozen", () => {
  it.scoped("takes lines that it reads late only for what their posts prove", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      let frozen = 0
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined
      const send = (text: string) => controller?.enqueue(new TextEncoder().encode(text))
      const post = (id: number, at: number) =>
        JSON.stringify({
          data: { id: String(id), text: "cat", created_at: new Date(at).toISOString() },
          matching_rules: [{ id: "1", tag: TAG }]
        })
      const start = (opened: ReadableStreamDefaultController<Uint8Array>) => {
        controller = opened
      }
      const answer = async (request: Request) =>
        new URL(request.url).pathname === STREAM
          ? new Response(new ReadableStream({ start }))
          : Response.json({ data: [{ id: "1", value: "cat", tag: TAG }], meta: { result_count: 1 } })
      yield* withX(
        answer,
        ({ platform, watch }) =>
          Effect.gen(function* () {
            yield* platform.inventory
            const watcher = yield* watch()
            yield* pass(20)
            send("\r\n")
            yield* settle
            assert.strictEqual(watcher.aliveAt(), NOW + 10 * SECOND)
            // X sends for 3 s more. Then it drops the connection. All of it is read 15 s later.
            yield* pass(15)
            frozen++
            send(`${post(1, NOW + 21 * SECOND)}\r\n${post(2, NOW + 23 * SECOND)}\r\n\r\n`)
            yield* settle
            assert.lengthOf(watcher.texts(), 2)
            assert.strictEqual(watcher.aliveAt(), NOW + 13 * SECOND)
            controller?.close()
            yield* settle
            assert.deepStrictEqual(gaps(watcher), [[13, "outage"]])
          }),
        { freezes: { count: Effect.sync(() => frozen), run: Effect.void } }
      )
    })
  )
})

describe("a line that does not end", () => {
  it.scoped("ends the connection after a minute", () =>
    watched({ tier: "pay-per-use" }, (on, { platform }, watcher) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "slow", platform: "x", bytes: 1, millis: 1_000 })
        yield* on.post("cat")
        yield* passInSteps(62, 1)
        assert.deepStrictEqual(gaps(watcher), [[-10, "stall"]])
        const { message } = Option.getOrThrow((yield* platform.status).lastError)
        assert.strictEqual(message, "No line ended for 60 s")
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
        assert.isAtLeast(Number(at), 6 * 3_600 - 10)
      })
    )
  )
})
