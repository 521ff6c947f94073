/** Several servers on one store: each writes what it wants, and only the owner of a platform talks to the platform. */
import { Clock, Effect, Either, Option } from "effect"
import { PlatformUnavailable, type StoreUnavailable } from "../model/Errors.ts"
import type { RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Outcome, RegisterFailure, RuleRequests, Unsettled } from "../ownership/RuleRequests.ts"
import type { Platform, Registered } from "../platforms/Platform.ts"
import type { RuleStore } from "./RuleStore.ts"

/** Waits until the owner has registered a pending registration. */
export const askOwner = (
  requests: RuleRequests,
  id: RuleId,
  platform: PlatformId
): Effect.Effect<Registered, RegisterFailure | StoreUnavailable> =>
  Effect.gen(function* () {
    yield* requests.announce
    const answer = yield* awaitSome(requests, requests.outcome(id, platform), ANSWER_MILLIS)
    return yield* Option.match(answer, { onNone: () => noOwner(platform), onSome: (outcome): Outcome => outcome })
  })

/** Waits until the owners have removed the rule, for some seconds: if a platform is down, that comes later. */
export const awaitRemoval = (requests: RuleRequests, store: RuleStore["Type"], id: RuleId) =>
  Effect.gen(function* () {
    yield* requests.announce
    const isGone = Effect.map(store.registrations(id), ({ length }) =>
      length === 0 ? Option.some(true) : Option.none()
    )
    yield* awaitSome(requests, isGone, REMOVAL_MILLIS)
  })

/** Waits while some of these rules, which the platform holds already, are not active yet, for some seconds. */
export const awaitActivation = (
  requests: RuleRequests,
  platform: PlatformId,
  platformRuleIds: ReadonlySet<string>
): Effect.Effect<void, StoreUnavailable> => {
  const isMadeNow = (registration: Unsettled) =>
    registration.state === "pending" && Option.exists(heldId(registration), (id) => platformRuleIds.has(id))
  const isDone = Effect.map(requests.unsettled(platform), (all) =>
    all.some(isMadeNow) ? Option.none() : Option.some(true)
  )
  return Effect.asVoid(awaitSome(requests, isDone, REMOVAL_MILLIS))
}

/** For the owner, while no other change to the platform runs: registers and removes what the servers ask for. */
export const settleRequests = (
  requests: RuleRequests,
  store: RuleStore["Type"],
  platform: Platform
): Effect.Effect<void, StoreUnavailable> =>
  Effect.gen(function* () {
    const all = yield* requests.unsettled(platform.id)
    const wanted = all.filter(({ state, outcome }) => state === "pending" && Option.isNone(outcome))
    const unwanted = all.filter(({ state }) => state === "removing")
    if (wanted.length + unwanted.length === 0) return
    yield* registerWanted(requests, platform, wanted)
    yield* removeUnwanted(requests, store, platform, unwanted)
    yield* requests.announce
  })

// ---- helpers ----

/** Longer than a take-over. */
const ANSWER_MILLIS = 30_000

const REMOVAL_MILLIS = 5_000

const awaitSome = <A>(
  requests: RuleRequests,
  look: Effect.Effect<Option.Option<A>, StoreUnavailable>,
  millis: number
): Effect.Effect<Option.Option<A>, StoreUnavailable> =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + millis
    for (;;) {
      const announcement = yield* requests.nextAnnouncement
      const found = yield* look
      if (Option.isSome(found) || (yield* Clock.currentTimeMillis) >= end) return found
      yield* announcement
    }
  })

const noOwner = (platform: PlatformId): Outcome =>
  Either.left(
    new PlatformUnavailable({
      platform,
      reason: `no server has registered the rule within ${ANSWER_MILLIS / 1_000} seconds`,
      retryAfterSeconds: 10
    })
  )

const registerWanted = (requests: RuleRequests, platform: Platform, wanted: ReadonlyArray<Unsettled>) =>
  Effect.gen(function* () {
    if (wanted.length === 0) return
    const texts = [...new Set(wanted.map(({ text }) => text))]
    const outcomes = yield* Effect.either(platform.register(texts))
    for (const { ruleId, text } of wanted) {
      const outcome = Either.flatMap(outcomes, (all): Outcome => all[texts.indexOf(text)] ?? noOwner(platform.id))
      yield* requests.settle(ruleId, platform.id, outcome)
    }
  })

/** What the platform cannot remove now becomes an orphan, which the next comparison removes. */
const removeUnwanted = (
  requests: RuleRequests,
  store: RuleStore["Type"],
  platform: Platform,
  unwanted: ReadonlyArray<Unsettled>
) =>
  Effect.gen(function* () {
    const ids = new Set<string>()
    for (const registration of unwanted) {
      const held = heldId(registration)
      if (Option.isSome(held) && !(yield* store.isShared(registration))) ids.add(held.value)
    }
    if (ids.size > 0) {
      yield* Effect.catchAll(platform.unregister([...ids]), ({ message }) =>
        Effect.logWarning(`Cannot remove a rule from "${platform.id}" now, retrying later: ${message}`)
      )
    }
    for (const { ruleId } of unwanted) yield* requests.drop(ruleId, platform.id)
  })

const heldId = ({ platformRuleId, outcome }: Unsettled): Option.Option<string> =>
  Option.orElse(platformRuleId, () =>
    Option.map(Option.flatMap(outcome, Either.getRight), (registered) => registered.platformRuleId)
  )
