import { assert, describe } from "@effect/vitest"
import { Clock, Deferred, Effect, Option, Redacted, TestClock } from "effect"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { firstMatchIdAt } from "../../../core/model/Ids.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import type { Answer } from "../../../core/webhooks/WebhookSender.ts"
import { newMatch, visibleRule } from "../../contract/samples.ts"

import { ann, answered, SOON, test, URL_A } from "./world.ts"

describe("WebhookDelivery", () => {
  test("delivers matches stored after create, in order, exactly once", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      yield* world.insert(3)
      yield* world.create()
      const ids = [...(yield* world.insert(120)), ...(yield* world.insert(5))]
      yield* TestClock.adjust(SOON)
      assert.deepStrictEqual(receivers.idsTo(URL_A), ids)
      const [first] = receivers.sent
      const body = JSON.parse(first?.body ?? "{}")
      assert.deepStrictEqual(Object.keys(body), ["type", "timestamp", "data"])
      assert.deepStrictEqual([body.type, body.data.id, body.timestamp], ["match.created", ids[0], body.data.created_at])
    }))

  test("filters by the rules and platforms of the webhook", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const [other, third] = [(yield* visibleRule(ann)).id, (yield* visibleRule(ann)).id]
      const urls = { rules: "https://rules.example/", platform: "https://platform.example/" }
      yield* world.create({ url: urls.rules, rule_ids: [world.rule, other] })
      yield* world.create({ url: urls.platform, platforms: ["firehose"] })
      const wanted: Array<string> = []
      for (let i = 0; i < 70; i++) {
        const one = i % 3 === 0 ? world.rule : i % 3 === 1 ? other : third
        const [id = ""] = yield* world.insert(1, one)
        if (one !== third) wanted.push(id)
      }
      const page = newMatch(third, { platform: "firehose" })
      yield* world.stores.matches.insert([page])
      yield* TestClock.adjust(SOON)
      assert.deepStrictEqual(receivers.idsTo(urls.rules), wanted)
      assert.deepStrictEqual(receivers.idsTo(urls.platform), [page.id])
    }).pipe(Effect.provideService(RuleStore, world.stores.rules)))

  test("retries a failed match for three days while later ones wait, then disables the webhook", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      // Moves the clock while no worker runs, or it would poll every few seconds for days.
      const runShortly = Effect.scoped(Effect.zipRight(world.start, TestClock.adjust(SOON)))
      const id = yield* world.create()
      receivers.answer = () => Effect.succeed(answered(500))
      const [first, ...later] = yield* world.insert(3)
      const waits: Array<number> = []
      yield* runShortly
      while ((yield* world.state(id)).state === "retrying") {
        const now = yield* Clock.currentTimeMillis
        const due = Date.parse((yield* world.state(id)).next_attempt_at ?? "")
        waits.push((due - now) / 1_000)
        yield* TestClock.setTime(due - 1_500)
        yield* runShortly
        assert.lengthOf(receivers.sent, waits.length, "not before the retry is due")
        yield* TestClock.setTime(due)
        yield* runShortly
        assert.lengthOf(receivers.sent, waits.length + 1)
      }
      const expected = [5, 15, 45, 120, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
      assert.lengthOf(waits, expected.length)
      for (const [i, wait] of waits.entries()) {
        assert.isAtLeast(wait, (expected[i] ?? 0) - 1)
        assert.isAtMost(wait, (expected[i] ?? 0) * 1.1)
      }
      assert.isTrue(receivers.sent.every((message) => message.id === first))
      const disabled = yield* world.state(id)
      assert.strictEqual(disabled.state, "disabled")
      assert.match(
        disabled.disabled_reason ?? "",
        /could not be delivered in 13 attempts .*the last one: Answered 500$/
      )

      receivers.answer = () => Effect.succeed(answered(204))
      const after = yield* world.insert(2)
      yield* TestClock.adjust("1 day")
      yield* runShortly
      assert.lengthOf(receivers.sent, 13, "nothing is sent to a disabled webhook")
      yield* world.webhooks.enable(ann, id)
      yield* runShortly
      assert.deepStrictEqual(receivers.idsTo(URL_A).slice(13), [first, ...later, ...after])
      assert.strictEqual((yield* world.state(id)).state, "active")
    }))

  test("list shows the time of the next attempt, and enable retries at once", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const id = yield* world.create()
      receivers.answer = () => Effect.succeed({ _tag: "Unanswered", reason: "Cannot be reached" })
      yield* world.insert(1)
      yield* TestClock.adjust("12 seconds")
      assert.lengthOf(receivers.sent, 2)
      const [webhook] = yield* world.webhooks.list(ann)
      assert.deepInclude(webhook, { state: "retrying" })
      const wait = Date.parse(webhook?.next_attempt_at ?? "") - (yield* Clock.currentTimeMillis)
      assert.isTrue(wait > 0 && wait < 17_000)
      assert.deepInclude(webhook?.last_attempt, { outcome: "failed", error: "Cannot be reached" })
      receivers.answer = () => Effect.succeed(answered(200))
      yield* world.webhooks.enable(ann, id)
      yield* TestClock.adjust(SOON)
      assert.lengthOf(receivers.sent, 3)
      const [now] = yield* world.webhooks.list(ann)
      assert.deepInclude(now, { state: "active" })
      assert.notProperty(now, "next_attempt_at")
    }))

  test("sends the backlog back to back and in order after a success", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      yield* world.create()
      const ids = yield* world.insert(120)
      receivers.answer = () => Effect.succeed(answered(500))
      yield* TestClock.adjust(SOON)
      receivers.answer = () => Effect.succeed(answered(200))
      yield* TestClock.adjust("12 seconds")
      assert.deepStrictEqual(receivers.idsTo(URL_A), [ids[0], ...ids])
    }))

  test("410 disables the webhook at once with a reason", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const id = yield* world.create()
      receivers.answer = () => Effect.succeed(answered(410))
      yield* world.insert(2)
      yield* TestClock.adjust("20 seconds")
      assert.lengthOf(receivers.sent, 1)
      assert.deepInclude(yield* world.state(id), { state: "disabled" })
      assert.match((yield* world.state(id)).disabled_reason ?? "", /410 Gone/)
    }))

  test("3xx and 4xx responses count as failures", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const id = yield* world.create()
      const statuses = [302, 404, 200]
      receivers.answer = () => Effect.succeed(answered(statuses.shift() ?? 200))
      yield* world.insert(1)
      yield* TestClock.adjust("10 minutes")
      const { attempts } = yield* world.webhooks.attempts(ann, { webhook_id: id, limit: 10 })
      assert.deepStrictEqual(
        attempts.map(({ outcome, status }) => [outcome, status]),
        [
          ["delivered", 200],
          ["failed", 404],
          ["failed", 302]
        ]
      )
      assert.match(attempts[2]?.error ?? "", /redirects are not followed/)
    }))

  test("honours Retry-After of 429 and 503 only, up to a day", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const asking = (seconds: number, status: number) => answered(status, Option.some(seconds * 1_000))
      const webhook = yield* world.create()
      const waitAfter = (answer: Answer) =>
        Effect.gen(function* () {
          receivers.answer = () => Effect.succeed(answer)
          yield* world.webhooks.enable(ann, webhook)
          yield* TestClock.adjust(SOON)
          const [found] = yield* world.webhooks.list(ann)
          return (Date.parse(found?.next_attempt_at ?? "") - (yield* Clock.currentTimeMillis)) / 1_000
        })
      yield* world.insert(1)
      const waits = [
        yield* waitAfter(asking(3_600, 429)),
        yield* waitAfter(asking(3_600, 503)),
        yield* waitAfter(asking(10_000_000, 503)),
        yield* waitAfter(asking(1, 429)),
        yield* waitAfter(asking(3_600, 500))
      ]
      const within = [3_600, 3_600, 86_400, 5, 5]
      for (const [i, wait] of waits.entries()) assert.closeTo(wait, within[i] ?? 0, 2)
    }))

  test("a receiver that hangs does not delay other webhooks", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const slow = "https://slow.example/"
      yield* world.create({ url: slow })
      yield* world.create()
      receivers.answer = ({ url }) => (url === slow ? Effect.never : Effect.succeed(answered(200)))
      const ids = yield* world.insert(60)
      yield* TestClock.adjust(SOON)
      assert.deepStrictEqual(receivers.idsTo(URL_A), ids)
      assert.lengthOf(receivers.idsTo(slow), 1)
    }))

  test("only one of two workers delivers, and the other takes over within a minute", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      yield* world.create()
      // The first worker hangs, as if its process had died.
      const gone = yield* Deferred.make<Answer>()
      receivers.answer = () => Deferred.await(gone)
      const ids = yield* world.insert(3)
      yield* TestClock.adjust(SOON)
      receivers.answer = () => Effect.succeed(answered(200))
      yield* world.start
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(receivers.idsTo(URL_A), [ids[0]])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(receivers.idsTo(URL_A), [ids[0], ...ids])
      // It comes back and finds that its lease is lost.
      yield* Deferred.succeed(gone, answered(500))
      yield* TestClock.adjust("10 minutes")
      const more = yield* world.insert(2)
      yield* TestClock.adjust(SOON)
      assert.deepStrictEqual(receivers.idsTo(URL_A), [ids[0], ...ids, ...more])
    }))

  test("a clean shutdown releases the leases at once", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.create()
      receivers.answer = () => Effect.never
      const ids = yield* world.insert(2)
      yield* Effect.scoped(Effect.zipRight(world.start, TestClock.adjust(SOON)))
      receivers.answer = () => Effect.succeed(answered(200))
      yield* world.start
      yield* TestClock.adjust(SOON)
      assert.deepStrictEqual(receivers.idsTo(URL_A), [ids[0], ...ids])
    }))

  test("replay with after delivers the following matches again; with match_id it sends one match now", ({
    receivers,
    ...world
  }) =>
    Effect.gen(function* () {
      yield* world.start
      const webhook_id = yield* world.create()
      const ids = yield* world.insert(6)
      yield* TestClock.adjust(SOON)
      const [, second, third] = ids
      const { attempt } = yield* world.webhooks.replay(ann, { webhook_id, match_id: third ?? "" })
      assert.deepInclude(attempt, { kind: "replay", outcome: "delivered", status: 200 })
      assert.strictEqual(attempt?.match_id, third)
      yield* world.webhooks.replay(ann, { webhook_id, after: second ?? "" })
      yield* TestClock.adjust(SOON)
      assert.deepStrictEqual(receivers.idsTo(URL_A), [...ids, third, ...ids.slice(2)])
    }))

  test("replay during a delivery overrides the result of that delivery", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const webhook_id = yield* world.create()
      const ids = yield* world.insert(4)
      yield* TestClock.adjust(SOON)
      const slow = yield* Deferred.make<Answer>()
      receivers.answer = () => Deferred.await(slow)
      const later = yield* world.insert(3)
      yield* TestClock.adjust(SOON)
      yield* world.webhooks.replay(ann, { webhook_id, after: ids[1] ?? "" })
      receivers.answer = () => Effect.succeed(answered(200))
      yield* TestClock.adjust(SOON)
      assert.lengthOf(receivers.sent, 5, "not during the running delivery")
      yield* Deferred.succeed(slow, answered(200))
      yield* TestClock.adjust(SOON)
      assert.deepStrictEqual(receivers.idsTo(URL_A), [...ids, later[0], ...ids.slice(2), ...later])
    }))

  test("replay after a later match skips a match that cannot be delivered", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const webhook_id = yield* world.create()
      receivers.answer = () => Effect.succeed(answered(400))
      const [bad = ""] = yield* world.insert(1)
      yield* TestClock.adjust("10 minutes")
      receivers.answer = () => Effect.succeed(answered(200))
      yield* world.webhooks.replay(ann, { webhook_id, after: bad })
      const [good] = yield* world.insert(1)
      yield* TestClock.adjust(SOON)
      assert.strictEqual(receivers.idsTo(URL_A).at(-1), good)
      assert.deepInclude(yield* world.state(webhook_id), { state: "active" })
    }))

  test("signs with both secrets for a day after rotateSecret", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      const created = yield* world.webhooks.create(ann, { url: URL_A })
      const rotated = yield* world.webhooks.rotateSecret(ann, created.webhook.id)
      const secretsOfNext = Effect.gen(function* () {
        yield* world.insert(1)
        yield* Effect.scoped(Effect.zipRight(world.start, TestClock.adjust(SOON)))
        return receivers.sent.at(-1)?.secrets.map(Redacted.value)
      })
      assert.match(rotated.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.deepStrictEqual(yield* secretsOfNext, [rotated.secret, created.secret])
      yield* TestClock.adjust("23 hours")
      assert.deepStrictEqual(yield* secretsOfNext, [rotated.secret, created.secret])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* secretsOfNext, [rotated.secret])
    }))

  test("records a skipped attempt for matches deleted before delivery, then continues", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const id = yield* world.create()
      receivers.answer = () => Effect.succeed(answered(503))
      const ids = yield* world.insert(5)
      yield* TestClock.adjust(SOON)
      yield* world.stores.matches.trim({ before: ids[3] ?? firstMatchIdAt(0), keep: Option.none(), atMost: 100 })
      receivers.answer = () => Effect.succeed(answered(200))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(receivers.idsTo(URL_A).slice(1), ids.slice(3))
      const { attempts } = yield* world.webhooks.attempts(ann, { webhook_id: id, limit: 10 })
      assert.deepStrictEqual(
        attempts.map(({ outcome }) => outcome),
        ["delivered", "delivered", "skipped", "failed"]
      )
      assert.match(attempts[2]?.error ?? "", /^Matches from before "[^"]+Z" are no longer kept/)
    }))

  test("records no skipped attempt if nothing was to be delivered", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      yield* world.start
      const other = (yield* visibleRule(ann)).id
      const id = yield* world.create({ rule_ids: [other] })
      const ids = yield* world.insert(5)
      yield* TestClock.adjust("2 minutes")
      yield* world.stores.matches.trim({ before: ids[4] ?? firstMatchIdAt(0), keep: Option.none(), atMost: 100 })
      yield* TestClock.adjust("2 minutes")
      assert.lengthOf((yield* world.webhooks.attempts(ann, { webhook_id: id, limit: 10 })).attempts, 0)
      assert.lengthOf(receivers.sent, 0)
    }).pipe(Effect.provideService(RuleStore, world.stores.rules)))

  test("delivers everything after an outage of the store", ({ receivers, ...world }) =>
    Effect.gen(function* () {
      const down = new StoreUnavailable({ operation: "webhooks.settle", cause: "down" })
      const { settle } = world.stores.webhooks
      let failing = 0
      Object.assign(world.stores.webhooks, {
        settle: (...args: Parameters<typeof settle>) =>
          Effect.suspend(() => (failing-- > 0 ? Effect.fail(down) : settle(...args)))
      })
      yield* world.start
      yield* world.create()
      failing = 4
      const ids = yield* world.insert(3)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(receivers.idsTo(URL_A), ids)
      failing = 20
      const more = yield* world.insert(2)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(receivers.idsTo(URL_A), [...ids, more[0], ...more])
    }))
})
