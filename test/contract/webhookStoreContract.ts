/** The contract of `WebhookStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option, Redacted } from "effect"
import { v7 } from "uuid"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { type AccountId, fromUuid, type MatchId, type RuleId, type WebhookId } from "../../core/model/Ids.ts"
import type { Timestamp } from "../../core/model/Timestamp.ts"
import type { WebhookAttempt } from "../../core/webhooks/Webhook.ts"
import { type DeliveryState, type Lease, type NewWebhook, WebhookStore } from "../../core/webhooks/WebhookStore.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { at, newAccount, newMatch, visibleRule } from "./samples.ts"

export const webhookStoreContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`WebhookStore on ${name}`, (it) => {
    it.effect("find and list return inserted webhooks of one account, newest first", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const [ann, bob] = [yield* newAccount, yield* newAccount]
        const plain = newWebhook(ann, { description: Option.none() })
        const rules = [fromUuid("rule", v7()), fromUuid("rule", v7())]
        const narrow = newWebhook(ann, { rules: Option.some(rules), platforms: Option.some(["x"]) })
        for (const one of [plain, narrow]) yield* store.insert(one, 5)
        const newest = yield* (yield* MatchStore).newest
        const found = yield* store.list(ann)
        assert.deepStrictEqual(
          found.map(({ id }) => id),
          [narrow.id, plain.id]
        )
        for (const expected of [plain, narrow]) {
          const one = Option.getOrThrow(yield* store.find(ann, expected.id))
          const { secret, subscription: _, ...rest } = expected
          assert.strictEqual(Redacted.value(one.secret), Redacted.value(secret))
          assert.deepInclude(one, { ...rest, ...fresh, cursor: newest, previousSecret: Option.none() })
          assert.isTrue(Option.isNone(one.lastAttempt))
          assert.isTrue(Option.isNone(one.lastDelivery))
        }
        assert.isTrue(Option.isNone(yield* store.find(bob, plain.id)))
        assert.lengthOf(yield* store.list(bob), 0)
      })
    )

    it.effect("insert sets the cursor to the newest match", () =>
      Effect.gen(function* () {
        const { rule, webhook } = yield* newSetup({ before: 3 })
        assert.lengthOf(yield* claimOf(webhook), 0)
        const [id] = yield* insertSome(rule, 1)
        const [held] = yield* claimOf(webhook)
        assert.isTrue(Option.exists(held?.webhook.cursor ?? Option.none(), (cursor) => cursor < (id ?? "")))
      })
    )

    it.effect("insert respects the limit per account, also when called concurrently", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const [ann, bob] = [yield* newAccount, yield* newAccount]
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 8 }, () => newWebhook(ann)),
          (webhook) => Effect.either(store.insert(webhook, 3)),
          { concurrency: "unbounded" }
        )
        const refused = outcomes.flatMap((one) => (one._tag === "Left" ? [one.left] : []))
        assert.lengthOf(refused, 5)
        for (const error of refused) assert.deepInclude({ ...error }, { _tag: "LimitReached", limit: 3, used: 3 })
        assert.lengthOf(yield* store.list(ann), 3)
        yield* store.insert(newWebhook(bob), 3)
      })
    )

    it.effect("remove deletes the webhook with its attempts once, and not for another account", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, webhook } = yield* newSetup()
        yield* store.record(newAttempt(webhook))
        assert.isFalse(yield* store.remove(yield* newAccount, webhook))
        assert.lengthOf(yield* store.attempts({ webhook, before: Option.none(), limit: 10 }), 1)
        assert.isTrue(yield* store.remove(account, webhook))
        assert.isFalse(yield* store.remove(account, webhook))
        assert.lengthOf(yield* store.attempts({ webhook, before: Option.none(), limit: 10 }), 0)
        yield* store.record(newAttempt(webhook))
        assert.lengthOf(yield* store.attempts({ webhook, before: Option.none(), limit: 10 }), 0)
      })
    )

    it.effect("rotate keeps only the last secret as the previous one", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, webhook } = yield* newSetup()
        yield* store.rotate(webhook, Redacted.make("second"), at(5))
        yield* store.rotate(webhook, Redacted.make("third"), at(6))
        const found = Option.getOrThrow(yield* store.find(account, webhook))
        const previous = Option.getOrThrow(found.previousSecret)
        assert.deepStrictEqual(
          [Redacted.value(found.secret), Redacted.value(previous.secret), previous.until],
          ["third", "second", at(6)]
        )
      })
    )

    it.effect("attempts returns pages, newest first, and find has the last attempt", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, webhook } = yield* newSetup()
        const all = [
          newAttempt(webhook, { outcome: "failed", status: 500, error: "Ünïcode", response: "no 💥" }),
          newAttempt(webhook, { kind: "test" }),
          newAttempt(webhook, { kind: "replay", match_id: fromUuid("match", v7()), status: 204, response: "" })
        ]
        for (const attempt of all) yield* store.record(attempt)
        const newestFirst = all.toReversed()
        const first = yield* store.attempts({ webhook, before: Option.none(), limit: 2 })
        assert.deepStrictEqual(first, newestFirst.slice(0, 2))
        const rest = yield* store.attempts({ webhook, before: Option.fromNullable(first[1]?.id), limit: 2 })
        assert.deepStrictEqual(rest, newestFirst.slice(2))
        const found = Option.getOrThrow(yield* store.find(account, webhook))
        assert.deepStrictEqual(Option.getOrNull(found.lastAttempt), newestFirst[0])
        assert.deepStrictEqual(Option.getOrNull(found.lastDelivery), all[0])
      })
    )

    it.effect("record accepts text that a database cannot store", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { webhook } = yield* newSetup()
        yield* store.record(newAttempt(webhook, { response: "a\0b\ud800", error: "\0" }))
        assert.lengthOf(yield* store.attempts({ webhook, before: Option.none(), limit: 10 }), 1)
      })
    )

    it.effect("claim takes webhooks with matches, by account, rule and platform", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const matches = yield* MatchStore
        const { account, rule, webhook } = yield* newSetup()
        const other = (yield* visibleRule(account)).id
        const narrow = newWebhook(account, { rules: Option.some([rule]), platforms: Option.some(["firehose"]) })
        const ofOther = newWebhook(account, { rules: Option.some([other, fromUuid("rule", v7())]) })
        const ofPlatform = newWebhook(account, { platforms: Option.some(["firehose"]) })
        const foreign = (yield* newSetup()).webhook
        for (const one of [narrow, ofOther, ofPlatform]) yield* store.insert(one, 20)
        const all = [webhook, narrow.id, ofOther.id, ofPlatform.id, foreign]
        assert.lengthOf(yield* claimOf(...all), 0)
        yield* matches.insert([newMatch(rule, { platform: "x" })])
        assert.deepStrictEqual(idsOf(yield* claimOf(...all)), [webhook])
        yield* matches.insert([newMatch(rule, { platform: "firehose" })])
        assert.sameMembers(idsOf(yield* claimOf(...all)), [narrow.id, ofPlatform.id])
        yield* matches.insert([newMatch(other, { platform: "x" })])
        assert.deepStrictEqual(idsOf(yield* claimOf(...all)), [ofOther.id])
      })
    )

    it.effect(
      "backlog counts what waits for enabled webhooks, by account, rule, platform and event, and disabled ones",
      () =>
        Effect.gen(function* () {
          const store = yield* WebhookStore
          const matches = yield* MatchStore
          // The other tests leave webhooks with matches.
          const before = yield* store.backlog(PLATFORM_IDS)
          const { account, rule, webhook } = yield* newSetup()
          const narrow = newWebhook(account, { rules: Option.some([rule]), platforms: Option.some(["firehose"]) })
          const redactionsOnly = newWebhook(account, { events: ["match.redacted"] })
          for (const one of [narrow, redactionsOnly]) yield* store.insert(one, 20)
          const added = Effect.map(store.backlog(PLATFORM_IDS), ({ messages }) => messages - before.messages)
          assert.strictEqual(yield* added, 0)
          const [first, second] = [newMatch(rule, { platform: "x" }), newMatch(rule, { platform: "firehose" })]
          yield* matches.insert([first])
          assert.strictEqual(yield* added, 1)
          yield* matches.insert([second])
          assert.strictEqual(yield* added, 3)
          const { oldest } = yield* store.backlog(PLATFORM_IDS)
          assert.deepStrictEqual(
            oldest,
            Option.orElse(before.oldest, () => Option.some(first.id))
          )
          const held = yield* claimOne(webhook)
          yield* store.settle(held, newAttempt(webhook), standingAt(second.id), LEASE_MILLIS)
          assert.strictEqual(yield* added, 1)
          const failed = yield* claimOne(narrow.id)
          const disabled = { ...fresh, cursor: failed.webhook.cursor, disabledReason: Option.some("gone") }
          yield* store.settle(failed, newAttempt(narrow.id), disabled, LEASE_MILLIS)
          assert.strictEqual(yield* added, 0, "a disabled webhook waits for nothing")
          const disabledNow = Effect.map(store.backlog(PLATFORM_IDS), ({ disabled }) => disabled - before.disabled)
          assert.strictEqual(yield* disabledNow, 1)
          yield* store.enable(narrow.id)
          assert.strictEqual(yield* disabledNow, 0)
        })
    )

    it.effect("claim gives each webhook to one of many concurrent callers, and again after its lease expires", () =>
      Effect.gen(function* () {
        const setups = yield* Effect.all(Array.from({ length: 5 }, () => newSetup()))
        const ids = setups.map(({ webhook }) => webhook)
        for (const { rule } of setups) yield* insertSome(rule, 1)
        const rounds = yield* Effect.all(
          Array.from({ length: 6 }, () => claimOf(...ids)),
          { concurrency: "unbounded" }
        )
        assert.sameMembers(rounds.flatMap(idsOf), ids)
        assert.lengthOf(yield* claimOf(...ids), 0)
        yield* (yield* WebhookStore).releaseAll
        assert.sameMembers(idsOf(yield* claimFor(SHORT_MILLIS, at(10), ids)), ids)
        yield* Effect.sleep(SHORT_MILLIS + 50)
        assert.sameMembers(idsOf(yield* claimOf(...ids)), ids)
      })
    )

    it.effect("claim respects the limit and takes the oldest cursors first", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        yield* store.releaseAll
        const setups = yield* Effect.all(Array.from({ length: 3 }, () => newSetup()))
        for (const { rule } of setups) yield* insertSome(rule, 1)
        const claim = (limit: number) =>
          store.claim({ claim: v7(), now: at(10), millis: LEASE_MILLIS, platforms: PLATFORM_IDS, dueGaps: [], limit })
        const [first, rest] = [yield* claim(2), yield* claim(1_000)]
        assert.lengthOf(first, 2)
        const cursors = [...first, ...rest].map(({ cursor }) => Option.getOrElse(cursor, () => ""))
        assert.deepStrictEqual(cursors, cursors.toSorted())
        yield* store.releaseAll
      })
    )

    it.effect("settle advances the cursor, records the attempt and extends the lease", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule, webhook } = yield* newSetup()
        const [first, second] = yield* insertSome(rule, 2)
        const held = yield* claimOne(webhook)
        const attempt = newAttempt(webhook, { ...(first !== undefined && { match_id: first }) })
        const settled = yield* store.settle(held, attempt, standingAt(first), LEASE_MILLIS)
        assert.deepInclude(Option.getOrThrow(settled), standingAt(first))
        assert.lengthOf(yield* claimOf(webhook), 0)
        const found = Option.getOrThrow(yield* store.find(account, webhook))
        assert.deepStrictEqual(Option.getOrNull(found.lastAttempt), attempt)
        const next = { ...held, webhook: Option.getOrThrow(settled) }
        assert.isTrue(Option.isSome(yield* store.settle(next, newAttempt(webhook), standingAt(second), LEASE_MILLIS)))
        yield* store.release({ ...next, webhook: { ...next.webhook, ...standingAt(second) } }, Option.none())
        assert.lengthOf(yield* claimOf(webhook), 0, "all matches are delivered")
      })
    )

    it.effect("a webhook that announces gaps is claimed on request, and settle stores what it has announced", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const account = yield* newAccount
        const [plain, announcing] = [newWebhook(account), newWebhook(account, { events: ["coverage.gap"] })]
        for (const webhook of [plain, announcing]) yield* store.insert(webhook, 5)
        const found = (yield* store.announcingGaps).filter((webhook) => webhook.account === account)
        assert.deepStrictEqual(
          found.map(({ id, events, announcedGaps }) => [id, events, announcedGaps]),
          [[announcing.id, ["coverage.gap"], []]]
        )
        const claim = v7()
        const claims = { claim, now: at(10), millis: LEASE_MILLIS, platforms: PLATFORM_IDS, limit: 1_000 }
        const claimed = yield* store.claim({ ...claims, dueGaps: [announcing.id] })
        const [webhook] = claimed.filter((one) => one.account === account)
        assert(webhook !== undefined && webhook.id === announcing.id)
        const announcedGaps = [{ platform: "x", from: at(4), cause: "outage", recovered: false } as const]
        const { cursor } = webhook
        const attempt = newAttempt(webhook.id, { outcome: "failed" })
        const waiting = { ...fresh, cursor, announcedGaps, failures: 2, nextAttemptAt: Option.some(at(20)) }
        yield* store.settle({ claim, webhook }, attempt, waiting, LEASE_MILLIS)
        const rule = (yield* visibleRule(yield* newAccount)).id
        yield* insertSome(rule, 1)
        yield* store.maintain({ attempts: 10, since: at(0), platforms: PLATFORM_IDS })
        const kept = Option.getOrThrow(yield* store.find(account, webhook.id))
        assert.deepInclude(kept, { announcedGaps, failures: 2, nextAttemptAt: Option.some(at(20)) })
        yield* store.releaseAll
      })
    )

    it.effect("settle with a next attempt or a disable reason releases the lease until then, or until enable", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule, webhook } = yield* newSetup()
        yield* insertSome(rule, 1)
        const held = yield* claimOne(webhook)
        const { cursor } = held.webhook
        const waiting: DeliveryState = { ...fresh, cursor, failures: 3, nextAttemptAt: Option.some(at(20)) }
        assert.isTrue(Option.isNone(yield* store.settle(held, newAttempt(webhook), waiting, LEASE_MILLIS)))
        assert.deepInclude(Option.getOrThrow(yield* store.find(account, webhook)), waiting)
        assert.lengthOf(yield* claimAt(at(19), webhook), 0)
        const [again] = yield* claimAt(at(20), webhook)
        assert.strictEqual(again?.webhook.failures, 3)

        const disabled: DeliveryState = { ...fresh, cursor, failures: 4, disabledReason: Option.some("because\0") }
        yield* store.settle(again ?? held, newAttempt(webhook), disabled, LEASE_MILLIS)
        assert.lengthOf(yield* claimAt(at(30), webhook), 0)
        yield* store.enable(webhook)
        assert.deepInclude(Option.getOrThrow(yield* store.find(account, webhook)), { ...fresh, cursor })
        assert.lengthOf(yield* claimOf(webhook), 1)
      })
    )

    it.effect("settle after the lease expired records the attempt and changes nothing else", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule, webhook } = yield* newSetup()
        const [first] = yield* insertSome(rule, 2)
        const late = yield* claimOne(webhook, SHORT_MILLIS)
        yield* Effect.sleep(SHORT_MILLIS + 50)
        const held = yield* claimOne(webhook)
        const attempt = newAttempt(webhook)
        assert.isTrue(Option.isNone(yield* store.settle(late, attempt, standingAt(first), LEASE_MILLIS)))
        yield* store.release(late, Option.some(fromUuid("match", v7())))
        const found = Option.getOrThrow(yield* store.find(account, webhook))
        assert.deepStrictEqual(found.cursor, held.webhook.cursor)
        assert.deepStrictEqual(Option.getOrNull(found.lastAttempt), attempt)
        assert.lengthOf(yield* claimOf(webhook), 0, "the new lease still holds")
      })
    )

    it.effect("settle keeps and returns a cursor that moveCursor set meanwhile", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { rule, webhook } = yield* newSetup()
        const [first, second, third] = yield* insertSome(rule, 3)
        const held = yield* claimOne(webhook)
        yield* store.moveCursor(webhook, third ?? noMatch)
        const failed: DeliveryState = {
          ...fresh,
          cursor: held.webhook.cursor,
          failures: 1,
          nextAttemptAt: Option.some(at(9))
        }
        for (const standing of [standingAt(first), failed]) {
          const settled = yield* store.settle(held, newAttempt(webhook), standing, LEASE_MILLIS)
          assert.deepInclude(Option.getOrThrow(settled), standingAt(third))
        }
        yield* store.release(held, Option.fromNullable(second))
        assert.lengthOf(yield* claimOf(webhook), 0)
        yield* store.moveCursor(webhook, first ?? noMatch)
        assert.deepStrictEqual((yield* claimOne(webhook)).webhook.cursor, Option.fromNullable(first))
      })
    )

    it.effect("settle and release ignore a removed webhook", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule, webhook } = yield* newSetup()
        const [first] = yield* insertSome(rule, 1)
        const held = yield* claimOne(webhook)
        yield* store.remove(account, webhook)
        assert.isTrue(Option.isNone(yield* store.settle(held, newAttempt(webhook), standingAt(first), LEASE_MILLIS)))
        yield* store.release(held, Option.none())
        assert.isTrue(Option.isNone(yield* store.find(account, webhook)))
      })
    )

    it.effect("release makes the webhook claimable at its new cursor", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { rule, webhook } = yield* newSetup()
        const [first] = yield* insertSome(rule, 2)
        yield* store.release(yield* claimOne(webhook), Option.fromNullable(first))
        const held = yield* claimOne(webhook)
        assert.deepStrictEqual(held.webhook.cursor, Option.fromNullable(first))
        yield* store.release(held, Option.none())
        const [again] = yield* claimOf(webhook)
        assert.deepStrictEqual(again?.webhook.cursor, Option.fromNullable(first))
        yield* store.releaseAll
        assert.lengthOf(yield* claimOf(webhook), 1)
      })
    )

    it.effect("maintain moves the cursor of webhooks without matches to the newest match, and leaves the others", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const matches = yield* MatchStore
        const { account, rule, webhook } = yield* newSetup()
        const idle = newWebhook(account, { rules: Option.some([fromUuid("rule", v7())]) })
        yield* store.insert(idle, 5)
        yield* insertSome(rule, 2)
        const before = Option.getOrThrow(yield* store.find(account, webhook))
        yield* store.maintain({ attempts: 10, since: at(0), platforms: PLATFORM_IDS })
        assert.deepStrictEqual(Option.getOrThrow(yield* store.find(account, webhook)), before)
        const moved = Option.getOrThrow(yield* store.find(account, idle.id))
        assert.deepStrictEqual(moved.cursor, yield* matches.newest)
        assert.isTrue(Option.isSome(moved.cursor))
      })
    )

    it.effect("maintain keeps a number of attempts per webhook, and none before a time", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { webhook } = yield* newSetup()
        const other = (yield* newSetup()).webhook
        const kept = (id: WebhookId) => store.attempts({ webhook: id, before: Option.none(), limit: 100 })
        const all = Array.from({ length: 7 }, (_, i) => newAttempt(webhook, { at: at(i) }))
        for (const attempt of all) yield* store.record(attempt)
        const [old, young] = [newAttempt(other, { at: at(1) }), newAttempt(other, { at: at(6) })]
        for (const attempt of [old, young]) yield* store.record(attempt)
        yield* store.maintain({ attempts: 4, since: at(2), platforms: PLATFORM_IDS })
        assert.deepStrictEqual(yield* kept(webhook), all.toReversed().slice(0, 4))
        assert.deepStrictEqual(yield* kept(other), [young])
      })
    )

    // Last, because it also deletes the matches of the other tests.
    it.effect(
      "claim takes a webhook whose undelivered matches were trimmed, and maintain does not move its cursor",
      () =>
        Effect.gen(function* () {
          const store = yield* WebhookStore
          const matches = yield* MatchStore
          const { account, rule, webhook } = yield* newSetup({ before: 1 })
          const before = Option.getOrThrow(yield* store.find(account, webhook))
          const ids = yield* insertSome(rule, 3)
          const [after] = yield* insertSome((yield* newSetup()).rule, 1)
          yield* matches.trim({ before: after ?? noMatch, keep: Option.none(), atMost: 10_000 })
          yield* store.maintain({ attempts: 10, since: at(0), platforms: PLATFORM_IDS })
          const found = Option.getOrThrow(yield* store.find(account, webhook))
          assert.deepStrictEqual(found.cursor, before.cursor)
          const held = yield* claimOne(webhook)
          yield* store.release(held, Option.fromNullable(ids.at(-1)))
          assert.lengthOf(yield* claimOf(webhook), 0)
        })
    )
  })

// ---- helpers ----

/** Longer than any test takes. */
export const LEASE_MILLIS = 60_000

