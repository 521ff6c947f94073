/** Webhooks with fake receivers and memory stores. */

import { it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Option, Redacted, type Scope } from "effect"
import { v7 } from "uuid"
import { StreamStore } from "../../../core/coverage/StreamStore.ts"
import { KeyStore } from "../../../core/keys/KeyStore.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { fromUuid, Ids, type KeyId, type MatchId, type RuleId, type WebhookId } from "../../../core/model/Ids.ts"
import { fromMillis } from "../../../core/model/Timestamp.ts"
import type { Platforms } from "../../../core/platforms/Platform.ts"
import type { Defaults } from "../../../core/quotas/Limit.ts"
import { RuleChanges } from "../../../core/rules/RuleChanges.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { Rules } from "../../../core/rules/Rules.ts"
import { EventData } from "../../../core/webhooks/EventData.ts"
import { EVENT_NAMES, type EventName } from "../../../core/webhooks/Subscription.ts"
import { Subscriptions } from "../../../core/webhooks/Subscriptions.ts"
import type { Webhook, WebhookDraft } from "../../../core/webhooks/Webhook.ts"
import * as WebhookDelivery from "../../../core/webhooks/WebhookDelivery.ts"
import { type Answer, type Message, WebhookSender } from "../../../core/webhooks/WebhookSender.ts"
import { WebhookStore } from "../../../core/webhooks/WebhookStore.ts"
import { Webhooks } from "../../../core/webhooks/Webhooks.ts"
import { newKey, newMatch, visibleRule } from "../../contract/samples.ts"
import { oneOfSeveral } from "../../ownership.ts"
import { idsOnly } from "../../platforms.ts"
import { quotas } from "../../quotas.ts"
import { memoryGrants } from "../../stores/memoryGrants.ts"
import { memoryKeys } from "../../stores/memoryKeys.ts"
import { memoryMatches } from "../../stores/memoryMatches.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { memoryStreams } from "../../stores/memoryStreams.ts"
import { memoryWebhooks } from "../../stores/memoryWebhooks.ts"

export const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")

/** Fake receivers: configurable answers, recorded messages. */
export class Receivers {
  readonly sent: Array<Message> = []
  answer: (message: Message) => Effect.Effect<Answer> = () => Effect.succeed(answered(200))

  idsTo(url: string): ReadonlyArray<string | undefined> {
    return this.sent.filter((message) => message.url === url).map(({ id }) => id)
  }
}

export const answered = (status: number, retryAfter = Option.none<number>()): Answer => ({
  _tag: "Answered",
  status,
  body: "",
  retryAfter
})

const stores = memoryWebhooks.pipe(
  Layer.provide(memoryGrants),
  Layer.provideMerge(memoryKeys),
  Layer.provideMerge(memoryMatches),
  Layer.provideMerge(Layer.mergeAll(memoryRules, memoryStreams, idsOnly))
)

/** A subscription of the account, inserted as it is after the challenge. */
export interface NewSubscriber {
  readonly event?: EventName
  readonly minutes?: number
  readonly ownRule?: RuleId
}

export interface World {
  readonly subscribe: (
    wanted?: NewSubscriber
  ) => Effect.Effect<{ readonly id: WebhookId; readonly key: KeyId }, unknown>
  readonly removedRules: Array<RuleId>
  readonly receivers: Receivers
  readonly webhooks: Webhooks["Type"]
  /** The use cases of a server that has just started. */
  readonly newSubscriptions: (limits?: Partial<Defaults>) => Effect.Effect<Subscriptions["Type"], never, Scope.Scope>
  readonly newKey: Effect.Effect<KeyId, unknown>
  readonly rule: RuleId
  readonly insert: (count: number, rule?: RuleId) => Effect.Effect<ReadonlyArray<MatchId>, unknown>
  readonly create: (draft?: Partial<WebhookDraft>) => Effect.Effect<string, unknown>
  readonly state: (id: string) => Effect.Effect<Webhook, unknown>
  readonly stores: {
    readonly webhooks: WebhookStore["Type"]
    readonly matches: MatchStore["Type"]
    readonly rules: RuleStore["Type"]
    readonly streams: StreamStore["Type"]
    readonly keys: KeyStore["Type"]
  }
  /** Starts another worker. */
  readonly start: Effect.Effect<unknown, never, Scope.Scope>
}

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

