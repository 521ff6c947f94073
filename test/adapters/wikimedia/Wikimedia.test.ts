/** The stream of changes: nothing is lost that is not reported. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option, Scope } from "effect"
import { seeded } from "../../../adapters/demo/random.ts"
import { basisOf } from "../../../core/backtests/Backtests.ts"
import {
  afterRestart,
  afterSignal,
  type Gap,
  isWithin,
  type Ledger,
  newLedger
} from "../../../core/coverage/Coverage.ts"
import type { Period, Signal } from "../../../core/platforms/Platform.ts"
import type { FaultRequest } from "../../../simulator/faults.ts"
import { sized } from "../../long.ts"
import { pass, settle, stage } from "../../simulator/stage.ts"
import { change, collect, cursorIn, idsIn, makeAdapter } from "./platform.ts"

const platform = "wikimedia"

describe("the stream of changes", () => {
  it.scoped("delivers what matches, once, and no canary", () =>
    Effect.gen(function* () {
      const { control, handler, publish } = yield* changes()
      const adapter = yield* makeAdapter(handler)
      yield* adapter.register(["title:cat", "wiki:canary"])
      const signals = yield* collect(adapter)
      yield* control.inject({ kind: "duplicate", platform, count: 3 })
      yield* publish("cat", "dog", "cat")
      yield* pass(40)
      assert.deepStrictEqual(idsIn(signals), ["change-1", "change-3"])
      assert.deepStrictEqual(gapsIn(signals), [])
      assert.isTrue(signals.some(({ _tag }) => _tag === "Alive"))
      // Backtests may count on events that match no rule.
      assert.strictEqual(basisOf(adapter), "all_events")
    })
  )

  it.scoped("ends after 15 minutes without a gap, and loses nothing in between", () =>
    Effect.gen(function* () {
      const { control, handler, publish } = yield* changes()
      const adapter = yield* makeAdapter(handler)
      yield* adapter.register(["title:cat"])
      const signals = yield* collect(adapter)
      for (let minute = 0; minute < 31; minute++) {
        yield* publish("cat")
        yield* pass(60)
      }
      assert.lengthOf(idsIn(signals), 31)
      assert.lengthOf(new Set(idsIn(signals)), 31)
      assert.deepStrictEqual(gapsIn(signals), [])
      assert.lengthOf((yield* control.state).connection_attempts, 3)
      assert.strictEqual((yield* control.state).most_connections["wikimedia"], 1)
    })
  )

  it.scoped("reports a gap in the offsets, and a position that is no longer kept", () =>
    Effect.gen(function* () {
      const { control, handler, publish } = yield* changes({ canary_seconds: 0, retention_hours: 1 })
      const adapter = yield* makeAdapter(handler)
      yield* adapter.register(["title:cat"])
      const scope = yield* Scope.make()
      const signals = yield* Scope.extend(collect(adapter), scope)
      yield* publish("cat")
      yield* settle
      yield* control.inject({ kind: "offset-jump", platform })
      yield* publish("cat", "cat")
      yield* pass(10)
      assert.deepStrictEqual(idsIn(signals), ["change-1", "change-3"])
      assert.match(gapsIn(signals)[0]?.detail ?? "", /^1 changes are missing in eqiad/)
      const cursor = cursorIn(signals)
      yield* Scope.close(scope, Exit.void)

      yield* pass(7_200)
      yield* publish("cat")
      const resumed = yield* collect(adapter, cursor)
      yield* pass(10)
      assert.deepStrictEqual(idsIn(resumed), ["change-4"])
      assert.isTrue(resumed.some(({ _tag }) => _tag === "Suspected"))
      assert.isFalse(resumed.some(({ _tag }) => _tag === "CaughtUp"))
    })
  )

  it.scoped("names its contact, and says what to do when it is refused", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const adapter = yield* makeAdapter(async (request) => {
        seen.push(request.headers.get("user-agent") ?? "")
        return new Response("Please set a User-Agent", { status: 403 })
      })
      yield* adapter.register(["title:cat"])
      yield* collect(adapter)
      assert.deepStrictEqual(seen, ["Earshot/0.1 (earshot@example.org)"])
      const status = yield* adapter.status
      assert.strictEqual(status.state, "refused")
      assert.include(status.detail, "check EARSHOT_WIKIMEDIA_CONTACT")
    })
  )

  for (let seed = 1; seed <= sized(1, 50); seed++) {
    it.scoped(`tells the truth about every change and rule (seed ${seed})`, () => truth(seed))
  }
})

// ---- helpers ----

const changes = (settings: Readonly<Record<string, number>> = {}, seed = 1) =>
  Effect.gen(function* () {
    const on = yield* stage({ wikimedia: settings }, seed)
    let number = 0
    const publish = (...titles: ReadonlyArray<string>) =>
      Effect.flatMap(on.control.now, (now) =>
        Effect.orDie(on.control.publish(titles.map((title) => change(`change-${++number}`, title, now))))
      )
    /** A change without a user has none on a page whose history is hidden. */
    const publishBy = (user: string | undefined, title: string) =>
      Effect.flatMap(on.control.now, (now) =>
        Effect.orDie(on.control.publish([{ ...change(`change-${++number}`, title, now), user }]))
      )
    return { ...on, publish, publishBy }
  })