const SHORT_MILLIS = 500

const noMatch = fromUuid("match", "00000000-0000-0000-0000-000000000000")

export const fresh = {
  failures: 0,
  nextAttemptAt: Option.none<Timestamp>(),
  disabledReason: Option.none<string>(),
  announcedGaps: [],
  gapTries: Option.none<number>(),
  endTries: 0
}

const standingAt = (id: MatchId | undefined): DeliveryState => ({ ...fresh, cursor: Option.fromNullable(id) })

export const newWebhook = (account: AccountId, overrides: Partial<NewWebhook> = {}): NewWebhook => ({
  id: fromUuid("webhook", v7()),
  account,
  url: "https://example.com/hook?a=1",
  description: Option.some("Ünïcode"),
  rules: Option.none(),
  platforms: Option.none(),
  events: ["match", "match.redacted"],
  secret: Redacted.make("first"),
  createdAt: at(1),
  subscription: Option.none(),
  ...overrides
})

export const newAttempt = (webhook_id: WebhookId, overrides: Partial<WebhookAttempt> = {}): WebhookAttempt => ({
  id: fromUuid("attempt", v7()),
  webhook_id,
  at: at(3),
  kind: "delivery",
  outcome: "delivered",
  duration_ms: 12,
  ...overrides
})

export const insertSome = (rule: RuleId, count: number) =>
  Effect.gen(function* () {
    const matches = Array.from({ length: count }, () => newMatch(rule))
    yield* (yield* MatchStore).insert(matches)
    return matches.map(({ id }) => id)
  })

