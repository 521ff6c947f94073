/** The use cases of subscriptions: an MCP client subscribes to events, refreshes its subscription, and ends it. */
import { Clock, Context, Duration, Effect, Either, Layer, Option, Redacted, Schema } from "effect"
import { makeCoverageOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { checkNotInFuture } from "../matches/checkCursor.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import {
  CallbackFailed,
  InvalidArgument,
  LimitReached,
  type PlatformNotConfigured,
  RuleNotFound,
  type StoreUnavailable
} from "../model/Errors.ts"
import {
  type AccountId,
  asRuleId,
  firstMatchIdAt,
  type GrantId,
  Ids,
  type KeyId,
  MatchId,
  type RuleId,
  timeOf
} from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { checkDraft } from "../rules/Drafting.ts"
import { RuleDraft } from "../rules/Rule.ts"
import { type AddFailure, RuleChanges } from "../rules/RuleChanges.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { Rules } from "../rules/Rules.ts"
import { type Challenge, makeChallenges } from "./challenge.ts"
import { endSubscription } from "./endSubscription.ts"
import { foundGaps, gapsSince, isGapCursor, isLost } from "./gapMessages.ts"
import { EVENT_NAMES, type EventName, type Principal, subscriptionIdOf } from "./Subscription.ts"
import { shownCursor } from "./shownCursor.ts"
import { CallbackUrl } from "./Webhook.ts"
import { WebhookSender } from "./WebhookSender.ts"
import { type ListedWebhook, MAX_CONTROL_TRIES, WebhookStore } from "./WebhookStore.ts"

/** The coverage of each is read every few seconds. */
const MAX_RULES = 20

/** Which events; without any field: of all rules of the account. */
const selection = {
  rule_id: optional(Schema.String, "Only events of this rule"),
  rule_ids: optional(
    Schema.Array(Schema.String).pipe(
      Schema.filter((ids) => ids.length > 0 || "Is empty: omit it for all rules", { jsonSchema: { minItems: 1 } }),
      Schema.filter((ids) => ids.length <= MAX_RULES || `Lists too many rules: at most ${MAX_RULES} are allowed`, {
        jsonSchema: { maxItems: MAX_RULES }
      })
    ),
    "Only events of these rules"
  ),
  platform: optional(PlatformId, "Only events on this platform")
}

export const EventSelection = Schema.Struct(selection)
export type EventSelection = typeof EventSelection.Type

/** Of `match.created`: the rule need not exist yet. */
export const MatchSelection = Schema.Struct({
  ...selection,
  filters: optional(
    RuleDraft.fields.overrides.pipe(
      Schema.filter((filters) => Object.keys(filters).length > 0 || "Is empty: give the filter of a platform", {
        jsonSchema: { minProperties: 1 }
      })
    ),
    "Instead of a rule: one filter per platform, in that platform's syntax. A rule is made for the subscription, and deleted with it"
  ),
  name: optional(RuleDraft.fields.name, "The name of the rule for filters")
})
export type MatchSelection = typeof MatchSelection.Type

export const selectionOf = {
  "match.created": MatchSelection,
  "match.redacted": EventSelection,
  "coverage.gap": EventSelection
}

export const Milliseconds = Schema.Number.pipe(
  Schema.filter((value) => (Number.isInteger(value) && value >= 0) || "Expected a whole number of milliseconds")
)

/** `cursor` and `maxAgeMs` of a request. */
export const replayFields = {
  cursor: optional(Schema.NullOr(Schema.String)),
  maxAgeMs: optional(Schema.NullOr(Milliseconds))
}

export const SubscribeRequest = Schema.Struct({
  ...replayFields,
  delivery: Schema.Struct({
    mode: Schema.Literal("webhook"),
    url: CallbackUrl,
    secret: Schema.String.pipe(
      Schema.filter((text) => isSecret(text) || "Expected whsec_ and the Base64 of 24 to 64 random bytes")
    )
  }),
  ttlMs: optional(Schema.NullOr(Milliseconds))
})
export type SubscribeRequest = typeof SubscribeRequest.Type

export const UnsubscribeRequest = Schema.Struct({
  delivery: Schema.Struct({ mode: optional(Schema.Literal("webhook")), url: Schema.String })
})
export type UnsubscribeRequest = typeof UnsubscribeRequest.Type

