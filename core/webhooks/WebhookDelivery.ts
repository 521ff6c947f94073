/** Delivers matches, redactions and gaps to webhooks: in order per webhook, concurrent across webhooks, one worker per webhook. */
import { Clock, Duration, Effect, FiberSet, Layer, Option, Queue, Schedule, Stream } from "effect"
import { makeCoverageOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { type Change, MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import { Failpoints } from "../model/Failpoints.ts"
import { Ids, type MatchId, timeOf, type WebhookId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Ownership } from "../ownership/Ownership.ts"
import { Platforms } from "../platforms/Platform.ts"
import { RuleChanges } from "../rules/RuleChanges.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { EventData } from "./EventData.ts"
import { endSubscription } from "./endSubscription.ts"
import { type GapMessage, makeDueGapMessages } from "./gapMessages.ts"
import { type Progress, SUSPENSION_ATTEMPTS, stateAfter } from "./policies.ts"
import type { EndReason } from "./Subscription.ts"
import { shownCursor } from "./shownCursor.ts"
import type { WebhookAttempt } from "./Webhook.ts"
import { WebhookSender } from "./WebhookSender.ts"
import {
  type DeliveryState,
  eventOf,
  type Lease,
  MAX_CONTROL_TRIES,
  noFailures,
  type StoredWebhook,
  WebhookStore
} from "./WebhookStore.ts"
import { type AttemptResult, makeAttempts } from "./webhookAttempts.ts"

export const layer: Layer.Layer<
  never,
  never,
  | WebhookStore
  | MatchStore
  | RuleStore
  | StreamStore
  | Platforms
  | RuleChanges
  | WebhookSender
  | EventData
  | Ids
  | Entropy
> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const store = yield* WebhookStore
    const matches = yield* MatchStore
    const registry = yield* Platforms
    const ids = yield* Ids
    const entropy = yield* Entropy
    const failpoints = yield* Failpoints
    const attempts = makeAttempts({ sender: yield* WebhookSender, ids, entropy, data: yield* EventData })
    const end = { store, changes: yield* RuleChanges }
    const dueGapMessages = makeDueGapMessages(makeCoverageOf({ streams: yield* StreamStore, rules: yield* RuleStore }))
    const dueGaps = new Set<WebhookId>()
    // Created before the poll loop, so that it closes after it.
    const deliveries = yield* FiberSet.make()
    const wakeUps = yield* Queue.sliding<void>(1)
    let running = 0

    /** `newest`: an empty page is complete up to here. `missed`: the floor, if it has passed the cursor. */
    const nextPage = Effect.fnUntraced(function* ({ account, rules, platforms, cursor: after }: StoredWebhook) {
      // Read first: if the page is empty, no match up to here is left.
      const newest = yield* matches.newest
      const ids = yield* registry.ids
      const selector = { account, rules, platforms: Option.getOrElse(platforms, () => ids) }
      const { items } = yield* matches.next({ ...selector, after, limit: PAGE })
      // Read last, or a deletion during the reads goes unnoticed.
      const floor = yield* matches.floor(account)
      const missed = Option.filter(floor, (floor) => !Option.exists(after, (after) => after >= floor))
      return { page: items, newest, missed }
    })

    const settle = Effect.fnUntraced(function* (lease: HeldLease, attempt: WebhookAttempt, state: DeliveryState) {
      const since = yield* Clock.currentTimeMillis
      const settled = yield* store.settle(lease, attempt, state, LEASE_MILLIS).pipe(
        // If all retries fail, the next worker delivers the match again.
        Effect.retry(Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(SETTLE_RETRIES)))
      )
      return Option.map(settled, (webhook): HeldLease => ({ ...lease, webhook, since }))
    })

    const skip = Effect.fnUntraced(function* (lease: HeldLease, floor: MatchId) {
      const before = Timestamp.fromMillis(timeOf(floor))
      const error = `Matches from before "${before}" are no longer kept, and some may not have been delivered: delivery continues after them`
      yield* Effect.logWarning(`Webhook "${lease.webhook.id}": ${error}`)
      yield* Metrics.webhookAttempted("skipped")
      const attempt: WebhookAttempt = {
        id: yield* ids.attempt,
        webhook_id: lease.webhook.id,
        at: yield* Timestamp.now,
        kind: "delivery",
        outcome: "skipped",
        duration_ms: 0,
        error
      }
      const { webhook } = lease
      return yield* settle(lease, attempt, {
        ...noFailures,
        ...progressOf(webhook),
        cursor: Option.some(floor),
        // Of a webhook, the attempt tells it.
        gapTries: Option.as(webhook.subscription, 0)
      })
    })

    /** `settled`: what is new if the message need not be sent again. */
    const settleAttempt = Effect.fnUntraced(function* (
      lease: HeldLease,
      result: AttemptResult,
      settled: Partial<Progress>
    ) {
      const { webhook } = lease
      yield* failpoints.hit("webhook.sent")
      const recent =
        result.attempt.outcome === "failed" && Option.isSome(webhook.subscription)
          ? yield* store.attempts({ webhook: webhook.id, before: Option.none(), limit: SUSPENSION_ATTEMPTS })
          : []
      const state = yield* stateAfter(webhook, { ...progressOf(webhook), ...settled }, result, recent)
      if (Option.isSome(state.disabledReason)) {
        yield* Effect.logWarning(`Webhook "${webhook.id}" is disabled: ${state.disabledReason.value}`)
      }
      const next = yield* settle(lease, result.attempt, state)
      yield* failpoints.hit("webhook.settled")
      return next
    })

    const deliver = Effect.fnUntraced(function* (lease: HeldLease, change: Change) {
      const result = yield* attempts.change(lease.webhook, change)
      return yield* settleAttempt(lease, result, { cursor: Option.some(change.id) })
    })

    const gapMessagesFor = Effect.fnUntraced(function* (webhook: StoredWebhook) {
      return yield* dueGapMessages(webhook, {
        now: yield* Clock.currentTimeMillis,
        platforms: yield* registry.ids
      })
    })

    const deliverGap = Effect.fnUntraced(function* (lease: HeldLease, message: GapMessage) {
      const result = yield* attempts.gap(lease.webhook, message)
      return yield* settleAttempt(lease, result, { announcedGaps: message.announced })
    })

    /** A message that need not arrive: after its last try, delivery goes on. */
    const settleControl = Effect.fnUntraced(function* (
      lease: HeldLease,
      { attempt }: AttemptResult,
      state: Partial<Progress> & { readonly tries: number }
    ) {
      const { tries, ...settled } = state
      const isRetried = attempt.outcome === "failed" && tries < MAX_CONTROL_TRIES
      const at = Timestamp.fromMillis((yield* Clock.currentTimeMillis) + CONTROL_WAIT_MILLIS)
      return yield* settle(lease, attempt, {
        ...noFailures,
        ...progressOf(lease.webhook),
        ...settled,
        failures: lease.webhook.failures,
        nextAttemptAt: isRetried ? Option.some(at) : Option.none()
      })
    })

    const tellMissed = Effect.fnUntraced(function* (lease: HeldLease, message: GapMessage | undefined) {
      const { webhook } = lease
      const result = yield* attempts.missed(webhook, yield* shownCursor(matches, webhook, yield* registry.ids))
      const tries = Option.getOrElse(webhook.gapTries, () => 0) + 1
      return yield* settleControl(lease, result, {
        tries,
        gapTries: result.attempt.outcome === "delivered" ? Option.none() : Option.some(tries),
        ...(message !== undefined && { announcedGaps: message.announced })
      })
    })

    const tellEnd = Effect.fnUntraced(function* (lease: HeldLease, reason: EndReason) {
      const { webhook } = lease
      const result = yield* attempts.ended(webhook, reason)
      const tries = webhook.endTries + 1
      if (result.attempt.outcome === "delivered" || tries >= MAX_CONTROL_TRIES) {
        yield* endSubscription(end, webhook)
        return Option.none()
      }
      return yield* settleControl(lease, result, { tries, endTries: tries })
    })

    const isExpired = ({ subscription }: StoredWebhook) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        Option.exists(subscription, ({ expiresAt }) => Date.parse(expiresAt) <= now)
      )

    /** None: the lease is lost or released. */
    const deliverPage = Effect.fnUntraced(function* (lease: HeldLease) {
      const { webhook } = lease
      const ended = Option.flatMap(webhook.subscription, ({ ended }) => ended)
      if (Option.isSome(ended)) return yield* tellEnd(lease, ended.value)
      const [gap] = yield* gapMessagesFor(webhook)
      const isDue = Option.exists(webhook.gapTries, (tries) => tries < MAX_CONTROL_TRIES)
      if (isDue || (gap !== undefined && !announces(webhook))) {
        return yield* tellMissed(lease, announces(webhook) ? undefined : gap)
      }
      if (gap !== undefined) return yield* deliverGap(lease, gap)
      const { page, newest, missed } = yield* nextPage(lease.webhook)
      if (Option.isSome(missed)) return yield* skip(lease, missed.value)
      if (page.length === 0) {
        yield* store.release(lease, newest)
        return Option.none()
      }
      const wanted = page.filter(({ _tag }) => lease.webhook.events.includes(eventOf[_tag]))
      if (wanted.length === 0) {
        yield* store.release(lease, Option.fromNullable(page.at(-1)?.id))
        return Option.none()
      }
      let current = lease
      for (const change of wanted) {
        // A slow store has used up the lease: another worker may deliver at the same time.
        if (yield* isExpiring(current)) break
        // The store tells with each message whether the subscription still has its rights.
        if (Option.exists(current.webhook.subscription, ({ ended }) => Option.isSome(ended))) break
        if (yield* isExpired(current.webhook)) break
        const settled = yield* deliver(current, change)
        if (Option.isNone(settled) || !isAt(settled.value.webhook, change.id)) return settled
        current = settled.value
      }
      // Under full load, a webhook gets one page per turn.
      const goesOn = running < MAX_CONCURRENT && !(yield* isExpiring(current)) && !(yield* isExpired(current.webhook))
      if (goesOn) return Option.some(current)
      yield* store.release(current, Option.none())
      return Option.none()
    })

    const deliverAll = (first: HeldLease) => {
      let lease = Option.some(first)
      return Effect.gen(function* () {
        while (Option.isSome(lease)) lease = yield* deliverPage(lease.value)
      }).pipe(
        Effect.onInterrupt(() => Effect.ignore(store.release(first, Option.none()))),
        // When the lease expires, delivery resumes at the cursor.
        Effect.catchTag("StoreUnavailable", ({ cause }) => Effect.logDebug(INTERRUPTED, cause)),
        Effect.catchAllDefect((defect) => Effect.logError(INTERRUPTED, defect))
      )
    }

    const poll = Effect.gen(function* () {
      const since = yield* Clock.currentTimeMillis
      const claim = entropy.uuid()
      const limit = MAX_CONCURRENT - running
      if (limit <= 0) return
      const now = Timestamp.fromMillis(since)
      for (const webhook of yield* store.claim({
        claim,
        now,
        millis: LEASE_MILLIS,
        limit,
        platforms: yield* registry.ids,
        dueGaps: [...dueGaps]
      })) {
        dueGaps.delete(webhook.id)
        running++
        const ended = Effect.zipRight(
          Effect.sync(() => running--),
          // Matches stored after its last page are due now.
          Queue.offer(wakeUps, undefined)
        )
        const delivery = Effect.interruptible(deliverAll({ claim, webhook, since }))
        yield* FiberSet.run(deliveries, Effect.ensuring(delivery, ended))
      }
    }).pipe(
      // Every claimed webhook gets a fiber.
      Effect.uninterruptible,
      Effect.catchAll(({ cause }) => Effect.logDebug("Cannot poll webhooks", cause)),
      Effect.catchAllDefect((defect) => Effect.logError("Cannot poll webhooks", defect))
    )

    const lookForGaps = Effect.gen(function* () {
      dueGaps.clear()
      for (const webhook of yield* store.announcingGaps) {
        if ((yield* gapMessagesFor(webhook)).length > 0) dueGaps.add(webhook.id)
      }
      if (dueGaps.size > 0) yield* Queue.offer(wakeUps, undefined)
    }).pipe(
      Effect.catchAll(({ cause }) => Effect.logDebug("Cannot look for gaps", cause)),
      Effect.catchAllDefect((defect) => Effect.logError("Cannot look for gaps", defect))
    )

    const maintain = Effect.gen(function* () {
      const since = (yield* Clock.currentTimeMillis) - Duration.toMillis(KEEP_FOR)
      const platforms = yield* registry.ids
      yield* store.maintain({ attempts: KEEP_ATTEMPTS, since: Timestamp.fromMillis(since), platforms })
      for (const finished of yield* store.finished) yield* endSubscription(end, finished)
    }).pipe(
      Effect.catchAll(({ cause }) => Effect.logDebug("Cannot maintain webhooks", cause)),
      Effect.catchAllDefect((defect) => Effect.logError("Cannot maintain webhooks", defect))
    )

    if ((yield* Ownership).isAlone) yield* Effect.ignore(store.releaseAll)
    const triggers = [matches.changes, store.changes, Stream.fromQueue(wakeUps), Stream.tick(POLL_INTERVAL)]
    yield* Stream.mergeAll(triggers, { concurrency: "unbounded" }).pipe(
      Stream.buffer({ capacity: 1, strategy: "sliding" }),
      Stream.runForEach(() =>
        Effect.flatMap(Effect.timed(poll), ([took]) => Effect.sleep(Duration.max(MIN_REST, Duration.times(took, 4))))
      ),
      Effect.forkScoped
    )
    yield* Effect.forkScoped(Effect.repeat(lookForGaps, Schedule.spaced(GAP_INTERVAL)))
    yield* Effect.forkScoped(Effect.repeat(maintain, Schedule.spaced("1 minute")))
  })
)

