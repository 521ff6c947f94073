/** The use cases of subscriptions, with fake receivers: when a callback meets a challenge, and what a refresh tells. */
import { assert, describe } from "@effect/vitest"
import { type Duration, Effect, Option, Redacted, TestClock } from "effect"
import { firstMatchIdAt } from "../../../core/model/Ids.ts"
import type { SubscribeRequest } from "../../../core/webhooks/Subscriptions.ts"
import type { Message } from "../../../core/webhooks/WebhookSender.ts"
import { ann, answered, SECRET, SOON, test, URL_A, type World } from "./world.ts"

describe("Subscriptions", () => {
  test("subscribe challenges a callback, and a refresh only a day after its last answer", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      yield* refresh([URL_A])
      assert.strictEqual(challengesIn(receivers.sent), 1)
      yield* TestClock.adjust("23 hours")
      yield* refresh([URL_A])
      assert.strictEqual(challengesIn(receivers.sent), 1, "as another server, which was not there")
      yield* TestClock.adjust("2 hours")
      yield* refresh([URL_A])
      assert.strictEqual(challengesIn(receivers.sent), 2)
      yield* TestClock.adjust("20 hours")
      const [match] = yield* world.insert(1)
      yield* delivered(world)
      assert.strictEqual(receivers.sent.at(-1)?.id, match)
      yield* refresh([URL_A])
      yield* TestClock.adjust("10 hours")
      yield* refresh([URL_A])
      assert.strictEqual(challengesIn(receivers.sent), 2, "the delivery is an answer, too")
    }))

  test("subscribe refuses a refresh whose challenge fails, and keeps the subscription", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      yield* refresh([URL_A])
      yield* TestClock.adjust("12 hours")
      yield* refresh([URL_A])
      yield* TestClock.adjust("13 hours")
      receivers.answer = () => Effect.succeed(answered(200))
      const failure = yield* Effect.flip(refresh([URL_A]))
      assert.deepInclude({ ...failure }, { _tag: "CallbackFailed", reason: "challenge_failed" })
      assert.lengthOf(yield* world.webhooks.list(ann), 1)
    }))

  test("subscribe challenges the callback of a suspended subscription before it resumes", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      yield* refresh([URL_A])
      receivers.answer = () => Effect.succeed(answered(410))
      yield* world.insert(100)
      yield* delivered(world, "10 seconds")
      const failure = yield* Effect.flip(refresh([URL_A]))
      assert.deepInclude({ ...failure }, { _tag: "CallbackFailed", reason: "http_4xx" })
      receivers.answer = echo
      const [answer] = yield* refresh([URL_A])
      assert.deepInclude(answer?.deliveryStatus, {
        active: false,
        lastError: "Answered 410: the receiver does not want this message"
      })
      assert.strictEqual((yield* world.webhooks.list(ann))[0]?.state, "active")
    }))

  test("subscribe refreshes more live subscriptions than the limit of challenges, but takes no more new ones", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      const urls = Array.from({ length: 6 }, (_, index) => `${URL_A}?${index}`)
      for (const pair of [urls.slice(0, 2), urls.slice(2, 4), urls.slice(4)]) {
        yield* refresh(pair)
        yield* TestClock.adjust("1 minute")
      }
      yield* TestClock.adjust("15 hours")
      yield* refresh(urls)
      yield* TestClock.adjust("15 hours")
      assert.strictEqual(challengesIn(receivers.sent), urls.length)
      const failure = yield* Effect.flip(refresh([...urls, `${URL_A}?new`]))
      assert.deepInclude({ ...failure }, { _tag: "LimitReached", name: "challenges" })
      assert.strictEqual(challengesIn(receivers.sent), urls.length + LIMIT, "the others are not asked")
      for (const { subscription } of yield* world.webhooks.list(ann)) {
        assert.strictEqual(subscription?.expires_at, "1970-01-03T06:03:00.000Z")
      }
    }))

  test("subscribe grants the time that is asked for, between five minutes and a day", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      for (const [ttlMs, expected] of [
        [undefined, "1970-01-02T00:00:00.000Z"],
        [null, "1970-01-02T00:00:00.000Z"],
        [1_000, "1970-01-01T00:05:00.000Z"],
        [3_600_000, "1970-01-01T01:00:00.000Z"],
        [172_800_000, "1970-01-02T00:00:00.000Z"]
      ] as const) {
        const [answer] = yield* refresh([URL_A], ttlMs === undefined ? {} : { ttlMs })
        assert.strictEqual(answer?.refreshBefore, expected, String(ttlMs))
      }
    }))

  test("subscribe goes on at the cursor that a refresh returned, if the subscription has expired since", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      yield* refresh([URL_A], { ttlMs: 300_000 })
      const before = yield* world.insert(2)
      const [kept] = yield* refresh([URL_A], { ttlMs: 300_000 })
      yield* TestClock.adjust("6 minutes")
      const after = yield* world.insert(1)
      const [again] = yield* refresh([URL_A], { cursor: kept?.cursor ?? "" })
      assert.isUndefined(again?.deliveryStatus, "it is a new one")
      yield* delivered(world)
      const events = receivers.sent.filter(({ id }) => id.startsWith("match_")).map(({ id }) => id)
      assert.deepStrictEqual(events, [...before, ...after])
    }))

  test("subscribe signs with the secret before, too, for an hour after a refresh with another", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      yield* refresh([URL_A])
      const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
      yield* refresh([URL_A], {}, secret)
      for (const expected of [[secret, SECRET], [secret]]) {
        yield* world.insert(1)
        yield* delivered(world)
        assert.deepStrictEqual(receivers.sent.at(-1)?.secrets.map(Redacted.value), expected)
        yield* TestClock.adjust("1 hour")
      }
    }))

  test("subscribe tells with a refresh, once, that events are missing which the receiver could not be told", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      receivers.answer = echo
      const refresh = yield* subscriber({ receivers, ...world })
      yield* refresh([URL_A])
      yield* world.insert(3)
      yield* world.stores.matches.trim({ before: firstMatchIdAt(Date.now() + 1_000), keep: Option.none(), atMost: 100 })
      yield* world.start
      receivers.answer = () => Effect.succeed(answered(400))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        receivers.sent.map(({ body }) => (JSON.parse(body) as { readonly type?: string }).type),
        ["verification", "gap", "gap"]
      )
      const truncated = [...(yield* refresh([URL_A])), ...(yield* refresh([URL_A]))].map((answer) => answer.truncated)
      assert.deepStrictEqual(truncated, [true, false])
    }))
})