/** An account with a rule, `before` matches, and then a webhook. */
const newSetup = ({ before = 0 } = {}) =>
  Effect.gen(function* () {
    const account = yield* newAccount
    const rule = (yield* visibleRule(account)).id
    yield* insertSome(rule, before)
    const webhook = newWebhook(account)
    yield* (yield* WebhookStore).insert(webhook, 20)
    return { account, rule, webhook: webhook.id }
  })

/** Claims these webhooks, and releases those of earlier tests. */
const claimAt = (now: Timestamp, ...ids: ReadonlyArray<WebhookId>) => claimFor(LEASE_MILLIS, now, ids)

const claimFor = (millis: number, now: Timestamp, ids: ReadonlyArray<WebhookId>) =>
  Effect.gen(function* () {
    const store = yield* WebhookStore
    const claim = v7()
    const options = { claim, now, millis, platforms: PLATFORM_IDS, dueGaps: [], limit: 1_000 }
    const all = (yield* store.claim(options)).map((webhook) => ({ claim, webhook }))
    const [wanted, others] = [all.filter(isOneOf(ids)), all.filter((held) => !isOneOf(ids)(held))]
    for (const held of others) yield* store.release(held, Option.none())
    return wanted
  })

export const claimOf = (...ids: ReadonlyArray<WebhookId>) => claimAt(at(10), ...ids)

const claimOne = (id: WebhookId, millis = LEASE_MILLIS) =>
  Effect.map(
    Effect.flatMap(claimFor(millis, at(10), [id]), (all) => Effect.fromNullable(all[0])),
    (held): Lease => held
  )

const isOneOf =
  (ids: ReadonlyArray<WebhookId>) =>
  ({ webhook }: Lease) =>
    ids.includes(webhook.id)

const idsOf = (held: ReadonlyArray<Lease>) => held.map(({ webhook }) => webhook.id)
