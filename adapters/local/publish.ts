/** The way of events from their sender to the rules they meet: all are checked, then handed on as fast as the store takes them. */
import { Array as Arr, Clock, Deferred, Effect, Either, Option } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { type ArgumentIssue, InvalidArgument, StorageUnavailable } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { IS_REAL, type LocalFeed, type SentEvent } from "../../core/platforms/LocalFeed.ts"
import type { Delivery, Platforms } from "../../core/platforms/Platform.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import { type CheckedEvent, eventReader, type LocalEvent } from "./events.ts"

/** Where the events of one platform go. */
export interface Outlet {
  /** The platform's rules that the event meets. To be asked for every event that comes in, and once. */
  readonly met: (event: PlatformEvent) => ReadonlyArray<string>
  /** Hands it on to be stored; waits while the store is behind. */
  readonly offer: (delivery: Delivery) => Effect.Effect<void>
}

export const publisher = (options: {
  readonly platforms: Platforms["Type"]
  /** Of the platforms that run in process. */
  readonly outlets: ReadonlyMap<PlatformId, Outlet>
  readonly rules: RuleStore["Type"]
  readonly recent: RecentEvents["Type"]
  readonly sha256: (text: string) => string
}): LocalFeed["Type"]["publish"] => {
  const { platforms, outlets, rules, recent, sha256 } = options

  const isLocal = (event: CheckedEvent): Either.Either<CheckedEvent, string> =>
    outlets.has(event.language.id) ? Either.right(event) : Either.left(`Platform "${event.language.id}" ${IS_REAL}`)

  const offer = ({ event, outlet, platformRuleIds }: Met) =>
    Effect.gen(function* () {
      const { platformPostId, payload } = event
      const stored = yield* Deferred.make<void>()
      const ack = Effect.asVoid(Deferred.succeed(stored, undefined))
      yield* outlet.offer({
        platformPostId,
        payload,
        platformRuleIds,
        cursor: Option.none(),
        receivedAt: yield* Clock.currentTimeMillis,
        ack
      })
      return Deferred.await(stored)
    })

  const store = (batch: ReadonlyArray<Met>) =>
    Effect.flatMap(Effect.forEach(batch, offer), (waiting) => Effect.all(waiting, { discard: true })).pipe(
      Effect.timeoutFail({
        duration: "30 seconds",
        onTimeout: () =>
          new StorageUnavailable({ operation: "LocalFeed.publish", cause: "Matches were not stored in time" })
      })
    )

  const record = (seen: ReadonlyArray<LocalEvent>) =>
    Effect.forEach(
      Object.entries(Arr.groupBy(seen, ({ language }) => language.id)),
      ([id, events]) =>
        recent.record(
          id,
          events.map(({ payload }) => payload)
        ),
      { discard: true }
    )

  return (events, sender) =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const now = clock.unsafeCurrentTimeMillis()
      const pause = pauses(() => clock.unsafeCurrentTimeMillis())
      const languages = (yield* platforms.all).map(({ language }) => language)
      const reader = eventReader(languages, sha256)
      const decode = ({ data }: SentEvent) => Either.flatMap(data, (value) => reader.decode(value, now))

      const issues: Array<ArgumentIssue> = []
      let wrong = 0
      for (const sent of events) {
        const checked = Either.flatMap(sent.data, reader.check)
        const event = Either.flatMap(checked, isLocal)
        if (Either.isLeft(event) && ++wrong <= MOST_ISSUES) issues.push({ path: sent.place, message: event.left })
        yield* pause
      }
      if (wrong > MOST_ISSUES) issues.push({ path: "", message: `And ${wrong - MOST_ISSUES} more are wrong` })
      if (Arr.isNonEmptyArray(issues)) return yield* new InvalidArgument({ issues })

      const countOwn = ownRules(rules, sender)
      const accepted: Record<PlatformId, number> = {}
      let matches = 0
      let batch: Array<Met> = []
      let seen: Array<LocalEvent> = []
      // Read a second time rather than kept: what was sent is small beside what it is once parsed.
      for (const event of rights(events, decode)) {
        const { id } = event.language
        const outlet = outlets.get(id)
        if (outlet === undefined) continue
        accepted[id] = (accepted[id] ?? 0) + 1
        const platformRuleIds = outlet.met(event.fields)
        if (platformRuleIds.length > 0) batch.push({ event, outlet, platformRuleIds })
        if (batch.length === BATCH) {
          matches += yield* countOwn(batch)
          yield* store(batch)
          batch = []
        }
        if (seen.push(event) === BATCH) {
          yield* record(seen)
          seen = []
        }
        yield* pause
      }
      matches += yield* countOwn(batch)
      yield* store(batch)
      yield* record(seen)
      return { accepted, matches }
    })
}

// ---- helpers ----

/** An event that goes on, and why. */
interface Met {
  readonly event: LocalEvent
  readonly outlet: Outlet
  readonly platformRuleIds: ReadonlyArray<string>
}

/** As many as the store takes in one step: the embedded one must not hold up everyone else for long. */
const BATCH = 200

const MOST_ISSUES = 100

/** How long one sender may keep the process to itself. */
const TURN_MILLIS = 10

/** To be run between two pieces of work: now and then it lets everyone else have a turn. */
const pauses = (now: () => number): Effect.Effect<void> => {
  let since = now()
  const next = Effect.map(Effect.sleep(0), () => {
    since = now()
  })
  return Effect.suspend(() => (now() - since < TURN_MILLIS ? Effect.void : next))
}

function* rights<A, B>(all: Iterable<A>, decode: (one: A) => Either.Either<B, unknown>): Iterable<B> {
  for (const one of all) {
    const decoded = decode(one)
    if (Either.isRight(decoded)) yield decoded.right
  }
}

/** Counts how often events meet rules of this account. It learns nothing of the rules of others, not even their number. */
const ownRules = (rules: RuleStore["Type"], account: AccountId | undefined) => {
  // By the platform's rule: several rules of an account may share one.
  const known = new Map<PlatformId, Map<string, number>>()

  const learn = (platform: PlatformId, platformRuleIds: ReadonlyArray<string>, counts: Map<string, number>) =>
    Effect.map(rules.ruleLinks(platform, platformRuleIds), (ruleLinks) => {
      for (const id of platformRuleIds) counts.set(id, 0)
      for (const { platformRuleId, accountId } of ruleLinks) {
        if (accountId === account) counts.set(platformRuleId, (counts.get(platformRuleId) ?? 0) + 1)
      }
    })

  return (batch: ReadonlyArray<Met>) =>
    Effect.gen(function* () {
      let count = 0
      if (account === undefined) return count
      for (const [platform, events] of Object.entries(Arr.groupBy(batch, ({ event }) => event.language.id))) {
        const counts = known.get(platform) ?? new Map<string, number>()
        known.set(platform, counts)
        const met = events.flatMap(({ platformRuleIds }) => platformRuleIds)
        const unknown = [...new Set(met)].filter((id) => !counts.has(id))
        if (unknown.length > 0) yield* learn(platform, unknown, counts)
        for (const id of met) count += counts.get(id) ?? 0
      }
      return count
    })
}