/** Who wants which events. `selection` as it was sent, which is a part of the identity. */
export interface Wish {
  readonly account: AccountId
  readonly principal: Principal
  readonly name: EventName
  readonly selection: MatchSelection
}

export interface Subscribed {
  readonly id: string
  readonly refreshBefore: string
  readonly cursor: string
  /** Events since the cursor of the request may be missing. */
  readonly truncated: boolean
  /** If the subscription existed already. */
  readonly deliveryStatus?: {
    readonly active: boolean
    readonly lastDeliveryAt: string | null
    readonly lastError: string | null
  }
}

export type SubscribeFailure =
  | InvalidArgument
  | RuleNotFound
  | LimitReached
  | CallbackFailed
  | PlatformNotConfigured
  | AddFailure
  | StoreUnavailable

export class Subscriptions extends Context.Tag("core/Subscriptions")<
  Subscriptions,
  {
    /** Subscribes, or refreshes the subscription with the same identity. Nothing is stored unless the challenge is met. */
    readonly subscribe: (
      wish: Wish,
      request: SubscribeRequest,
      client: Option.Option<string>
    ) => Effect.Effect<Subscribed, SubscribeFailure>
    /** Idempotent. */
    readonly unsubscribe: (wish: Wish, request: UnsubscribeRequest) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<
    Subscriptions,
    never,
    | WebhookStore
    | MatchStore
    | RuleStore
    | StreamStore
    | Rules
    | RuleChanges
    | Platforms
    | WebhookSender
    | Ids
    | Entropy
    | Quotas
  > = Layer.effect(
    Subscriptions,
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const matches = yield* MatchStore
      const ruleStore = yield* RuleStore
      const rules = yield* Rules
      const platforms = yield* Platforms
      const sender = yield* WebhookSender
      const ids = yield* Ids
      const entropy = yield* Entropy
      const quotas = yield* Quotas
      const coverageOf = makeCoverageOf({ streams: yield* StreamStore, rules: ruleStore })
      const challenges = makeChallenges({ sender, entropy })
      const end = { store, changes: yield* RuleChanges }
      /** Until when a principal need not prove again that it owns a URL. Oldest first. */
      const proven = new Map<string, number>()
      /** Requests for the same subscription wait for each other: each could make a rule. */
      const busy = new Map<string, { readonly semaphore: Effect.Semaphore; users: number }>()

      const oneAtATime = <A, E>(id: string, effect: Effect.Effect<A, E>) =>
        Effect.suspend(() => {
          const turns = busy.get(id) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
          turns.users++
          busy.set(id, turns)
          const leave = Effect.sync(() => {
            if (--turns.users === 0) busy.delete(id)
          })
          return Effect.ensuring(turns.semaphore.withPermits(1)(effect), leave)
        })

      const idOf = ({ principal, name, selection }: Wish, url: string) =>
        subscriptionIdOf(entropy.sha256, { principal, url, name, arguments: selection })

      const checkRules = Effect.fnUntraced(function* (account: AccountId, { rule_id, rule_ids }: EventSelection) {
        const found: Array<RuleId> = []
        for (const [path, text] of namedRules({ rule_id, rule_ids })) {
          const id = asRuleId(text)
          if (Option.isNone(id) || !(yield* ruleStore.exists(account, id.value))) {
            const { message } = new RuleNotFound({ ruleId: text })
            return yield* new InvalidArgument({ issues: [{ path, message }] })
          }
          found.push(id.value)
        }
        return found.length === 0 ? Option.none() : Option.some([...new Set(found)])
      })

      const draftOf = ({ name, filters = {} }: MatchSelection) => ({
        name: name ?? "",
        intent: "Made for a subscription of an MCP client, and deleted with it",
        platforms: Object.keys(filters),
        overrides: filters
      })

      const checkSelection = Effect.fnUntraced(function* ({ account, selection }: Wish) {
        const problem = conflictIn(selection)
        if (problem !== undefined) return yield* new InvalidArgument({ issues: [problem] })
        if (selection.filters !== undefined) {
          const draft = draftOf(selection)
          yield* checkDraft({ platforms, quotas }, account, draft).pipe(Effect.mapError(namingFilters))
        }
        return yield* checkRules(account, selection)
      })

      const checkUrl = Effect.fnUntraced(function* (url: string) {
        const refusal = sender.refusal(url, { isSecure: true })
        if (Option.isSome(refusal)) return yield* new CallbackFailed({ reason: "not_allowed" })
      })

      const checkLimit = Effect.fnUntraced(function* (account: AccountId) {
        const limit = yield* quotas.limitOf(account, "subscriptions")
        if (limit === 0) return limit
        const used = (yield* store.list(account)).filter(({ subscription }) => Option.isSome(subscription)).length
        return used < limit ? limit : yield* new LimitReached({ name: "subscriptions", limit, used })
      })

      const prove = Effect.fnUntraced(function* (
        { account, principal }: Wish,
        challenge: Challenge,
        found: Option.Option<ListedWebhook>
      ) {
        const key = `${principal.id} ${challenge.url}`
        const now = yield* Clock.currentTimeMillis
        const live = Option.filter(found, (webhook) => isLive(webhook, now))
        if ((proven.get(key) ?? 0) > now || Option.exists(live, (webhook) => isProven(webhook, now))) return
        const room = yield* Effect.either(quotas.check(account, "challenges"))
        // The limit is for addresses that have proven nothing yet: a client that refreshes many subscriptions keeps them.
        if (Either.isLeft(room)) return Option.isSome(live) ? undefined : yield* room.left
        yield* quotas.spend(account, "challenges", 1)
        const { trouble } = yield* challenges.send(challenge)
        if (trouble !== undefined) return yield* new CallbackFailed({ reason: trouble })
        proven.delete(key)
        proven.set(key, now + PROVEN_MILLIS)
        for (const oldest of proven.keys()) if (proven.size > MAX_PROVEN) proven.delete(oldest)
      })

      /** Where delivery starts, and what the client need not be told of. */
      const startOf = Effect.fnUntraced(function* (
        { account, name, selection }: Wish,
        { cursor, maxAgeMs }: Pick<SubscribeRequest, "cursor" | "maxAgeMs">,
        wanted: Option.Option<ReadonlyArray<RuleId>>
      ) {
        const now = yield* Clock.currentTimeMillis
        const all = selection.platform === undefined ? yield* platforms.ids : [selection.platform]
        const isOfGaps = name === "coverage.gap"
        const sent = Option.fromNullable(cursor)
        if (Option.exists(sent, (text) => !(isOfGaps ? isGapCursor(text) : isMatchCursor(text)))) {
          return yield* notACursor()
        }
        const gaps = yield* foundGaps(coverageOf, { account, rules: wanted }, { platforms: all, now })
        const watermark = yield* matches.watermark
        const after = isOfGaps ? Option.none() : Option.flatMap(sent, decodeMatchId)
        const announcedGaps = gapsSince(isOfGaps ? sent : Option.none(), gaps).known
        if (Option.isNone(after)) return { start: watermark, announcedGaps, truncated: false }
        yield* checkNotInFuture(matches, after.value)
        const oldest = firstMatchIdAt(now - (maxAgeMs ?? Number.POSITIVE_INFINITY))
        const floor = yield* matches.floor(account)
        const [first] = (yield* matches.next({ account, rules: wanted, platforms: all, after, limit: 1 })).items
        const isCut = first !== undefined && first.id < oldest
        const isDeleted = Option.exists(floor, (floor) => floor > after.value)
        const hasLost = gaps.some((gap) => isLost(gap) && Date.parse(gap.to ?? "") > timeOf(after.value))
        const start = [after.value, oldest, ...Option.toArray(floor)].sort().at(-1) ?? watermark
        return { start, announcedGaps, truncated: isCut || isDeleted || hasLost }
      })

      const answerFor = Effect.fnUntraced(function* (webhook: ListedWebhook, truncated: boolean) {
        const subscription = Option.getOrThrow(webhook.subscription)
        return {
          id: subscription.id,
          refreshBefore: subscription.expiresAt,
          cursor: yield* shownCursor(matches, webhook, yield* platforms.ids),
          truncated
        }
      })

      const refresh = Effect.fnUntraced(function* (webhook: ListedWebhook, refreshed: Refreshed) {
        const now = yield* Clock.currentTimeMillis
        yield* store.refresh(webhook.id, { ...refreshed, previousUntil: Timestamp.fromMillis(now + SECRET_OVERLAP) })
        // What the messages about missed events could not tell.
        const truncated = Option.exists(webhook.gapTries, (tries) => tries >= MAX_CONTROL_TRIES)
        const { disabledReason, lastDelivery } = webhook
        const subscription = Option.map(webhook.subscription, (one) => ({ ...one, expiresAt: refreshed.expiresAt }))
        return {
          ...(yield* answerFor({ ...webhook, subscription }, truncated)),
          deliveryStatus: {
            active: Option.isNone(disabledReason),
            lastDeliveryAt: Option.getOrNull(Option.map(lastDelivery, ({ at }) => at)),
            lastError: Option.getOrNull(Option.flatMapNullable(lastDelivery, ({ error }) => error))
          }
        }
      })

      const insert = Effect.fnUntraced(function* (
        wish: Wish,
        request: SubscribeRequest,
        made: Refreshed & {
          readonly id: string
          readonly rules: Option.Option<ReadonlyArray<RuleId>>
          readonly limit: number
        }
      ) {
        const { account, principal, name, selection } = wish
        const ownRule = selection.filters === undefined ? Option.none() : Option.some(yield* ids.rule)
        const { start, announcedGaps, truncated } = yield* startOf(wish, request, made.rules)
        const { id, client, expiresAt } = made
        const { key, grant } = principal
        const subscription = { id, event: name, key, grant, client, expiresAt, ownRule, start, announcedGaps }
        const webhook = {
          id: yield* ids.webhook,
          account,
          url: made.url,
          description: Option.none(),
          rules: Option.orElse(
            Option.map(ownRule, (id) => [id]),
            () => made.rules
          ),
          platforms: Option.map(Option.fromNullable(selection.platform), (one) => [one]),
          events: [EVENT_NAMES[name]],
          secret: made.secret,
          createdAt: yield* Timestamp.now,
          subscription: Option.some(subscription)
        }
        // Before the rule: without the subscription, nobody would delete it.
        yield* store.insert(webhook, made.limit)
        const found = yield* store.subscription({ account, id })
        if (Option.isNone(found)) return yield* Effect.dieMessage(`Subscription "${id}" is gone`)
        // Another server was first.
        if (found.value.id !== webhook.id) return yield* refresh(found.value, made)
        if (Option.isSome(ownRule)) {
          const draft = { ...draftOf(selection), id: ownRule.value }
          yield* rules.create(account, draft).pipe(
            Effect.mapError(namingFilters),
            Effect.onError(() => Effect.ignore(endSubscription(end, found.value)))
          )
        }
        return yield* answerFor(found.value, truncated)
      })

      const subscribe = Effect.fn("Subscriptions.subscribe")(function* (
        wish: Wish,
        request: SubscribeRequest,
        client: Option.Option<string>
      ) {
        const { account } = wish
        const wanted = yield* checkSelection(wish)
        const id = idOf(wish, request.delivery.url)
        const url = new URL(request.delivery.url).href
        const secret = Redacted.make(request.delivery.secret)
        yield* checkUrl(url)
        const work = Effect.gen(function* () {
          const found = yield* store.subscription({ account, id })
          const limit = Option.isSome(found)
            ? yield* quotas.limitOf(account, "subscriptions")
            : yield* checkLimit(account)
          if (Option.isNone(found)) yield* startOf(wish, request, wanted)
          yield* prove(wish, { url, secret, subscription: id }, found)
          const now = yield* Clock.currentTimeMillis
          const expiresAt = Timestamp.fromMillis(now + ttlOf(request.ttlMs))
          const { key, grant } = wish.principal
          const refreshed = { url, secret, client, key, grant, expiresAt }
          if (Option.isSome(found) && isLive(found.value, now)) return yield* refresh(found.value, refreshed)
          if (Option.isSome(found)) yield* endSubscription(end, found.value)
          return yield* insert(wish, request, { ...refreshed, id, rules: wanted, limit })
        })
        return yield* oneAtATime(id, work)
      })

      const unsubscribe = Effect.fn("Subscriptions.unsubscribe")(function* (wish: Wish, request: UnsubscribeRequest) {
        const found = yield* store.subscription({ account: wish.account, id: idOf(wish, request.delivery.url) })
        if (Option.isSome(found)) yield* endSubscription(end, found.value)
      })

      return Subscriptions.of({ subscribe, unsubscribe })
    })
  )
}

