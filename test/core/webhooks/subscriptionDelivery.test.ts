/** What the delivery does for subscriptions, with fake receivers. */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Option, TestClock } from "effect"
import type { LedgerChange } from "../../../core/coverage/Coverage.ts"
import { firstMatchIdAt } from "../../../core/model/Ids.ts"
import type { Message } from "../../../core/webhooks/WebhookSender.ts"
import { at } from "../../contract/samples.ts"
import { ann, answered, SOON, test, type World } from "./world.ts"

describe("WebhookDelivery to subscriptions", () => {
  test("sends events without a type, with the id of the subscription and a timeout", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      const { id } = yield* world.subscribe()
      yield* world.start
      const [match] = yield* world.insert(1)
      yield* TestClock.adjust(SOON)
      const [message] = receivers.sent
      assert.deepStrictEqual(message?.options, {
        headers: { "x-mcp-subscription-id": `sub_${id}` },
        timeoutSeconds: 10,
        isSecure: true
      })
      const timestamp = at(3)
      const data = { id: match }
      assert.deepStrictEqual(bodyOf(message), { eventId: match, name: "match.created", timestamp, data, cursor: match })
      assert.strictEqual(message?.id, match)
    }))

  test("retries an event after 5, 30, 120 and 600 seconds, gives it up, and goes on in order", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      yield* world.subscribe()
      yield* world.start
      receivers.answer = ({ id }) => Effect.succeed(answered(id === first ? 500 : 204))
      const [first, second, third] = yield* world.insert(3)
      for (let tick = 0; tick < 900; tick += TICK_SECONDS) yield* TestClock.adjust(`${TICK_SECONDS} seconds`)
      const sentAt = receivers.sent.filter(({ id }) => id === first).map(({ at }) => at / 1_000)
      const waits = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0))
      assert.lengthOf(waits, 4)
      for (const [index, wait] of [5, 30, 120, 600].entries()) {
        // Plus a tenth at random, and the time until the next poll.
        assert.isAtLeast(waits[index] ?? 0, wait)
        assert.isAtMost(waits[index] ?? 0, wait * 1.1 + 6 + TICK_SECONDS)
      }
      assert.deepStrictEqual(idsOf(receivers.sent).slice(5), [second, third])
    }))

  for (const status of [410, 413]) {
    test(`${status} drops the event, and keeps the subscription`, ({ receivers, ...world }) =>
      Effect.gen(function* () {
        const { id } = yield* world.subscribe()
        yield* world.start
        receivers.answer = ({ id }) => Effect.succeed(answered(id === first ? status : 204))
        const [first, second] = yield* world.insert(2)
        yield* TestClock.adjust(SOON)
        assert.deepStrictEqual(idsOf(receivers.sent), [first, second])
        assert.strictEqual((yield* world.state(id)).state, "active")
      }))
  }

  test("suspends after 100 attempts in an hour of which more than 95 failed, until it is refreshed", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      const { id } = yield* world.subscribe()
      yield* world.start
      receivers.answer = () => Effect.succeed(answered(410))
      yield* world.insert(120)
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(receivers.sent, 100)
      const suspended = yield* world.state(id)
      assert.strictEqual(suspended.state, "disabled")
      assert.match(
        suspended.disabled_reason ?? "",
        /^100 of the last 100 attempts failed .*refreshes the subscription$/
      )
      receivers.answer = () => Effect.succeed(answered(204))
      yield* world.webhooks.enable(ann, id)
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(receivers.sent, 120)
    }))

  test("sends nothing after the expiry, and removes the subscription with its own rule", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.subscribe({ minutes: 5, ownRule: world.rule })
      yield* world.start
      yield* TestClock.adjust("301 seconds")
      yield* world.insert(1)
      yield* TestClock.adjust("70 seconds")
      assert.lengthOf(receivers.sent, 0)
      assert.deepStrictEqual(yield* world.webhooks.list(ann), [])
      assert.deepStrictEqual(world.removedRules, [world.rule])
    }))

  test("keeps the rule of a subscription that has ended while another one needs it", ({ ...world }) =>
    Effect.gen(function* () {
      yield* world.subscribe({ minutes: 5, ownRule: world.rule })
      yield* world.subscribe({ minutes: 10, event: "match.redacted" })
      yield* world.start
      yield* TestClock.adjust("8 minutes")
      assert.lengthOf(yield* world.webhooks.list(ann), 1)
      assert.deepStrictEqual(world.removedRules, [])
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(world.removedRules, [world.rule])
    }))

  for (const [what, end] of [
    [
      "key is revoked",
      (world: World, key: string) =>
        world.stores.keys.list(Option.none()).pipe(
          Effect.flatMap((all) =>
            Effect.forEach(
              all.filter(({ id }) => id === key),
              ({ id }) => world.stores.keys.revoke({ id, account: Option.none() }, { at: at(1), force: true })
            )
          )
        )
    ],
    ["rule is deleted", (world: World) => world.stores.rules.hide(ann, world.rule, at(5))]
  ] as const) {
    test(`tells the end at most twice when the ${what}, and delivers nothing more`, ({ receivers, ...world }) =>
      Effect.gen(function* () {
        const { key } = yield* world.subscribe()
        yield* world.start
        receivers.answer = () => Effect.succeed(answered(401))
        yield* end({ receivers, ...world }, key)
        yield* world.insert(1)
        yield* TestClock.adjust("1 minute")
        const bodies = receivers.sent.map(bodyOf)
        assert.lengthOf(bodies, 2)
        for (const { type, error } of bodies) {
          assert.deepInclude({ type, code: error?.code }, { type: "terminated", code: -32_012 })
        }
        assert.notStrictEqual(receivers.sent[0]?.id, receivers.sent[1]?.id)
        assert.match(receivers.sent[0]?.id ?? "", /^msg_terminated_/)
        assert.deepStrictEqual(yield* world.webhooks.list(ann), [])
      }))
  }

  test("tells once that retention has deleted matches before their delivery, and goes on after them", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      yield* world.subscribe({ minutes: 600 })
      yield* world.insert(3)
      yield* TestClock.adjust("1 minute")
      const now = yield* Clock.currentTimeMillis
      yield* world.stores.matches.trim({ before: firstMatchIdAt(Date.now() + now), keep: Option.none(), atMost: 100 })
      yield* world.start
      const [later] = yield* world.insert(1)
      yield* TestClock.adjust(SOON)
      const [gap, event] = receivers.sent
      assert.deepStrictEqual(Object.keys(bodyOf(gap)), ["type", "cursor"])
      assert.match(gap?.id ?? "", /^msg_gap_/)
      assert.strictEqual(event?.id, later)
      assert.lengthOf(receivers.sent, 2)
    }))

  test("tells at most twice of missed matches, and delivers to a receiver that knows no such message", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      yield* world.subscribe({ minutes: 600 })
      yield* world.insert(3)
      yield* world.stores.matches.trim({ before: firstMatchIdAt(Date.now() + 1_000), keep: Option.none(), atMost: 100 })
      yield* world.start
      receivers.answer = ({ body }) => Effect.succeed(answered("type" in JSON.parse(body) ? 400 : 204))
      const [later] = yield* world.insert(1)
      yield* TestClock.adjust("1 minute")
      const types = receivers.sent.map((message) => bodyOf(message).type ?? "event")
      assert.deepStrictEqual(types, ["gap", "gap", "event"])
      assert.strictEqual(receivers.sent[2]?.id, later)
    }))

  test("tells of a gap in the coverage a minute after its end, unless its events came later", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(at(10)))
      yield* world.subscribe({ minutes: 600 })
      yield* world.start
      const now = yield* Clock.currentTimeMillis
      const save = (recoveredFirst: boolean, batch: number) =>
        world.stores.streams.save({ platform: "x", cursor: Option.none(), batch, ...ledgerWith(now, recoveredFirst) })
      yield* save(true, 1)
      yield* TestClock.adjust("30 seconds")
      assert.lengthOf(receivers.sent, 0)
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(
        receivers.sent.map((message) => bodyOf(message).type),
        ["gap"]
      )
      yield* TestClock.adjust("5 minutes")
      assert.lengthOf(receivers.sent, 1)
    }))

  test("tells a subscription to coverage.gap of gaps as events with a cursor", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(at(10)))
      yield* world.subscribe({ event: "coverage.gap", minutes: 600 })
      yield* world.start
      const now = yield* Clock.currentTimeMillis
      yield* world.stores.streams.save({ platform: "x", cursor: Option.none(), batch: 1, ...ledgerWith(now, false) })
      yield* world.insert(1)
      yield* TestClock.adjust("15 seconds")
      const events = receivers.sent.map(bodyOf)
      assert.lengthOf(events, 2)
      for (const [index, event] of events.entries()) {
        assert.deepInclude(event, { name: "coverage.gap", eventId: receivers.sent[index]?.id })
        assert.match(event.cursor ?? "", /^gaps_[0-9a-z]{7}/)
      }
    }))
})

// ---- helpers ----

/** The clock of the test jumps: a smaller step is more exact, and takes longer. */
const TICK_SECONDS = 5

interface Body {
  readonly type?: string
  readonly error?: { readonly code: number }
  readonly eventId?: string | undefined
  readonly name?: string
  readonly timestamp?: string
  readonly data?: object
  readonly cursor?: string | undefined
}

const bodyOf = (message: Message | undefined) => JSON.parse(message?.body ?? "{}") as Body

const idsOf = (sent: ReadonlyArray<Message>): ReadonlyArray<string | undefined> => sent.map(({ id }) => id)

/** Watched, with two gaps that have just ended. */
const ledgerWith = (now: number, isRecovered: boolean): LedgerChange => {
  const gap = (from: number, to: number, isRecovered: boolean) => ({
    from,
    to,
    cause: "outage" as const,
    detail: "The connection failed",
    isRecovered,
    isSuspected: false
  })
  return {
    ledger: {
      watchedSince: Option.some(now - 3_600_000),
      watchedUntil: now,
      openGap: Option.none(),
      replayingSince: Option.none()
    },
    gaps: [gap(now - 50_000, now - 40_000, isRecovered), gap(now - 20_000, now - 10_000, false)],
    recovered: []
  }
}
