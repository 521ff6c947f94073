/** Publishes events: checks all events, matches them, and waits until the matches are stored. */
import { Array as Arr, Clock, Deferred, Duration, Effect, Either, Option } from "effect"
import { ownLog } from "../../core/backtests/EventLog.ts"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { EventRoom } from "../../core/disk/EventRoom.ts"
import { type ArgumentIssue, InvalidArgument, StoreUnavailable } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { type LocalFeed, NOT_LOCAL, type SentEvent } from "../../core/platforms/LocalFeed.ts"
import type { Delivery, Platforms } from "../../core/platforms/Platform.ts"
import type { Quotas } from "../../core/quotas/Quotas.ts"
import { inForce } from "../../core/rules/inForce.ts"
import type { RuleLink, RuleStore } from "../../core/rules/RuleStore.ts"
import { MAX_ISSUES } from "../../core/text/shownIssues.ts"
import { inTurns, yieldRegularly } from "../../core/work/turns.ts"
import { BatchSize } from "./BatchSize.ts"
import { type CheckedEvent, eventReader, type LocalEvent } from "./events.ts"
import type { Matching } from "./OwnRules.ts"

/** The feed's connection to one in-process platform. */
export interface Sink {
  /**
   * What matches one event, with the rules of the sender, or of all accounts without one. Use it exactly once: it also
   * records the time of the last event. Mostly there at once.
   */
  readonly matching: (sender: AccountId | undefined) => Effect.Effect<Matching, StoreUnavailable>
  /** Queues a delivery to be stored. Waits while the store is behind. */
  readonly offer: (delivery: Delivery) => Effect.Effect<void>
}

export const publisher = (options: {
  readonly platforms: Platforms["Type"]
  readonly sinks: ReadonlyMap<PlatformId, Sink>
  readonly rules: RuleStore["Type"]
  readonly recent: RecentEvents["Type"]
  readonly sha256: (text: string) => string
  readonly quotas: Quotas["Type"]
  readonly room: EventRoom["Type"]
}): LocalFeed["Type"]["publish"] => {
  const { platforms, sinks, rules, recent, sha256, quotas, room } = options

  const isLocal = (event: CheckedEvent): Either.Either<CheckedEvent, string> =>
    sinks.has(event.language.id) ? Either.right(event) : Either.left(`Platform "${event.language.id}" ${NOT_LOCAL}`)

  const offer = ({ event, sink, platformRuleIds, receivedAt }: MatchedEvent, sender: AccountId | undefined) =>
    Effect.gen(function* () {
      const { platformPostId, payload } = event
      const stored = yield* Deferred.make<void>()
      const ack = Effect.asVoid(Deferred.succeed(stored, undefined))
      yield* sink.offer({
        platformPostId,
        payload,
        platformRuleIds,
        ...(sender !== undefined && { sender }),
        cursor: Option.none(),
        receivedAt,
        ack
      })
      return Deferred.await(stored)
    })

  const store = (batch: ReadonlyArray<MatchedEvent>, sender: AccountId | undefined) =>
    Effect.forEach(batch, (matched) => offer(matched, sender)).pipe(
      Effect.flatMap((acks) => Effect.all(acks, { discard: true })),
      Effect.raceFirst(room.untilFull),
      Effect.timeoutFail({
        duration: "30 seconds",
        onTimeout: () =>
          new StoreUnavailable({ operation: "LocalFeed.publish", cause: "Matches were not stored in time" })
      })
    )

  const record = (unrecorded: ReadonlyArray<LocalEvent>, sender: AccountId | undefined) =>
    Effect.forEach(
      Object.entries(Arr.groupBy(unrecorded, ({ language }) => language.id)),
      ([id, events]) =>
        recent.record(
          sender === undefined ? id : ownLog(id, sender),
          events.map(({ payload }) => payload)
        ),
      { discard: true }
    )

  return (events, sender, asOf) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const yieldIfDue = yield* yieldRegularly
      const languages = (yield* platforms.all).map(({ language }) => language)
      const reader = eventReader(languages, sha256)
      const decode = ({ data }: SentEvent) => Either.flatMap(data, (value) => reader.decode(value, now))

      if (sender !== undefined) yield* quotas.check(sender, "events")
      yield* room.check(sender)
      const issues: Array<ArgumentIssue> = []
      let count = 0
      let invalid = 0
      for (const sent of events) {
        count++
        const checked = Either.flatMap(sent.data, reader.check)
        const event = Either.flatMap(checked, isLocal)
        if (Either.isLeft(event) && ++invalid <= MAX_ISSUES) issues.push({ path: sent.location, message: event.left })
        yield* yieldIfDue
      }
      if (Arr.isNonEmptyArray(issues)) {
        return yield* new InvalidArgument({ issues, omitted: invalid - issues.length })
      }

      if (sender !== undefined) yield* quotas.spend(sender, "events", count)
      const countMatches = matchCounter(rules, sender)
      const accepted: Record<PlatformId, number> = {}
      let matches = 0
      let batch: Array<MatchedEvent> = []
      let batchMatches = 0
      const batchSize = new BatchSize()
      let unrecorded: Array<LocalEvent> = []
      // Parsed a second time to save memory: parsed events are far larger than their text.
      for (const event of rights(events, decode)) {
        const { id } = event.language
        const sink = sinks.get(id)
        if (sink === undefined) continue
        accepted[id] = (accepted[id] ?? 0) + 1
        // Before it is matched: rules may change in between.
        const receivedAt = asOf ?? (yield* Clock.currentTimeMillis)
        const matching = yield* sink.matching(sender)
        const platformRuleIds = yield* inTurns(matching(event.fields), yieldIfDue)
        if (platformRuleIds.length > 0) batch.push({ event, sink, platformRuleIds, receivedAt })
        batchMatches += platformRuleIds.length
        if (batchSize.isReached(batchMatches)) {
          matches += yield* countMatches(batch)
          yield* room.check(sender)
          const [took] = yield* Effect.timed(store(batch, sender))
          batchSize.adapt(Duration.toMillis(took))
          batch = []
          batchMatches = 0
        }
        if (unrecorded.push(event) === RECORD_SIZE) {
          yield* record(unrecorded, sender)
          unrecorded = []
        }
        yield* yieldIfDue
      }
      matches += yield* countMatches(batch)
      yield* store(batch, sender)
      yield* record(unrecorded, sender)
      return { accepted, matches }
    })
}

