/** The oracle of coverage: each event that a rule meets is stored, or lies in a gap of that rule. */
import { Effect, Option } from "effect"
import type { GapCause } from "../../core/platforms/Platform.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import type { Day, TrackedRule } from "./day.ts"
import type { Service } from "./service.ts"

/** What coverage claims for a rule on a platform. Times in milliseconds. */
export interface Claim {
  readonly until: number
  readonly gaps: ReadonlyArray<{ readonly from: number; readonly to: number; readonly cause: GapCause }>
  readonly recovered: ReadonlyArray<{ readonly from: number; readonly to: number }>
}

export type Claims = Readonly<Partial<Record<PlatformId, Claim>>>

/** Without recovered and suspected gaps: their events must be there. */
export const claimsFor = ({ streams, store }: Service, rule: Pick<TrackedRule, "id" | "account" | "platforms">) =>
  Effect.gen(function* () {
    const { gaps } = yield* store.ruleCoverage(
      { account: rule.account, rule: Option.some(rule.id), platforms: PLATFORM_IDS },
      1e6
    )
    const claims: Partial<Record<PlatformId, Claim>> = {}
    for (const platform of rule.platforms) {
      const record = yield* streams.load(platform)
      if (Option.isNone(record)) continue
      const { watchedUntil, openGap } = record.value.ledger
      const ofPlatform = yield* streams.gaps(platform, { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1e6 })
      claims[platform] = {
        until: watchedUntil,
        recovered: ofPlatform.filter(({ isRecovered }) => isRecovered),
        gaps: [
          ...ofPlatform.filter(({ isRecovered, isSuspected }) => !isRecovered && !isSuspected),
          ...Option.toArray(openGap).map(({ since, cause }) => ({ from: since, to: Number.POSITIVE_INFINITY, cause })),
          ...gaps
            .filter((gap) => gap.platform === platform)
            .map(({ from, to, cause }) => ({
              from: Date.parse(from),
              to: Option.match(to, { onNone: () => Number.POSITIVE_INFINITY, onSome: Date.parse }),
              cause
            }))
        ]
      }
    }
    return claims
  }).pipe(Effect.orDie)

export interface Verdict {
  /** Pairs of an event and a rule that it meets. */
  readonly pairs: number
  /** Not stored, although the claim says that the rule was watched. */
  readonly missedOutsideGaps: ReadonlyArray<string>
  /** Not stored, although their gap is marked as recovered. */
  readonly missedInRecovered: ReadonlyArray<string>
  readonly inGaps: number
  readonly missedInGaps: number
}

/** Events come at random times: the share of events in gaps that are missing is the share of time really missed. */
export const judge = (day: Day): Verdict => {
  let pairs = 0
  let inGaps = 0
  let missedInGaps = 0
  const missedOutsideGaps: Array<string> = []
  const missedInRecovered: Array<string> = []
  for (const rule of day.rules) {
    const stored = new Set(rule.stored)
    for (const event of day.events) {
      const claim = rule.claims[event.platform]
      if (claim === undefined || !event.topics.includes(rule.topic)) continue
      if (event.at < rule.createdAt || event.at > claim.until) continue
      pairs++
      const isThen = ({ from, to }: { readonly from: number; readonly to: number }) =>
        event.at >= from && event.at <= to
      const gap = claim.gaps.find(isThen)
      const isMissing = !stored.has(event.name)
      if (gap !== undefined) inGaps++
      if (gap !== undefined && isMissing) missedInGaps++
      const pair = `${event.name} of ${new Date(event.at).toISOString()} for ${rule.id} (${rule.topic})`
      if (gap === undefined && isMissing) missedOutsideGaps.push(pair)
      // The platform can send again only what met a rule that it held.
      const wasHeld = !claim.gaps.some((one) => isThen(one) && isOfRule(one.cause))
      if (isMissing && wasHeld && claim.recovered.some(isThen)) missedInRecovered.push(pair)
    }
  }
  return { pairs, missedOutsideGaps, missedInRecovered, inGaps, missedInGaps }
}

// ---- helpers ----

const isOfRule = (cause: GapCause): boolean =>
  ["rule_pending", "rule_failed", "rules_dropped", "budget", "paused"].includes(cause)