/** What the fields of a selection say against each other. */
export const conflictIn = ({ rule_id, rule_ids, platform, filters, name }: MatchSelection) => {
  if (rule_id !== undefined && rule_ids !== undefined) {
    return { path: "arguments.rule_ids", message: 'Give either "rule_id" or "rule_ids"' }
  }
  if (filters === undefined) {
    return name === undefined
      ? undefined
      : { path: "arguments.name", message: 'Is only for "filters": a rule that exists has a name' }
  }
  if (name === undefined)
    return { path: "arguments.name", message: 'Is missing: "filters" make a rule, which needs a name' }
  return rule_id === undefined && rule_ids === undefined && platform === undefined
    ? undefined
    : { path: "arguments.filters", message: 'Give either "filters", or "rule_id", "rule_ids" and "platform"' }
}

/** The ids of rules that a selection names, with their places. */
export const namedRules = ({
  rule_id,
  rule_ids = []
}: {
  readonly rule_id: string | undefined
  readonly rule_ids: ReadonlyArray<string> | undefined
}): ReadonlyArray<readonly [path: string, id: string]> => [
  ...(rule_id === undefined ? [] : [["arguments.rule_id", rule_id] as const]),
  ...rule_ids.map((id, index) => [`arguments.rule_ids.${index}`, id] as const)
]

