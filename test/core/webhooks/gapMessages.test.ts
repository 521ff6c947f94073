/** `coverage.gap` messages: when a gap of the webhook's rules begins and ends, once, in order, retried. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { type Gap, newLedger } from "../../../core/coverage/Coverage.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { visibleRule } from "../../contract/samples.ts"
import { bob } from "../world.ts"
import { answered, type Receivers, test, URL_A, type World } from "./world.ts"

const GAPS = { events: ["coverage.gap"] } as const

describe("coverage.gap messages", () => {
  test("announce the beginning, the end and the recovery of a gap, once and only if asked for", (world) =>
    Effect.gen(function* () {
      const { receivers } = world
      yield* TestClock.setTime(NOW)
      yield* world.start
      yield* world.create({ url: "https://plain.example/" })
      yield* world.create(GAPS)
      yield* world.insert(60)
      yield* save(world, { openSince: NOW + 2_000 })
      yield* TestClock.adjust("30 seconds")
      yield* save(world, { gaps: [gap(NOW + 2_000, NOW + 20_000)] })
      yield* TestClock.adjust("30 seconds")
      yield* save(world, { recovered: true })
      yield* TestClock.adjust("30 seconds")
      const [from, to] = [Timestamp.fromMillis(NOW + 2_000), Timestamp.fromMillis(NOW + 20_000)]
      const cut = { from, cause: "outage", recovered: false, detail: "cut" }
      assert.deepStrictEqual(bodies(receivers), [
        { type: "coverage.gap", timestamp: from, data: { platform: "x", gap: cut } },
        { type: "coverage.gap", timestamp: to, data: { platform: "x", gap: { ...cut, to } } },
        { type: "coverage.gap", timestamp: to, data: { platform: "x", gap: { ...cut, to, recovered: true } } }
      ])
      assert.lengthOf(new Set(receivers.idsTo(URL_A)), 3)
      assert.lengthOf(receivers.idsTo("https://plain.example/"), 60, "matches, and no gaps")
    }))

  test("come in order and are retried while later messages wait", (world) =>
    Effect.gen(function* () {
      const { receivers } = world
      yield* TestClock.setTime(NOW)
      yield* world.start
      yield* world.create({ events: ["match", "coverage.gap"] })
      receivers.answer = () => Effect.succeed(answered(500))
      yield* save(world, { openSince: NOW + 1_000 })
      yield* TestClock.adjust("11 seconds")
      yield* save(world, { gaps: [gap(NOW + 1_000, NOW + 9_000)] })
      receivers.answer = () => Effect.succeed(answered(204))
      const [match] = yield* world.insert(1)
      yield* TestClock.adjust("1 minute")
      const ids = receivers.idsTo(URL_A)
      assert.match(ids[0] ?? "", /^gap_x_outage_\d+_began$/)
      assert.deepStrictEqual(ids.slice(-2), [`${ids[0]?.replace("began", "ended")}`, match])
      assert.deepStrictEqual(new Set(ids.slice(0, -2)).size, 1)
    }))

  test("are about the rules and platforms of the webhook, of its account", (world) =>
    Effect.gen(function* () {
      const { receivers, stores } = world
      const foreign = (yield* visibleRule(bob)).id
      const other = (yield* visibleRule((yield* stores.rules.registrations(world.rule))[0]?.accountId ?? bob)).id
      yield* TestClock.setTime(NOW)
      yield* world.start
      const urls = ["https://one.example/", "https://other.example/", "https://firehose.example/"] as const
      yield* world.create({ ...GAPS, url: urls[0], rule_ids: [world.rule] })
      yield* world.create({ ...GAPS, url: urls[1], rule_ids: [other] })
      yield* world.create({ ...GAPS, url: urls[2], platforms: ["firehose"] })
      yield* world.create(GAPS)
      yield* save(world, {})
      const [lostSince, at] = [Timestamp.fromMillis(NOW + 1_000), Timestamp.fromMillis(NOW + 2_000)]
      for (const rule of [world.rule, foreign]) yield* stores.rules.fail(rule, "x", { reason: "full", lostSince, at })
      yield* TestClock.adjust("30 seconds")
      for (const [url, count] of [
        [urls[0], 1],
        [urls[1], 0],
        [urls[2], 0],
        [URL_A, 1]
      ] as const) {
        const sent = bodies(receivers, url)
        assert.lengthOf(sent, count, url)
        for (const { data } of sent) assert.strictEqual(data.rule_id, world.rule)
      }
    }).pipe(Effect.provideService(RuleStore, world.stores.rules)))

  test("are not about the seconds that a platform takes to apply a new rule", (world) =>
    Effect.gen(function* () {
      const { receivers, stores, rule } = world
      yield* TestClock.setTime(NOW)
      yield* world.start
      yield* world.create(GAPS)
      yield* save(world, {})
      const time = (seconds: number) => Timestamp.fromMillis(NOW + seconds * 1_000)
      yield* stores.rules.addPending(rule, "x", { from: time(0), to: time(20) })
      yield* TestClock.adjust("30 seconds")
      yield* stores.rules.fail(rule, "x", { reason: "full", lostSince: time(31), at: time(31) })
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(
        bodies(receivers).map(({ data }) => data.gap.cause),
        ["rule_failed"]
      )
    }))
})

// ---- helpers ----

/** After the rules of the samples. */
const NOW = Date.parse("2030-01-01T00:00:00.000Z")

const gap = (from: number, to: number): Gap => ({
  from,
  to,
  cause: "outage",
  detail: "cut",
  isRecovered: false,
  isSuspected: false
})

const save = (
  { stores }: World,
  change: { readonly openSince?: number; readonly gaps?: ReadonlyArray<Gap>; readonly recovered?: boolean }
) =>
  stores.streams.save({
    platform: "x",
    cursor: Option.none(),
    batch: 1,
    ledger: {
      ...newLedger,
      watchedSince: Option.some(0),
      watchedUntil: NOW,
      openGap: Option.map(Option.fromNullable(change.openSince), (since) => ({ since, cause: "outage", detail: "cut" }))
    },
    gaps: change.gaps ?? [],
    recovered: change.recovered === true ? [{ from: NOW, to: NOW + 60_000 }] : []
  })

const bodies = ({ sent }: Receivers, url = URL_A) =>
  sent.filter((message) => message.url === url).map(({ body }) => JSON.parse(body))
