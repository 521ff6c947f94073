/** Delivers matches, redactions and gaps to webhooks: in order per webhook, concurrent across webhooks, one worker per webhook. */
import { Clock, Duration, Effect, FiberSet, Layer, Option, Queue, Random, Schedule, Stream } from "effect"
import { makeCoverageOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { type Change, MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import { Ids, type MatchId, timeOf, type WebhookId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Ownership } from "../ownership/Ownership.ts"
import { Platforms } from "../platforms/Platform.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { type GapMessage, makeDueGapMessages } from "./gapMessages.ts"
import type { WebhookAttempt } from "./Webhook.ts"
import { WebhookSender } from "./WebhookSender.ts"
import {
  type DeliveryState,
  eventOf,
  type Lease,
  noFailures,
  type StoredWebhook,
  WebhookStore
} from "./WebhookStore.ts"
import { type AttemptResult, makeAttempts } from "./webhookAttempts.ts"

export const layer: Layer.Layer<
  never,
  never,
  WebhookStore | MatchStore | RuleStore | StreamStore | Platforms | WebhookSender | Ids | Entropy
> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const store = yield* WebhookStore
    const matches = yield* MatchStore
    const registry = yield* Platforms
    const ids = yield* Ids
    const entropy = yield* Entropy
    const attempts = makeAttempts(yield* WebhookSender, ids)
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
      const { announcedGaps } = lease.webhook
      return yield* settle(lease, attempt, { ...noFailures, cursor: Option.some(floor), announcedGaps })
    })

    /** `delivered`: the state if the receiver has accepted the message. */
    const settleAttempt = Effect.fnUntraced(function* (
      lease: HeldLease,
      result: AttemptResult,
      delivered: Pick<DeliveryState, "cursor" | "announcedGaps">
    ) {
      const state = yield* stateAfter(lease.webhook, delivered, result)
      if (Option.isSome(state.disabledReason)) {
        yield* Effect.logWarning(`Webhook "${lease.webhook.id}" is disabled: ${state.disabledReason.value}`)
      }
      return yield* settle(lease, result.attempt, state)
    })

    const deliver = Effect.fnUntraced(function* (lease: HeldLease, change: Change) {
      const result = yield* attempts.change(lease.webhook, change)
      const { announcedGaps } = lease.webhook
      return yield* settleAttempt(lease, result, { cursor: Option.some(change.id), announcedGaps })
    })

    const gapMessagesFor = Effect.fnUntraced(function* (webhook: StoredWebhook) {
      return yield* dueGapMessages(webhook, {
        now: yield* Clock.currentTimeMillis,
        platforms: yield* registry.ids
      })
    })

    const deliverGap = Effect.fnUntraced(function* (lease: HeldLease, message: GapMessage) {
      const result = yield* attempts.gap(lease.webhook, message)
      const { cursor } = lease.webhook
      return yield* settleAttempt(lease, result, { cursor, announcedGaps: message.announced })
    })

    /** None: the lease is lost or released. */
    const deliverPage = Effect.fnUntraced(function* (lease: HeldLease) {
      const [gap] = yield* gapMessagesFor(lease.webhook)
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
        const settled = yield* deliver(current, change)
        if (Option.isNone(settled) || !isAt(settled.value.webhook, change.id)) return settled
        current = settled.value
      }
      // Under full load, a webhook gets one page per turn.
      if (running < MAX_CONCURRENT && !(yield* isExpiring(current))) return Option.some(current)
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

/** By number of failures: three days in total. */
const backoff = [
  "5 seconds",
  "15 seconds",
  "45 seconds",
  "2 minutes",
  "5 minutes",
  "30 minutes",
  "2 hours",
  "5 hours",
  "10 hours",
  "14 hours",
  "20 hours",
  "24 hours"
] as const

/** Upper limit for a Retry-After of the receiver. */
const MAX_WAIT_MILLIS = Duration.toMillis("24 hours")

const isExpiring = ({ since }: HeldLease) =>
  Effect.map(Clock.currentTimeMillis, (now) => now - since > LEASE_MILLIS - MAX_ATTEMPT_MILLIS)

const isAt = ({ cursor }: StoredWebhook, id: MatchId): boolean => Option.exists(cursor, (cursor) => cursor === id)

const stateAfter = Effect.fnUntraced(function* (
  { cursor, announcedGaps, failures: failedBefore }: StoredWebhook,
  delivered: Pick<DeliveryState, "cursor" | "announcedGaps">,
  { attempt, answer }: AttemptResult
) {
  if (attempt.outcome === "delivered") return { ...noFailures, ...delivered }
  const failures = failedBefore + 1
  const failed: DeliveryState = { ...noFailures, cursor, announcedGaps, failures }
  const wait = backoff[failedBefore]
  if (answer._tag === "Answered" && answer.status === 410) {
    return { ...failed, disabledReason: Option.some("The receiver answered 410 Gone: it wants no more messages") }
  }
  if (wait === undefined) {
    const message = attempt.match_id === undefined ? "A message about a gap" : `Match "${attempt.match_id}"`
    const reason = `${message} could not be delivered in ${failures} attempts over three days; the last one: ${attempt.error}`
    return { ...failed, disabledReason: Option.some(reason) }
  }
  const jitter = 1 + (yield* Random.next) / 10
  const millis = Math.max(Duration.toMillis(wait) * jitter, Math.min(requestedWait(answer), MAX_WAIT_MILLIS))
  const at = (yield* Clock.currentTimeMillis) + millis
  return { ...failed, nextAttemptAt: Option.some(Timestamp.fromMillis(at)) }
})

const requestedWait = (answer: AttemptResult["answer"]): number =>
  answer._tag === "Answered" && (answer.status === 429 || answer.status === 503)
    ? Option.getOrElse(answer.retryAfter, () => 0)
    : 0
