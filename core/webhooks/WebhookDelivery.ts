/** Delivers matches to webhooks: to each one after another in their order, to many at once, and to none by two. */
import { Clock, Duration, Effect, FiberSet, Layer, Option, Queue, Random, Schedule, Stream } from "effect"
import type { Match } from "../matches/Match.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import { Ids, type MatchId, timeOf } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import type { WebhookAttempt } from "./Webhook.ts"
import { WebhookSender } from "./WebhookSender.ts"
import { type Claimed, type Standing, type StoredWebhook, WebhookStore } from "./WebhookStore.ts"
import { type Attempted, makeAttempts } from "./webhookAttempts.ts"

/** Runs for as long as its scope is open. `isAlone`: no other process uses the store. */
export const layerWith = ({
  isAlone
}: {
  readonly isAlone: boolean
}): Layer.Layer<never, never, WebhookStore | MatchStore | Platforms | WebhookSender | Ids | Entropy> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const matches = yield* MatchStore
      const registry = yield* Platforms
      const ids = yield* Ids
      const entropy = yield* Entropy
      const attempts = makeAttempts(yield* WebhookSender, ids)
      // Ends after those who start deliveries, which are begun below.
      const deliveries = yield* FiberSet.make()
      const wakes = yield* Queue.sliding<void>(1)
      let running = 0

      /** What it has to deliver next, up to where that is all, and up to where it comes too late. */
      const nextPage = Effect.fnUntraced(function* ({ account, rules, platforms, cursor: after }: StoredWebhook) {
        // Before anything else: what is stored while rules are read one by one would come out of order.
        const newest = yield* matches.newest
        const ids = yield* registry.ids
        const found = yield* Effect.forEach(
          Option.match(rules, { onNone: () => [Option.none()], onSome: (all) => all.map(Option.some) }),
          (rule) =>
            matches.next({ account, rule, platforms: Option.getOrElse(platforms, () => ids), after, limit: PAGE })
        )
        const inOrder = found.flat().sort((a, b) => (a.id < b.id ? -1 : 1))
        const page = inOrder.filter(({ id }) => Option.exists(newest, (newest) => id <= newest)).slice(0, PAGE)
        // Afterwards: what is deleted while it is read would be missing without a word.
        const floor = yield* matches.floor
        const missed = Option.filter(floor, (floor) => !Option.exists(after, (after) => after >= floor))
        return { page, newest, missed }
      })

      const settle = Effect.fnUntraced(function* (held: Held, attempt: WebhookAttempt, standing: Standing) {
        const since = yield* Clock.currentTimeMillis
        const settled = yield* store.settle(held, attempt, standing, HELD_MILLIS).pipe(
          // Given up, it is delivered once more by whoever holds it next.
          Effect.retry(Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(SETTLE_RETRIES)))
        )
        return Option.map(settled, (webhook): Held => ({ ...held, webhook, since }))
      })

      const skip = Effect.fnUntraced(function* (held: Held, floor: MatchId) {
        const before = Timestamp.fromMillis(timeOf(floor))
        const error = `Matches from before "${before}" are no longer kept, and some of them may not have been delivered: delivery goes on after them`
        yield* Effect.logWarning(`Webhook "${held.webhook.id}": ${error}`)
        yield* Metrics.webhookAttempted("skipped")
        const attempt: WebhookAttempt = {
          id: yield* ids.attempt,
          webhook_id: held.webhook.id,
          at: yield* Timestamp.now,
          kind: "delivery",
          outcome: "skipped",
          duration_ms: 0,
          error
        }
        return yield* settle(held, attempt, { ...UNTROUBLED, cursor: Option.some(floor) })
      })

      const deliver = Effect.fnUntraced(function* (held: Held, match: Match) {
        const attempted = yield* attempts.match(held.webhook, match, "delivery")
        const standing = yield* standingAfter(held.webhook, match, attempted)
        if (Option.isSome(standing.disabledReason)) {
          yield* Effect.logWarning(`Webhook "${held.webhook.id}" is disabled: ${standing.disabledReason.value}`)
        }
        return yield* settle(held, attempted.attempt, standing)
      })

      /** None: it is not held any more. */
      const deliverPage = Effect.fnUntraced(function* (held: Held) {
        const { page, newest, missed } = yield* nextPage(held.webhook)
        if (Option.isSome(missed)) return yield* skip(held, missed.value)
        if (page.length === 0) {
          yield* store.release(held, newest)
          return Option.none()
        }
        let current = held
        for (const match of page) {
          // A store that was slow has used up the time: to send now could be to send beside another.
          if (yield* isRunningOut(current)) break
          const settled = yield* deliver(current, match)
          if (Option.isNone(settled) || !isAt(settled.value.webhook, match.id)) return settled
          current = settled.value
        }
        // A page is a turn where others wait.
        if (running < MOST_AT_ONCE && !(yield* isRunningOut(current))) return Option.some(current)
        yield* store.release(current, Option.none())
        return Option.none()
      })

      const deliverAll = (first: Held) => {
        let held = Option.some(first)
        return Effect.gen(function* () {
          while (Option.isSome(held)) held = yield* deliverPage(held.value)
        }).pipe(
          Effect.onInterrupt(() => Effect.ignore(store.release(first, Option.none()))),
          // Nothing is lost: once the claim has lapsed, it goes on where it was.
          Effect.catchTag("StorageUnavailable", ({ cause }) => Effect.logDebug(BROKEN_OFF, cause)),
          Effect.catchAllDefect((defect) => Effect.logError(BROKEN_OFF, defect))
        )
      }

      const look = Effect.gen(function* () {
        const since = yield* Clock.currentTimeMillis
        const claim = entropy.uuid()
        const limit = MOST_AT_ONCE - running
        if (limit <= 0) return
        const now = Timestamp.fromMillis(since)
        for (const webhook of yield* store.claim({
          claim,
          now,
          millis: HELD_MILLIS,
          limit,
          platforms: yield* registry.ids
        })) {
          running++
          const ended = Effect.zipRight(
            Effect.sync(() => running--),
            // What came in after its last look is due now.
            Queue.offer(wakes, undefined)
          )
          const delivery = Effect.interruptible(deliverAll({ claim, webhook, since }))
          yield* FiberSet.run(deliveries, Effect.ensuring(delivery, ended))
        }
      }).pipe(
        // What is claimed is begun.
        Effect.uninterruptible,
        Effect.catchAll(({ cause }) => Effect.logDebug("Webhooks could not be looked at", cause)),
        Effect.catchAllDefect((defect) => Effect.logError("Webhooks could not be looked at", defect))
      )

      const tend = Effect.gen(function* () {
        const since = (yield* Clock.currentTimeMillis) - Duration.toMillis(KEEP_FOR)
        const platforms = yield* registry.ids
        yield* store.tend({ attempts: KEEP_ATTEMPTS, since: Timestamp.fromMillis(since), platforms })
      }).pipe(
        Effect.catchAll(({ cause }) => Effect.logDebug("Webhooks could not be tended", cause)),
        Effect.catchAllDefect((defect) => Effect.logError("Webhooks could not be tended", defect))
      )

      if (isAlone) yield* Effect.ignore(store.releaseAll)
      const reasonsToLook = [matches.changes, store.changes, Stream.fromQueue(wakes), Stream.tick(LOOK_EVERY)]
      yield* Stream.mergeAll(reasonsToLook, { concurrency: "unbounded" }).pipe(
        Stream.buffer({ capacity: 1, strategy: "sliding" }),
        Stream.runForEach(() =>
          Effect.flatMap(Effect.timed(look), ([took]) => Effect.sleep(Duration.max(REST, Duration.times(took, 4))))
        ),
        Effect.forkScoped
      )
      yield* Effect.forkScoped(Effect.repeat(tend, Schedule.spaced("1 minute")))
    })
  )