const gapsIn = (signals: ReadonlyArray<Signal>) =>
  signals.flatMap((signal) =>
    signal._tag === "GapStarted" || signal._tag === "Lost" || signal._tag === "Suspected" ? [signal] : []
  )

const faults: ReadonlyArray<FaultRequest> = [
  { kind: "close", platform },
  { kind: "cut", platform },
  { kind: "duplicate", platform, count: 3 },
  { kind: "torn-line", platform },
  { kind: "refuse", platform, count: 2 },
  { kind: "rate-limit", platform, headers: true, reset_seconds: 20 },
  { kind: "server-error", platform, status: 503, count: 2 },
  { kind: "stall", platform, keep_alives: false, stall_seconds: 200 },
  { kind: "switch", platform },
  { kind: "offset-jump", platform },
  { kind: "slow", platform, bytes: 100, millis: 100 }
]

/** Random changes, faults and restarts of the server: every change of a rule is delivered, or lies in a reported gap. */
const truth = (seed: number) =>
  Effect.gen(function* () {
    const random = seeded(seed)
    const settings = { time_jitter_ms: random.below(3) * 400, connection_seconds: 100 + random.below(900) }
    const { control, handler, publishBy } = yield* changes(settings, seed)
    const adapter = yield* makeAdapter(handler)
    yield* adapter.register(["title:cat", "title:dog", "user:ada"])
    const expected: Array<{ readonly id: string; readonly at: number; readonly rules: number }> = []
    const change = (title: string) =>
      Effect.gen(function* () {
        const user = random.pick([undefined, "ada", "ben"] as const)
        const rules = Number(title !== "bird") + Number(user === "ada")
        expected.push({ id: `change-${++number}`, at: yield* control.now, rules })
        yield* publishBy(user, title)
      })
    const delivered = new Map<string, number>()
    const gaps: Array<Gap> = []
    const recovered: Array<Period> = []
    let ledger: Ledger = newLedger
    let cursor = Option.none<string>()
    let number = 0
    const runs = 4
    for (let run = 1; run <= runs; run++) {
      const scope = yield* Scope.make()
      ledger = afterRestart(ledger)
      const signals = yield* Scope.extend(collect(adapter, cursor), scope)
      for (let step = 0; step < sized(25, 60); step++) {
        if (random.chance(0.15)) yield* control.inject(random.pick(faults as [FaultRequest, ...Array<FaultRequest>]))
        for (let left = random.below(4); left > 0; left--) {
          yield* change(random.pick(["cat", "dog", "bird"] as const))
        }
        yield* pass(random.pick([1, 2, 5, 20] as [number, ...Array<number>]))
      }
      yield* control.clear()
      yield* pass(90)
      yield* Scope.close(scope, Exit.void)
      for (const signal of signals) {
        if (signal._tag === "Event") {
          delivered.set(signal.delivery.platformPostId, signal.delivery.platformRuleIds.length)
        }
        const after = afterSignal(ledger, signal)
        ledger = after.ledger
        gaps.push(...after.gaps)
        recovered.push(...after.recovered)
      }
      cursor = cursorIn(signals)
      // While the server is down, until the next run.
      for (let left = run === runs ? 0 : random.below(6); left > 0; left--) {
        yield* change("cat")
        yield* pass(10)
      }
    }
    const open = gaps.filter((gap) => gap.isSuspected || !recovered.some((period) => isWithin(gap, period)))
    const isReported = (at: number) =>
      at > ledger.watchedUntil || open.some(({ from, to }) => at >= from - SLACK && at <= to + SLACK)
    const watched = new Map(expected.flatMap(({ id, rules }) => (rules === 0 ? [] : [[id, rules]])))
    const unreported = expected.filter(({ id, at }) => watched.has(id) && !delivered.has(id) && !isReported(at))
    const inGaps = expected.filter(({ id }) => watched.has(id) && !delivered.has(id)).length
    console.log(`${watched.size} changes for rules, ${inGaps} in gaps`)
    assert.deepStrictEqual(unreported, [])
    assert.isAbove(delivered.size, expected.length / 3, "most changes are delivered")
    assert.isTrue([...delivered].every(([id, count]) => watched.get(id) === count))
  })

/** Times in Kafka are up to this much before the change. */
const SLACK = 1_000