// ---- helpers ----

/** Of challenges per minute. */
const LIMIT = 2

/** Subscribes or refreshes, each time through a server that has just started. */
const subscriber = ({ newKey, newSubscriptions }: World) =>
  Effect.map(
    newKey,
    (key) =>
      (urls: ReadonlyArray<string>, more: Partial<SubscribeRequest> = {}, secret = SECRET) =>
        Effect.gen(function* () {
          const { subscribe } = yield* newSubscriptions({ challenges: LIMIT })
          const principal = { id: `${ann} ${key}`, key, grant: Option.none() }
          const wish = { account: ann, principal, name: "match.created" as const, selection: {} }
          return yield* Effect.forEach(urls, (url) =>
            subscribe(wish, { ...more, delivery: { mode: "webhook", url, secret } }, Option.none())
          )
        })
  )

/** Not while hours pass: that would be thousands of polls. */
const delivered = ({ start }: Pick<World, "start">, wait: Duration.DurationInput = SOON) =>
  Effect.scoped(Effect.zipRight(start, TestClock.adjust(wait)))

const echo = ({ body }: Message) => Effect.succeed({ ...answered(200), body })

const challengesIn = (sent: ReadonlyArray<Message>): number =>
  sent.filter(({ body }) => body.includes('"verification"')).length