/** Error for a text that is no cursor of this type of event. */
export const notACursor = (): InvalidArgument =>
  new InvalidArgument({
    issues: [{ path: "cursor", message: "Expected the cursor of an earlier answer or event, or null" }]
  })

// ---- helpers ----

interface Refreshed {
  readonly url: string
  readonly secret: Redacted.Redacted
  readonly client: Option.Option<string>
  readonly key: KeyId
  readonly grant: Option.Option<GrantId>
  readonly expiresAt: Timestamp.Timestamp
}

const isLive = ({ subscription }: ListedWebhook, now: number): boolean =>
  Option.exists(subscription, ({ expiresAt, ended }) => Option.isNone(ended) && Date.parse(expiresAt) > now)

/** Whether the receiver met the challenge or took a message within a day. Unlike `proven`, all servers know it. */
const isProven = ({ createdAt, lastDelivery, disabledReason }: ListedWebhook, now: number): boolean => {
  const taken = Option.filter(lastDelivery, ({ outcome }) => outcome === "delivered")
  const at = Option.match(taken, { onNone: () => createdAt, onSome: ({ at }) => at })
  return Option.isNone(disabledReason) && Date.parse(at) > now - LIVE_PROVEN_MILLIS
}

const PROVEN_MILLIS = Duration.toMillis("1 hour")

