/** Compares the rules of a platform with the store, and fixes the difference. */
import { DateTime, Duration, Effect, Either, Option } from "effect"
import * as Timestamp from "../model/Timestamp.ts"
import type { OwnershipService } from "../ownership/Ownership.ts"
import type { Inventory, Platform, Registered } from "../platforms/Platform.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { counted } from "../text/counted.ts"
import { awaitEffect } from "./awaitEffect.ts"
import { DROPPED, type RuleStore, type StoredRegistration } from "./RuleStore.ts"

/** The result of comparing the rules of a platform with the store. */
export interface Comparison {
  readonly at: Timestamp.Timestamp
  /** Wanted, but the platform does not accept them now. */
  readonly missing: number
  /** When the first of the missing rules failed. */
  readonly missingSince: Option.Option<Timestamp.Timestamp>
  /** Registered by us, no longer wanted, not removed yet. */
  readonly orphaned: number
  /** Registered by someone else. */
  readonly foreign: number
  /** Those of the foreign rules that were made from a copy of this store. */
  readonly newer: number
  readonly ruleLimit: Inventory["ruleLimit"]
  readonly usage: Inventory["usage"]
}

/**
 * Compares a platform with the store and fixes the difference. `isAlone`: a change that does not run here was
 * abandoned. `rules`: how many the platform holds. `orphaned`: whether the orphans could be removed.
 */
export const reconcilePlatform = (
  store: RuleStore["Type"],
  platform: Platform,
  { isAlone }: Pick<OwnershipService, "isAlone">
) =>
  Effect.gen(function* () {
    const askedAt = yield* Timestamp.now
    // Before the store is read: a rule registered after the inventory is then in the store.
    const inventory = yield* platform.inventory
    const oldest = DateTime.subtractDuration(yield* DateTime.now, ABANDONED_AFTER)
    const before = Timestamp.fromDate(DateTime.toDateUtc(oldest))
    const registrations = yield* store.registrationsOn(platform.id)
    const isAbandoned = ({ state, since, purpose }: StoredRegistration) =>
      (isHidden(state) || Option.contains(purpose, "update")) && (isAlone || since < before)
    for (const { ruleId } of registrations.filter(isAbandoned)) yield* store.remove(ruleId)

    const { missing, orphans } = diff(
      inventory,
      registrations.filter((registration) => !isAbandoned(registration) && Option.isNone(registration.pause))
    )
    // Orphans first, to free capacity for the missing rules.
    const orphaned = yield* Effect.either(removeOrphans(platform, orphans))
    const failedSince = yield* registerMissing(store, platform, missing, yield* store.comparedAt(platform.id))
    yield* store.saveComparison(platform.id, askedAt)
    const comparison: Comparison = {
      at: yield* Timestamp.now,
      missing: failedSince.length,
      missingSince: Option.fromNullable(failedSince[0]),
      orphaned: Either.getOrElse(orphaned, () => orphans.length),
      foreign: inventory.rules.filter(({ isOurs }) => !isOurs).length,
      newer: inventory.rules.filter(({ isNewer }) => isNewer === true).length,
      ruleLimit: inventory.ruleLimit,
      usage: inventory.usage
    }
    return { comparison, rules: inventory.rules.length, orphaned }
  })

/** For the operator of a store that has a copy, or is one. */
export const describeNewer = (newer: number): string =>
  `${counted(newer, "rule")} there ${newer === 1 ? "was" : "were"} made by another server from a copy of this store, and ${newer === 1 ? "is" : "are"} left alone: if this server runs on the copy, set EARSHOT_UPSTREAM=off; if the other one will not run again, start this one once with EARSHOT_UPSTREAM=takeover`

// ---- helpers ----

/** With other processes on the store: a create or delete older than this was abandoned in a crash. */
const ABANDONED_AFTER = Duration.minutes(2)

const removeOrphans = (platform: Platform, orphans: ReadonlyArray<Registered>) =>
  Effect.gen(function* () {
    if (orphans.length === 0) return 0
    yield* platform.unregister(orphans.map(({ platformRuleId }) => platformRuleId))
    yield* Effect.logInfo(`Removed ${counted(orphans.length, "rule")} from "${platform.id}" that no rule uses`)
    return 0
  })

/**
 * Returns since when each of those that the platform rejects is failed, the earliest first. `lastHeld`: the time
 * of the last comparison, at which the platform held all active rules.
 */
const registerMissing = (
  store: RuleStore["Type"],
  platform: Platform,
  missing: ReadonlyArray<StoredRegistration>,
  lastHeld: Option.Option<Timestamp.Timestamp>
) =>
  Effect.gen(function* () {
    if (missing.length === 0) return []
    const texts = [...new Set(missing.map(({ text }) => text))]
    const outcomes = yield* platform.register(texts)
    const byText = new Map(texts.map((text, index) => [text, outcomes[index]]))
    const now = yield* Timestamp.now
    let restored = 0
    const failedSince: Array<Timestamp.Timestamp> = []
    for (const { ruleId, text, state, platformRuleId, since } of missing) {
      const outcome = byText.get(text)
      if (outcome === undefined) continue
      const lostSince = Option.getOrElse(
        Option.filter(lastHeld, (at) => at > since),
        () => since
      )
      if (Either.isLeft(outcome)) {
        failedSince.push(state === "active" ? now : since)
        if (state === "active") yield* Metrics.gap(platform.id, "rule_failed")
        yield* store.fail(ruleId, platform.id, { reason: outcome.left.message, lostSince, at: now })
      } else if (
        state !== "active" ||
        platform.capabilities.keepsIds === true ||
        !Option.contains(platformRuleId, outcome.right.platformRuleId)
      ) {
        restored++
        if (state === "active") yield* Metrics.gap(platform.id, DROPPED.cause)
        yield* awaitEffect(store, ruleId, { platforms: [platform] })
        yield* store.restore(ruleId, platform.id, { registered: outcome.right, lostSince, at: now })
      }
    }
    if (restored > 0)
      yield* Effect.logWarning(`Registered ${counted(restored, "rule")} again that "${platform.id}" did not hold`)
    if (failedSince.length > 0)
      yield* Effect.logWarning(`Platform "${platform.id}" no longer accepts ${counted(failedSince.length, "rule")}`)
    return failedSince.toSorted()
  })

const isHidden = (state: StoredRegistration["state"]) => state === "pending" || state === "removing"

const diff = (inventory: Inventory, registrations: ReadonlyArray<StoredRegistration>) => {
  const settled = registrations.filter(({ state }) => !isHidden(state))
  const byId = new Map(inventory.rules.map((rule) => [rule.platformRuleId, rule]))
  const heldFor = ({ platformRuleId, translatedValue }: StoredRegistration) => {
    const rule = Option.map(platformRuleId, (id) => byId.get(id)).pipe(Option.getOrUndefined)
    return rule?.isOurs === true && rule.translatedValue === translatedValue ? rule : undefined
  }
  const held = new Set(settled.flatMap((registration) => heldFor(registration)?.platformRuleId ?? []))
  // One that failed stays so until it is registered again, even if the platform holds its text for another rule.
  const missing = settled.filter(
    (registration) => registration.state !== "active" || heldFor(registration) === undefined
  )
  // A pending or missing registration with the same text will reuse the rule on the platform.
  const texts = new Set([...missing, ...registrations.filter(({ state }) => state === "pending")].map((r) => r.text))
  const orphans = inventory.rules.filter(
    (rule) => rule.isOurs && !held.has(rule.platformRuleId) && !texts.has(rule.translatedValue)
  )
  return { missing, orphans }
}
