/** Compares the matches of a rule with the events that were published while its filters changed. */
import type { RuleVersion } from "../../core/rules/Rule.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"

/** Times in milliseconds. */
export interface Period {
  readonly from: number
  readonly to: number
}

/** One post and one page with the same number and text. `from` to `to`: when they were published. */
export interface Published extends Period {
  readonly number: number
  readonly text: string
  /** Whether the publication was acknowledged. Otherwise the event may be stored or not. */
  isCertain: boolean
  to: number
}

/**
 * The request that made a version. If the process was killed in it, `to` is the time after the restart. `since`: events
 * that only this version meets may count from then on.
 */
export interface Made extends Period {
  readonly since?: number
  readonly version: number
  readonly kind: string
}

export interface StoredMatch {
  readonly platform: PlatformId
  readonly number: number
  readonly version: number
  readonly isReapplied: boolean
}

export interface Gap extends Period {
  readonly platform: PlatformId
  readonly cause: string
  readonly isRecovered: boolean
}

/** Everything about one rule. */
export interface Facts {
  readonly published: ReadonlyArray<Published>
  /** Oldest first, without version 1. */
  readonly made: ReadonlyArray<Made>
  readonly versions: ReadonlyArray<RuleVersion>
  readonly matches: ReadonlyArray<StoredMatch>
  readonly gaps: ReadonlyArray<Gap>
  /** From the publication to the arrival, on a busy machine. */
  readonly inFlightMillis: number
  readonly hasBackfill: boolean
}

export interface Differences {
  readonly lost: ReadonlyArray<string>
  readonly twice: ReadonlyArray<string>
  readonly wrongVersion: ReadonlyArray<string>
  /** No filter that was in force meets the event. */
  readonly unwanted: ReadonlyArray<string>
}

export const differencesOf = (facts: Facts): Differences => {
  const found = { lost: [], twice: [], wrongVersion: [], unwanted: [] } as Record<keyof Differences, Array<string>>
  for (const platform of PLATFORM_IDS) {
    const stored = new Map<number, ReadonlyArray<StoredMatch>>()
    for (const match of facts.matches.filter((one) => one.platform === platform)) {
      stored.set(match.number, [...(stored.get(match.number) ?? []), match])
    }
    for (const event of facts.published) {
      const matches = stored.get(event.number) ?? []
      const possible = versionsAt(facts, event)
      const meeting = possible.filter((version) => isMetBy(version, platform, event.text))
      const received = versionsAt(facts, { from: event.from, to: event.to + facts.inFlightMillis })
      const allowed = [
        ...received.filter((version) => isMetBy(version, platform, event.text)),
        ...promotedOver(facts, platform, event)
      ]
      const where = `${platform} ${described(event)}, when ${possible.map(filterOn(platform)).join(" or ")} was in force`
      if (matches.length > 1) found.twice.push(`${where}: stored ${matches.length} times`)
      const [match] = matches
      if (match === undefined) {
        const isExpected = event.isCertain && meeting.length === possible.length && !isInGap(facts, platform, event)
        if (isExpected) found.lost.push(where)
      } else if (match.isReapplied) {
        const version = facts.versions.find((one) => one.version === match.version)
        if (version === undefined || !isMetBy(version, platform, event.text)) {
          found.wrongVersion.push(`${where}: reapplied with version ${match.version}`)
        }
      } else if (allowed.length === 0) {
        if (!isReplayedShadow(facts, match, event))
          found.unwanted.push(`${where}: stored with version ${match.version}`)
      } else if (!allowed.some(({ version }) => version === match.version)) {
        found.wrongVersion.push(`${where}: stored with version ${match.version}`)
      }
    }
  }
  return found
}

/** Whether the filter meets an event with this text: words that all must be there, or one of them with OR. */
export const isMet = (filter: string, text: string): boolean => {
  const words = new Set(text.split(" "))
  return filter.includes(" OR ")
    ? filter.split(" OR ").some((word) => words.has(word))
    : filter.split(/ AND | /).every((word) => words.has(word))
}

// ---- helpers ----

const isMetBy = ({ overrides, paused }: RuleVersion, platform: PlatformId, text: string): boolean => {
  const filter = overrides[platform]
  return !paused && filter !== undefined && isMet(filter, text)
}

/** The versions that may have been in force in the period. */
const versionsAt = ({ made, versions }: Facts, { from, to }: Period): ReadonlyArray<RuleVersion> => {
  const madeBy = new Map(made.map((change) => [change.version, change]))
  return versions.filter(({ version }) => {
    const begin = madeBy.get(version)?.from ?? Number.NEGATIVE_INFINITY
    const end = madeBy.get(version + 1)?.to ?? Number.POSITIVE_INFINITY
    return begin <= to && end >= from
  })
}

/** The versions that took over what they had met as a shadow. */
const promotedOver = ({ made, versions }: Facts, platform: PlatformId, { text, to }: Published) =>
  versions.filter((version) => {
    const change = made.find((one) => one.version === version.version)
    return change?.since !== undefined && to >= change.since && to <= change.to && isMetBy(version, platform, text)
  })

/** An event that only a shadow met, and that came again after its promotion, may count as one of the rule. */
const isReplayedShadow = (
  { made, gaps, hasBackfill }: Facts,
  { platform, version }: StoredMatch,
  { from, to }: Period
): boolean =>
  made.some((change) => change.version === version && change.kind === "promotion") &&
  (hasBackfill || gaps.some((gap) => gap.platform === platform && to >= gap.from - UNDER_WAY_MILLIS && from <= gap.to))

const isInGap = ({ gaps }: Facts, platform: PlatformId, { from, to }: Period): boolean =>
  gaps.some(
    (gap) =>
      gap.platform === platform &&
      gap.cause !== "paused" &&
      !gap.isRecovered &&
      to >= gap.from - UNDER_WAY_MILLIS &&
      from <= gap.to
  )

/** Events just before the start of a gap may have been under way. */
const UNDER_WAY_MILLIS = 1_000

const filterOn =
  (platform: PlatformId) =>
  ({ version, overrides, paused }: RuleVersion): string =>
    `${version} (${paused ? "paused" : (overrides[platform] ?? "nothing")})`

const described = ({ text, from }: Published): string => `"${text}" of ${new Date(from).toISOString()}`
