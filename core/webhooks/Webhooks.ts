/** The webhook use cases. The gateway and the CLI call nothing below this. */
import { Clock, Context, Duration, Effect, Encoding, FiberSet, Layer, Option, Redacted, Schema } from "effect"
import { MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import {
  InvalidArgument,
  type LimitReached,
  MatchNotFound,
  RuleNotFound,
  type StoreUnavailable,
  WebhookNotFound
} from "../model/Errors.ts"
import { type AccountId, asRuleId, Ids, MatchId, matchIdsAfter, WebhookId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { RuleChanges } from "../rules/RuleChanges.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { EventData } from "./EventData.ts"
import { endSubscription } from "./endSubscription.ts"
import type { Subscription } from "./Subscription.ts"
import {
  type AttemptList,
  type AttemptQuery,
  DEFAULT_EVENTS,
  type ReplayRequest,
  type Webhook,
  type WebhookAttempt,
  type WebhookDraft,
  type WebhookWithSecret
} from "./Webhook.ts"
import { WebhookSender } from "./WebhookSender.ts"
import { type ListedWebhook, WebhookStore } from "./WebhookStore.ts"
import { makeAttempts } from "./webhookAttempts.ts"

/** `id` may be any text: fails with `WebhookNotFound` unless it is the id of a webhook of the account. */
export class Webhooks extends Context.Tag("core/Webhooks")<
  Webhooks,
  {
    /** Delivers matches from now on. */
    readonly create: (
      account: AccountId,
      draft: WebhookDraft
    ) => Effect.Effect<WebhookWithSecret, InvalidArgument | RuleNotFound | LimitReached | StoreUnavailable>
    /** Newest first. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<Webhook>, StoreUnavailable>
    readonly delete: (account: AccountId, id: string) => Effect.Effect<WebhookId, WebhookNotFound | StoreUnavailable>
    /** Sends a test message now. */
    readonly test: (account: AccountId, id: string) => Effect.Effect<WebhookAttempt, WebhookNotFound | StoreUnavailable>
    /** For 24 hours, messages are signed with the previous secret, too. */
    readonly rotateSecret: (
      account: AccountId,
      id: string
    ) => Effect.Effect<WebhookWithSecret, InvalidArgument | WebhookNotFound | StoreUnavailable>
    /** Retries at once the match that failed last. */
    readonly enable: (account: AccountId, id: string) => Effect.Effect<Webhook, WebhookNotFound | StoreUnavailable>
    /** Newest first. */
    readonly attempts: (
      account: AccountId,
      query: AttemptQuery
    ) => Effect.Effect<AttemptList, WebhookNotFound | StoreUnavailable>
    /** Sends one match now, or moves the cursor so that delivery continues after a match. */
    readonly replay: (
      account: AccountId,
      request: ReplayRequest
    ) => Effect.Effect<
      { readonly webhook: Webhook; readonly attempt?: WebhookAttempt },
      InvalidArgument | WebhookNotFound | MatchNotFound | StoreUnavailable
    >
  }
>() {
  static readonly layer: Layer.Layer<
    Webhooks,
    never,
    WebhookStore | MatchStore | RuleStore | RuleChanges | Platforms | WebhookSender | EventData | Ids | Entropy | Quotas
  > = Layer.scoped(
    Webhooks,
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const matches = yield* MatchStore
      const rules = yield* RuleStore
      const platforms = yield* Platforms
      const sender = yield* WebhookSender
      const ids = yield* Ids
      const entropy = yield* Entropy
      const quotas = yield* Quotas
      const attempts = makeAttempts({ sender, ids, entropy, data: yield* EventData })
      const end = { store, changes: yield* RuleChanges }
      const farewells = yield* FiberSet.make()

      const newSecret = Effect.sync(() => Redacted.make(`whsec_${Encoding.encodeBase64(entropy.bytes(SECRET_BYTES))}`))

      const find = Effect.fnUntraced(function* (account: AccountId, id: string) {
        const webhookId = asWebhookId(id)
        const found = Option.isSome(webhookId) ? yield* store.find(account, webhookId.value) : Option.none()
        return Option.isSome(found) ? found.value : yield* new WebhookNotFound({ webhookId: id })
      })

      const ownRule = Effect.fnUntraced(function* (account: AccountId, ruleId: string) {
        const id = asRuleId(ruleId)
        if (Option.isSome(id) && (yield* rules.exists(account, id.value))) return id.value
        return yield* new RuleNotFound({ ruleId })
      })

      const ownMatch = Effect.fnUntraced(function* (account: AccountId, matchId: string) {
        const id = asMatchId(matchId)
        if (Option.isNone(id)) return yield* new MatchNotFound({ matchId })
        const before = Option.fromNullable(matchIdsAfter(id.value, 1)[0])
        const page = { account, rules: Option.none(), platforms: yield* platforms.ids, before, limit: 1 }
        const [match] = (yield* matches.list(page)).items
        return match?.id === id.value ? match : yield* new MatchNotFound({ matchId })
      })

      const create = Effect.fn("Webhooks.create")(
        function* (account: AccountId, draft: WebhookDraft) {
          // Normalized: escapes characters that the store cannot hold.
          const url = new URL(draft.url).href
          const refusal = sender.refusal(url)
          if (Option.isSome(refusal)) {
            return yield* new InvalidArgument({ issues: [{ path: "url", message: `Not allowed: ${refusal.value}` }] })
          }
          const ruleIds =
            draft.rule_ids === undefined
              ? Option.none()
              : Option.some(yield* Effect.forEach(new Set(draft.rule_ids), (id) => ownRule(account, id)))
          const secret = yield* newSecret
          const id = yield* ids.webhook
          yield* store.insert(
            {
              id,
              account,
              url,
              description: Option.fromNullable(draft.description),
              rules: ruleIds,
              platforms: Option.map(Option.fromNullable(draft.platforms), (all) => [...new Set(all)]),
              events: [...new Set(draft.events ?? DEFAULT_EVENTS)],
              secret,
              createdAt: yield* Timestamp.now,
              subscription: Option.none()
            },
            yield* quotas.limitOf(account, "webhooks")
          )
          return { webhook: toWire(yield* find(account, id)), secret: Redacted.value(secret) }
        },
        Effect.catchTag("WebhookNotFound", Effect.die)
      )

      const list = Effect.fn("Webhooks.list")(function* (account: AccountId) {
        return (yield* store.list(account)).map(toWire)
      })

      const remove = Effect.fn("Webhooks.delete")(function* (account: AccountId, id: string) {
        const found = yield* find(account, id)
        if (!(yield* endSubscription(end, found))) return yield* new WebhookNotFound({ webhookId: id })
        // Once, and not recorded: nothing may depend on this message.
        if (Option.isSome(found.subscription)) yield* FiberSet.run(farewells, attempts.ended(found, "deleted"))
        return found.id
      })

      const test = Effect.fn("Webhooks.test")(function* (account: AccountId, id: string) {
        const { attempt } = yield* attempts.test(yield* find(account, id))
        yield* store.record(attempt)
        return attempt
      })

      const rotateSecret = Effect.fn("Webhooks.rotateSecret")(function* (account: AccountId, id: string) {
        const found = yield* find(account, id)
        if (Option.isSome(found.subscription)) {
          const message = "Is a subscription: its client chose the secret, and sends another one when it refreshes it"
          return yield* new InvalidArgument({ issues: [{ path: "webhook_id", message }] })
        }
        const secret = yield* newSecret
        const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(SECRET_OVERLAP)
        yield* store.rotate(found.id, secret, Timestamp.fromMillis(until))
        return { webhook: toWire(yield* find(account, id)), secret: Redacted.value(secret) }
      })

      const enable = Effect.fn("Webhooks.enable")(function* (account: AccountId, id: string) {
        yield* store.enable((yield* find(account, id)).id)
        return toWire(yield* find(account, id))
      })

      const listAttempts = Effect.fn("Webhooks.attempts")(function* (account: AccountId, query: AttemptQuery) {
        const webhook = (yield* find(account, query.webhook_id)).id
        const before = Option.fromNullable(query.cursor)
        const found = yield* store.attempts({ webhook, before, limit: query.limit + 1 })
        const page = found.slice(0, query.limit)
        const last = page.at(-1)
        return {
          attempts: page,
          ...(found.length > query.limit && last !== undefined && { next_cursor: last.id })
        }
      })

      const replay = Effect.fn("Webhooks.replay")(function* (account: AccountId, request: ReplayRequest) {
        const { webhook_id, match_id, after } = request
        if ((match_id === undefined) === (after === undefined)) {
          return yield* new InvalidArgument({
            issues: [
              {
                path: "",
                message:
                  'Expected either "match_id", to send that match again, or "after", to continue the delivery after that match, and not both'
              }
            ]
          })
        }
        const found = yield* find(account, webhook_id)
        if (match_id === undefined) {
          yield* store.moveCursor(found.id, (yield* ownMatch(account, after ?? "")).id)
          return { webhook: toWire(yield* find(account, webhook_id)) }
        }
        const { attempt } = yield* attempts.replay(found, yield* ownMatch(account, match_id))
        yield* store.record(attempt)
        return { webhook: toWire(yield* find(account, webhook_id)), attempt }
      })

      return Webhooks.of({
        create,
        list,
        delete: remove,
        test,
        rotateSecret,
        enable,
        attempts: listAttempts,
        replay
      })
    })
  )
}