// ---- helpers ----

interface MatchedEvent {
  readonly event: LocalEvent
  readonly sink: Sink
  readonly platformRuleIds: ReadonlyArray<string>
  readonly receivedAt: number
}

/** Events recorded at a time. */
const RECORD_SIZE = 200

function* rights<A, B>(all: Iterable<A>, decode: (one: A) => Either.Either<B, unknown>): Iterable<B> {
  for (const one of all) {
    const decoded = decode(one)
    if (Either.isRight(decoded)) yield decoded.right
  }
}

/** Counts matches with rules of this account only: a sender must not learn about other accounts' rules. */
const matchCounter = (rules: RuleStore["Type"], account: AccountId | undefined) => {
  const known = new Map<PlatformId, Map<string, ReadonlyArray<RuleLink>>>()

  const load = (platform: PlatformId, platformRuleIds: ReadonlyArray<string>) =>
    Effect.map(rules.ruleLinks(platform, platformRuleIds), (all) => {
      const links = known.get(platform) ?? new Map<string, ReadonlyArray<RuleLink>>()
      known.set(platform, links)
      const own = Arr.groupBy(
        all.filter(({ accountId, isShadow }) => accountId === account && !isShadow),
        ({ platformRuleId }) => platformRuleId
      )
      for (const id of platformRuleIds) links.set(id, own[id] ?? [])
    })

  const countOf = ({ event: { language, payload }, platformRuleIds, receivedAt }: MatchedEvent) => {
    const links = platformRuleIds.flatMap((id) => known.get(language.id)?.get(id) ?? [])
    return inForce(links, { receivedAt, payload }, { language, capabilities: { isRemote: false } }).length
  }

  return (batch: ReadonlyArray<MatchedEvent>) =>
    Effect.gen(function* () {
      if (account === undefined) return 0
      for (const [platform, events] of Object.entries(Arr.groupBy(batch, ({ event }) => event.language.id))) {
        const matched = new Set(events.flatMap(({ platformRuleIds }) => platformRuleIds))
        const unknown = [...matched].filter((id) => known.get(platform)?.has(id) !== true)
        if (unknown.length > 0) yield* load(platform, unknown)
      }
      return batch.reduce((count, event) => count + countOf(event), 0)
    })
}
