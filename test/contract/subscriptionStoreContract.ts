/** The contract of `WebhookStore` for subscriptions. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option, Redacted } from "effect"
import { v7 } from "uuid"
import { GrantStore } from "../../core/grants/GrantStore.ts"
import { KeyStore } from "../../core/keys/KeyStore.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { type AccountId, fromUuid, type RuleId } from "../../core/model/Ids.ts"
import { fromMillis } from "../../core/model/Timestamp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { MAX_CONTROL_TRIES, type NewWebhook, WebhookStore } from "../../core/webhooks/WebhookStore.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { newGrant } from "./grantStoreContract.ts"
import { at, newAccount, newKey, visibleRule } from "./samples.ts"
import { claimOf, fresh, insertSome, LEASE_MILLIS, newAttempt, newWebhook } from "./webhookStoreContract.ts"

export const subscriptionStoreContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`Subscriptions on ${name}`, (it) => {
    it.effect("insert starts at the match of the subscription, and finds it by its id in its account only", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule } = yield* newWorld
        const [first, second] = yield* insertSome(rule, 2)
        const made = yield* newSubscription(account, { rule, start: first ?? "" })
        yield* store.insert(made, 5)
        const found = yield* store.subscription({ account, id: idOf(made) })
        const stored = Option.getOrThrow(found)
        assert.deepInclude(stored, { id: made.id, url: made.url, cursor: Option.fromNullable(first), ...untold })
        const { start: _, announcedGaps: __, ...rest } = Option.getOrThrow(made.subscription)
        assert.deepStrictEqual(Option.getOrThrow(stored.subscription), { ...rest, ended: Option.none() })
        assert.isTrue(Option.isNone(yield* store.subscription({ account: yield* newAccount, id: idOf(made) })))
        const [held] = yield* claimOf(made.id)
        assert.deepStrictEqual(held?.webhook.cursor, Option.fromNullable(first))
        assert.isTrue((second ?? "") > (first ?? ""))
      })
    )

    it.effect("insert counts webhooks and subscriptions apart, and does nothing for one that exists", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule } = yield* newWorld
        yield* store.insert(newWebhook(account), 1)
        const made = yield* newSubscription(account, { rule })
        yield* store.insert(made, 1)
        yield* store.insert({ ...made, id: fromUuid("webhook", v7()), url: "https://other.example/" }, 1)
        assert.deepInclude(Option.getOrThrow(yield* store.subscription({ account, id: idOf(made) })), { url: made.url })
        const refused = yield* Effect.flip(store.insert(yield* newSubscription(account, { rule }), 1))
        assert.deepInclude({ ...refused }, { _tag: "LimitReached", name: "subscriptions", limit: 1, used: 1 })
        const webhook = yield* Effect.flip(store.insert(newWebhook(account), 1))
        assert.deepInclude({ ...webhook }, { _tag: "LimitReached", name: "webhooks", limit: 1, used: 1 })
      })
    )

    it.effect("a subscription ends with the grant of its client, and refresh moves it to another grant", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const grants = yield* GrantStore
        const { account, rule } = yield* newWorld
        const made = yield* newSubscription(account, { rule })
        const subscription = Option.getOrThrow(made.subscription)
        const newOne = newGrant({ account_id: account, key_id: subscription.key, expiresAt: soon() })
        const [first, second] = [yield* newOne, yield* newOne]
        for (const grant of [first, second]) yield* grants.insert(grant)
        yield* store.insert(
          { ...made, subscription: Option.some({ ...subscription, grant: Option.some(first.id) }) },
          5
        )
        const stored = Effect.gen(function* () {
          const found = yield* store.subscription({ account, id: idOf(made) })
          const { grant, ended } = Option.getOrThrow(Option.getOrThrow(found).subscription)
          return [Option.getOrNull(grant), Option.getOrNull(ended)]
        })
        assert.deepStrictEqual(yield* stored, [first.id, null])
        yield* grants.end({ id: first.id, account: Option.none() }, { at: fromMillis(Date.now()), by: "revoked" })
        assert.deepStrictEqual(yield* stored, [first.id, "key"])
        const { url, secret } = made
        const refreshed = { url, secret, key: subscription.key, client: Option.none(), expiresAt: soon() }
        yield* store.refresh(made.id, { ...refreshed, grant: Option.some(second.id), previousUntil: at(5) })
        assert.deepStrictEqual(yield* stored, [second.id, null])
      })
    )

    it.effect("claim takes no expired or suspended subscription, and refresh brings both back", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule } = yield* newWorld
        const expired = yield* newSubscription(account, { rule, expiresIn: -1_000 })
        const suspended = yield* newSubscription(account, { rule })
        const { disabled } = yield* store.backlog(PLATFORM_IDS)
        for (const one of [expired, suspended]) yield* store.insert(one, 5)
        yield* insertSome(rule, 1)
        const [held] = yield* claimOf(expired.id, suspended.id)
        assert.strictEqual(held?.webhook.id, suspended.id)
        if (held === undefined) return
        const state = { ...fresh, cursor: held.webhook.cursor, disabledReason: Option.some("Too many failures") }
        yield* store.settle(held, newAttempt(suspended.id), state, LEASE_MILLIS)
        const stored = Option.getOrThrow(yield* store.subscription({ account, id: idOf(suspended) }))
        assert.deepStrictEqual(stored.disabledReason, Option.some("Too many failures"))
        assert.strictEqual((yield* store.backlog(PLATFORM_IDS)).disabled, disabled, "only webhooks count as disabled")
        assert.lengthOf(yield* claimOf(expired.id, suspended.id), 0)
        assert.deepStrictEqual(
          (yield* store.announcingGaps).filter(({ account: owner }) => owner === account),
          []
        )
        for (const { id, url, secret, subscription } of [expired, suspended]) {
          const { key, grant } = Option.getOrThrow(subscription)
          const more = { key, grant, client: Option.some("New"), expiresAt: soon(), previousUntil: at(5) }
          yield* store.refresh(id, { url, secret, ...more })
        }
        assert.lengthOf(yield* claimOf(expired.id, suspended.id), 2)
        const refreshed = Option.getOrThrow(yield* store.subscription({ account, id: idOf(suspended) }))
        assert.deepInclude(refreshed, { ...untold, disabledReason: Option.none(), previousSecret: Option.none() })
        assert.deepStrictEqual(Option.getOrThrow(refreshed.subscription).client, Option.some("New"))
        assert.lengthOf(
          (yield* store.announcingGaps).filter(({ account: owner }) => owner === account),
          2
        )
      })
    )

    it.effect("refresh keeps another secret as the previous one, and forgets what could not be told", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule } = yield* newWorld
        const made = yield* newSubscription(account, { rule })
        yield* store.insert(made, 5)
        const refresh = (secret: string) =>
          Effect.gen(function* () {
            const { key, grant } = Option.getOrThrow(made.subscription)
            const more = { url: made.url, key, grant, client: Option.none(), expiresAt: soon(), previousUntil: at(5) }
            yield* store.refresh(made.id, { ...more, secret: Redacted.make(secret) })
            return Option.getOrThrow(yield* store.subscription({ account, id: idOf(made) }))
          })
        const changed = yield* refresh("second")
        assert.deepStrictEqual(
          [
            Redacted.value(changed.secret),
            Option.map(changed.previousSecret, ({ secret, until }) => [Redacted.value(secret), until])
          ],
          ["second", Option.some(["first", at(5)])]
        )
        yield* insertSome(rule, 1)
        const [held] = yield* claimOf(made.id)
        if (held === undefined) return assert.fail("It is not due")
        const state = { ...fresh, cursor: held.webhook.cursor, gapTries: Option.some(MAX_CONTROL_TRIES) }
        yield* store.settle(held, newAttempt(made.id), state, LEASE_MILLIS)
        const same = yield* refresh("second")
        assert.deepStrictEqual(same.gapTries, Option.none())
        assert.isTrue(Option.exists(same.previousSecret, ({ secret }) => Redacted.value(secret) === "first"))
      })
    )

    it.effect("claim takes a subscription that has to be told of missed events, up to the last try", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule } = yield* newWorld
        const made = yield* newSubscription(account, { rule })
        yield* store.insert(made, 5)
        const [match] = yield* insertSome(rule, 1)
        const [first] = yield* claimOf(made.id)
        if (first === undefined) return assert.fail("It is not due")
        const cursor = Option.fromNullable(match)
        const told = (tries: number, endTries: number) => ({ ...fresh, cursor, gapTries: Option.some(tries), endTries })
        const held = yield* store.settle(first, newAttempt(made.id), told(1, 1), LEASE_MILLIS)
        assert.deepInclude(Option.getOrThrow(held), { gapTries: Option.some(1), endTries: 1 })
        yield* store.releaseAll
        const [again] = yield* claimOf(made.id)
        if (again === undefined) return assert.fail("It is not due again")
        yield* store.settle(again, newAttempt(made.id), told(MAX_CONTROL_TRIES, 1), LEASE_MILLIS)
        yield* store.releaseAll
        assert.lengthOf(yield* claimOf(made.id), 0)
      })
    )

    it.effect("a subscription ends when its key is revoked or expires, and when all its rules are deleted", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const keys = yield* KeyStore
        const rules = yield* RuleStore
        const { account, rule } = yield* newWorld
        const other = (yield* visibleRule(account)).id
        const revoked = yield* newSubscription(account, { rule })
        const expired = yield* newSubscription(account, { rule, keyEndsIn: -1_000 })
        const ofTwo = yield* newSubscription(account, { rules: Option.some([rule, other]) })
        const ofAll = yield* newSubscription(account, { rules: Option.none() })
        const all = [revoked, expired, ofTwo, ofAll]
        for (const one of all) yield* store.insert(one, 9)
        const endsOf = Effect.forEach(all, (one) =>
          Effect.map(store.subscription({ account, id: idOf(one) }), (found) =>
            Option.getOrNull(
              Option.flatMap(
                Option.flatMap(found, ({ subscription }) => subscription),
                ({ ended }) => ended
              )
            )
          )
        )
        assert.deepStrictEqual(yield* endsOf, [null, "key", null, null])
        const { key } = Option.getOrThrow(revoked.subscription)
        yield* keys.revoke({ id: key, account: Option.none() }, { at: at(1), force: true })
        assert.isTrue(yield* rules.hide(account, rule, at(9)))
        assert.deepStrictEqual(yield* endsOf, ["key", "key", null, null])
        yield* rules.remove(rule)
        yield* rules.hide(account, other, at(9))
        assert.deepStrictEqual(yield* endsOf, ["key", "key", "rule", null])
        const due = yield* claimOf(...all.map(({ id }) => id))
        assert.sameMembers(
          due.map(({ webhook }) => webhook.id),
          [revoked.id, expired.id, ofTwo.id]
        )
      })
    )

    it.effect("finished lists what is expired, and what has ended while it was suspended", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule } = yield* newWorld
        const expired = yield* newSubscription(account, { rule, expiresIn: -1_000 })
        const ended = yield* newSubscription(account, { rule, keyEndsIn: -1_000 })
        for (const one of [expired, ended]) yield* store.insert(one, 5)
        const finished = Effect.map(store.finished, (all) =>
          all.flatMap((one) => (one.account === account ? [one.id] : []))
        )
        assert.deepStrictEqual(yield* finished, [expired.id])
        const [held] = yield* claimOf(ended.id)
        if (held === undefined) return assert.fail("It is not due")
        const state = { ...fresh, cursor: held.webhook.cursor, disabledReason: Option.some("Too many failures") }
        yield* store.settle(held, newAttempt(ended.id), state, LEASE_MILLIS)
        assert.sameMembers(yield* finished, [expired.id, ended.id])
      })
    )

    it.effect("passOwnRule makes another living subscription of the account the owner of the rule", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { account, rule } = yield* newWorld
        const owner = yield* newSubscription(account, { rule, ownRule: rule })
        const gone = yield* newSubscription(account, { rule, expiresIn: -1_000 })
        for (const one of [owner, gone]) yield* store.insert(one, 9)
        assert.isFalse(yield* store.passOwnRule(owner.id, rule))
        const heir = yield* newSubscription(account, { rule })
        yield* store.insert(heir, 9)
        assert.isTrue(yield* store.passOwnRule(owner.id, rule))
        const ownRuleOf = (one: NewWebhook) =>
          Effect.map(store.subscription({ account, id: idOf(one) }), (found) =>
            Option.flatMap(Option.getOrThrow(found).subscription, ({ ownRule }) => ownRule)
          )
        assert.deepStrictEqual(yield* ownRuleOf(heir), Option.some(rule))
        assert.deepStrictEqual(yield* ownRuleOf(owner), Option.none())
      })
    )

    it.effect("maintain and enable leave a subscription in its kind", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const matches = yield* MatchStore
        const { account, rule } = yield* newWorld
        const made = yield* newSubscription(account, { rule })
        yield* store.insert(made, 5)
        yield* insertSome((yield* newWorld).rule, 1)
        yield* store.maintain({ attempts: 10, since: at(0), platforms: ["x", "firehose"] })
        yield* store.enable(made.id)
        const stored = Option.getOrThrow(yield* store.find(account, made.id))
        assert.deepInclude(stored, { cursor: yield* matches.newest, disabledReason: Option.none() })
        yield* insertSome(rule, 1)
        assert.lengthOf(yield* claimOf(made.id), 1)
      })
    )
  })

// ---- helpers ----

const untold = { gapTries: Option.none(), endTries: 0, failures: 0 }

const soon = () => fromMillis(Date.now() + 3_600_000)

const newWorld = Effect.gen(function* () {
  const account = yield* newAccount
  return { account, rule: (yield* visibleRule(account)).id }
})

const idOf = ({ subscription }: NewWebhook): string => Option.getOrThrow(subscription).id

/** With a key of its own. Times in milliseconds from now. */
const newSubscription = (
  account: AccountId,
  options: {
    readonly rule?: RuleId
    readonly rules?: NewWebhook["rules"]
    readonly start?: string
    readonly ownRule?: RuleId
    readonly expiresIn?: number
    readonly keyEndsIn?: number
  }
) =>
  Effect.gen(function* () {
    const { rule, start, ownRule, expiresIn = 3_600_000, keyEndsIn } = options
    const keys = yield* KeyStore
    const expiresAt = Option.map(Option.fromNullable(keyEndsIn), (millis) => fromMillis(Date.now() + millis))
    const key = yield* keys.insert(newKey({ accountId: account, expiresAt }))
    const newest = Option.getOrElse(yield* (yield* MatchStore).newest, () => fromUuid("match", v7()))
    return newWebhook(account, {
      rules: options.rules ?? Option.map(Option.fromNullable(rule), (id) => [id]),
      description: Option.none(),
      events: ["match"],
      subscription: Option.some({
        id: `sub_${v7()}`,
        event: "match.created",
        key: key.id,
        grant: Option.none(),
        client: Option.some("Claude"),
        expiresAt: fromMillis(Date.now() + expiresIn),
        ownRule: Option.fromNullable(ownRule),
        // The id of a match that the test has stored.
        start: (start ?? newest) as typeof newest,
        announcedGaps: []
      })
    })
  })