// ---- helpers ----

/** `since`: the lease was claimed or renewed at this time or later. */
interface HeldLease extends Lease {
  readonly since: number
}

/** After a crash, another process takes over within this time. */
const LEASE_MILLIS = 45_000

/** Time to send and to store the result; longer than the sender's timeout. */
const MAX_ATTEMPT_MILLIS = 20_000

/** One second apart. */
const SETTLE_RETRIES = 10

/** Webhooks per process. */
const MAX_CONCURRENT = 256

const PAGE = 50

/** For lost notifications and for retries that become due. */
const POLL_INTERVAL = "5 seconds"

const GAP_INTERVAL = "10 seconds"

/** Between two polls, or four times the duration of the poll if that is longer. */
const MIN_REST = Duration.millis(50)

const KEEP_ATTEMPTS = 1_000
const KEEP_FOR = Duration.days(30)

const INTERRUPTED = "Delivery to a webhook failed and resumes within a minute"

/** Between the tries of a message that need not arrive. */
const CONTROL_WAIT_MILLIS = 5_000

const progressOf = ({ cursor, announcedGaps, gapTries, endTries }: StoredWebhook): Progress => ({
  cursor,
  announcedGaps,
  gapTries,
  endTries
})

const announces = ({ events }: StoredWebhook): boolean => events.includes("coverage.gap")

const isExpiring = ({ since }: HeldLease) =>
  Effect.map(Clock.currentTimeMillis, (now) => now - since > LEASE_MILLIS - MAX_ATTEMPT_MILLIS)

const isAt = ({ cursor }: StoredWebhook, id: MatchId): boolean => Option.exists(cursor, (cursor) => cursor === id)