/** Of a subscription that is being refreshed. */
const LIVE_PROVEN_MILLIS = Duration.toMillis("24 hours")

/** Forgotten before its time, a URL is challenged again. */
const MAX_PROVEN = 10_000

/** Messages are also signed with the secret before. */
const SECRET_OVERLAP = Duration.toMillis("1 hour")

const MIN_TTL = Duration.toMillis("5 minutes")
const MAX_TTL = Duration.toMillis("24 hours")

/** A client that wants no end gets the longest time. */
const ttlOf = (wish: number | null | undefined): number => Math.max(MIN_TTL, Math.min(wish ?? MAX_TTL, MAX_TTL))

const decodeMatchId = Schema.decodeUnknownOption(MatchId)

const isMatchCursor = (text: string): boolean => Option.isSome(decodeMatchId(text))

/** In bytes. */
const SECRET_SIZE = { min: 24, max: 64 }

const isSecret = (text: string): boolean => {
  const [, digits, padding] = /^whsec_([A-Za-z0-9+/]{32,86})(={0,2})$/.exec(text) ?? []
  if (digits === undefined || padding === undefined) return false
  const bytes = Math.floor((digits.length * 3) / 4)
  const isWhole = digits.length % 4 !== 1 && (padding === "" || (digits.length + padding.length) % 4 === 0)
  return isWhole && bytes >= SECRET_SIZE.min && bytes <= SECRET_SIZE.max
}

/** The issues of filters, where the client sent them. */
const namingFilters = <E>(error: E): E | InvalidArgument =>
  error instanceof InvalidArgument
    ? new InvalidArgument({
        omitted: error.omitted,
        issues: [toArgument(error.issues[0]), ...error.issues.slice(1).map(toArgument)]
      })
    : error

const toArgument = (issue: InvalidArgument["issues"][number]) => ({
  ...issue,
  path: `arguments.${issue.path.replace(/^overrides/, "filters")}`
})