export const URL_A = "https://a.example/hook"

export const test = (title: string, body: (world: World) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.scoped(title, () =>
    Effect.gen(function* () {
      const receivers = new Receivers()
      const removedRules: Array<RuleId> = []
      const sender = WebhookSender.of({
        refusal: () => Option.none(),
        send: (message) =>
          Effect.suspend(() => {
            receivers.sent.push(message)
            return receivers.answer(message)
          })
      })
      const services = Layer.mergeAll(
        yield* Effect.map(
          Effect.context<WebhookStore | MatchStore | RuleStore | StreamStore | Platforms | KeyStore>(),
          Layer.succeedContext
        ),
        Layer.succeed(WebhookSender, sender),
        Layer.mock(RuleChanges, {
          remove: (_, rule) =>
            Effect.sync(() => {
              removedRules.push(rule)
              return true
            })
        }),
        Layer.succeed(EventData, { ofMatch: ({ id }) => ({ id }), ofRedaction: (one) => one, ofGap: (one) => one }),
        Layer.provideMerge(Ids.layer, Entropy.layerCounting)
      )
      const shared = Layer.succeedContext(yield* Layer.build(services))
      const webhooks = yield* Effect.provide(
        Webhooks,
        Layer.provide(Webhooks.layer, Layer.provideMerge(quotas(), shared))
      )
      const matches = yield* MatchStore
      const rule = (yield* visibleRule(ann)).id
      const webhookStore = yield* WebhookStore
      const keys = yield* KeyStore
      const newKeyId = Effect.map(keys.insert(newKey({ accountId: ann })), ({ id }) => id)
      const subscribe = ({ event = "match.created", minutes = 60, ownRule }: NewSubscriber = {}) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const key = yield* newKeyId
          const id = fromUuid("webhook", v7())
          yield* webhookStore.insert(
            {
              id,
              account: ann,
              url: URL_A,
              description: Option.none(),
              rules: Option.some([ownRule ?? rule]),
              platforms: Option.none(),
              events: [EVENT_NAMES[event]],
              secret: Redacted.make(SECRET),
              createdAt: fromMillis(now),
              subscription: Option.some({
                id: `sub_${id}`,
                event,
                key,
                grant: Option.none(),
                client: Option.none(),
                expiresAt: fromMillis(now + minutes * 60_000),
                ownRule: Option.fromNullable(ownRule),
                start: yield* matches.watermark,
                announcedGaps: []
              })
            },
            0
          )
          return { id, key }
        })
      yield* body({
        receivers,
        removedRules,
        subscribe,
        webhooks,
        newSubscriptions: (limits) =>
          Effect.map(
            Layer.build(
              Layer.provide(
                Subscriptions.layer,
                Layer.mergeAll(shared, Layer.mock(Rules, {}), Layer.provide(quotas(limits), shared))
              )
            ),
            (context) => Context.get(context, Subscriptions)
          ),
        newKey: newKeyId,
        rule,
        insert: (count, of = rule) =>
          Effect.gen(function* () {
            const found = Array.from({ length: count }, () => newMatch(of))
            yield* matches.insert(found)
            return found.map(({ id }) => id)
          }),
        create: (draft = {}) => Effect.map(webhooks.create(ann, { url: URL_A, ...draft }), ({ webhook }) => webhook.id),
        state: (id) =>
          Effect.flatMap(webhooks.list(ann), (all) => Effect.fromNullable(all.find((webhook) => webhook.id === id))),
        stores: {
          webhooks: webhookStore,
          matches,
          rules: yield* RuleStore,
          streams: yield* StreamStore,
          keys
        },
        start: Layer.build(Layer.provide(WebhookDelivery.layer, Layer.merge(shared, oneOfSeveral)))
      })
    }).pipe(Effect.provide(stores))
  )

export const SOON = "1 second"