// ---- helpers ----

/** `since`: when the claim was made or renewed, at the latest. */
interface Held extends Claimed {
  readonly since: number
}

/** How long a claim holds: so long it takes at most until another goes on for a process that died. */
const HELD_MILLIS = 45_000

/** To send it and to store what came of it; a little more than the sender's patience. */
const LONGEST_ATTEMPT_MILLIS = 20_000

/** A second apart. */
const SETTLE_RETRIES = 10

/** Webhooks that this process delivers to at the same time. */
const MOST_AT_ONCE = 256

/** What is read at once for one webhook. */
const PAGE = 50

/** In case that an announcement was lost, and for what is due by time. */
const LOOK_EVERY = "5 seconds"

/** Between two looks, at least: matches may come in by the hundred a second. At most a fifth of the time goes into it. */
const REST = Duration.millis(50)

const KEEP_ATTEMPTS = 1_000
const KEEP_FOR = Duration.days(30)

const BROKEN_OFF = "Delivery to a webhook broke off and is resumed in a minute"

const UNTROUBLED = {
  failures: 0,
  nextAttemptAt: Option.none<Timestamp.Timestamp>(),
  disabledReason: Option.none<string>()
}

/** How long to wait after the first failure, the second, and so on: three days in all. */
const BACK_OFF = [
  "5 seconds",
  "5 minutes",
  "30 minutes",
  "2 hours",
  "5 hours",
  "10 hours",
  "14 hours",
  "20 hours",
  "24 hours"
] as const

/** A receiver may ask for no more. */
const LONGEST_WAIT = Duration.toMillis("24 hours")

const isRunningOut = ({ since }: Held) =>
  Effect.map(Clock.currentTimeMillis, (now) => now - since > HELD_MILLIS - LONGEST_ATTEMPT_MILLIS)

const isAt = ({ cursor }: StoredWebhook, id: MatchId): boolean => Option.exists(cursor, (cursor) => cursor === id)

const standingAfter = Effect.fnUntraced(function* (
  { cursor, failures: failedBefore }: StoredWebhook,
  match: Match,
  { attempt, answer }: Attempted
) {
  if (attempt.outcome === "delivered") return { ...UNTROUBLED, cursor: Option.some(match.id) }
  const failures = failedBefore + 1
  const failed: Standing = { ...UNTROUBLED, cursor, failures }
  const wait = BACK_OFF[failedBefore]
  if (answer._tag === "Answered" && answer.status === 410) {
    return { ...failed, disabledReason: Option.some("The receiver answered 410 Gone: it wants no more messages") }
  }
  if (wait === undefined) {
    const reason = `Match "${match.id}" could not be delivered in ${failures} attempts over three days; the last one: ${attempt.error}`
    return { ...failed, disabledReason: Option.some(reason) }
  }
  const spread = 1 + (yield* Random.next) / 10
  const millis = Math.max(Duration.toMillis(wait) * spread, Math.min(waitAskedFor(answer), LONGEST_WAIT))
  const at = (yield* Clock.currentTimeMillis) + millis
  return { ...failed, nextAttemptAt: Option.some(Timestamp.fromMillis(at)) }
})

const waitAskedFor = (answer: Attempted["answer"]): number =>
  answer._tag === "Answered" && (answer.status === 429 || answer.status === 503)
    ? Option.getOrElse(answer.retryAfter, () => 0)
    : 0