// ---- helpers ----

const SECRET_BYTES = 32

const SECRET_OVERLAP = Duration.hours(24)

const asWebhookId = Schema.decodeUnknownOption(WebhookId)

const asMatchId = Schema.decodeUnknownOption(MatchId)

const toWire = (webhook: ListedWebhook): Webhook => {
  const { description, rules, platforms, disabledReason, nextAttemptAt, lastDelivery, lastAttempt, subscription } =
    webhook
  const isDisabled = Option.isSome(disabledReason)
  return {
    id: webhook.id,
    url: webhook.url,
    ...(Option.isSome(description) && { description: description.value }),
    ...(Option.isSome(rules) && { rule_ids: rules.value }),
    ...(Option.isSome(platforms) && { platforms: platforms.value }),
    events: webhook.events,
    kind: Option.isSome(subscription) ? "subscription" : "webhook",
    ...(Option.isSome(subscription) && { subscription: subscriptionOf(subscription.value) }),
    created_at: webhook.createdAt,
    state: isDisabled ? "disabled" : webhook.failures > 0 ? "retrying" : "active",
    ...(isDisabled && { disabled_reason: disabledReason.value }),
    ...(Option.isSome(nextAttemptAt) && { next_attempt_at: nextAttemptAt.value }),
    ...(Option.isSome(lastDelivery) && { last_delivery: lastDelivery.value }),
    ...(Option.isSome(lastAttempt) && { last_attempt: lastAttempt.value })
  }
}

const subscriptionOf = ({
  id,
  event,
  client,
  key,
  grant,
  expiresAt
}: Subscription): NonNullable<Webhook["subscription"]> => ({
  id,
  event,
  ...(Option.isSome(client) && { client: client.value }),
  key_id: key,
  ...(Option.isSome(grant) && { grant_id: grant.value }),
  expires_at: expiresAt
})
