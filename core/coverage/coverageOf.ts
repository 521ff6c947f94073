/** Computes the coverage of a time window, from the stored state of the streams and of the registrations. */
import { Clock, Effect, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { GapCause } from "../platforms/Platform.ts"
import type { CoverageSelector, RuleCoverage, RuleGap, RuleStore } from "../rules/RuleStore.ts"
import { sharedRead } from "../work/sharedRead.ts"
import type { Coverage, Gap, PlatformCoverage } from "./Coverage.ts"
import type { StreamRecord, StreamStore } from "./StreamStore.ts"

/** In milliseconds. Without `from`: from the beginning. */
export interface Window {
  readonly from: Option.Option<number>
  readonly to: number
}

/** Reads once, for any window. Lists the platforms on which the selected rules are registered. */
export type CoverageOf = (selector: CoverageSelector) => Effect.Effect<(window: Window) => Coverage, StoreUnavailable>

export const makeCoverageOf = (stores: {
  readonly streams: StreamStore["Type"]
  readonly rules: RuleStore["Type"]
}): CoverageOf => {
  const snapshots = new Map<PlatformId, Effect.Effect<Snapshot, StoreUnavailable>>()
  const latest = (id: PlatformId) => {
    const snapshot = snapshots.get(id) ?? sharedRead(snapshotOf(stores.streams, id), SNAPSHOT_MILLIS)
    snapshots.set(id, snapshot)
    return snapshot
  }
  return (selector) =>
    Effect.gen(function* () {
      const { oldest, gaps } = yield* stores.rules.ruleCoverage(selector, MAX_GAPS + 1)
      const isOneRule = Option.isSome(selector.rule)
      const now = yield* Clock.currentTimeMillis
      const platforms = yield* Effect.forEach(oldest, (oldest) =>
        Effect.map(latest(oldest.platform), (snapshot) => ({ snapshot, held: { oldest, gaps, isOneRule, now } }))
      )
      return (window) => ({
        ...(Option.isSome(window.from) && { from: Timestamp.fromMillis(window.from.value) }),
        to: Timestamp.fromMillis(window.to),
        platforms: platforms.map(({ snapshot, held }) => coverageOfRules(snapshot, held, window))
      })
    })
}

/** `hasOlder`: `gaps` is truncated, older gaps exist. */
export interface Snapshot {
  readonly record: Option.Option<StreamRecord>
  readonly gaps: ReadonlyArray<Gap>
  readonly hasOlder: boolean
}

export const snapshotOf = (streams: StreamStore["Type"], id: PlatformId): Effect.Effect<Snapshot, StoreUnavailable> =>
  Effect.gen(function* () {
    const record = yield* streams.load(id)
    const gaps = yield* streams.gaps(id, { from: 0, to: Number.MAX_SAFE_INTEGER, limit: MAX_GAPS + 1 })
    return { record, gaps: gaps.slice(0, MAX_GAPS), hasOlder: gaps.length > MAX_GAPS }
  })

/** Of the platform as a whole. */
export const platformCoverage = (platform: PlatformId, snapshot: Snapshot, window: Window): PlatformCoverage => {
  const ledger = Option.map(snapshot.record, (stored) => stored.ledger)
  return toCoverage(platform, {
    since: Option.getOrUndefined(Option.flatMap(ledger, ({ watchedSince }) => watchedSince)),
    until: Option.getOrUndefined(Option.map(ledger, ({ watchedUntil }) => watchedUntil)),
    gaps: listedGaps(snapshot),
    hasMore: hasOlderThan(snapshot, window),
    window
  })
}

// ---- helpers ----

const MAX_GAPS = 100

/** How old a snapshot may be. */
const SNAPSHOT_MILLIS = 1_000

/** In milliseconds. Without `to` the gap is open. */
interface ListedGap {
  readonly ruleId?: RuleId
  readonly from: number
  readonly to: number | undefined
  readonly cause: GapCause
  readonly detail: string
  readonly isRecovered: boolean
  readonly isSuspected: boolean
}

interface HeldRules {
  readonly oldest: RuleCoverage["oldest"][number]
  /** More than `MAX_GAPS` if there are others. */
  readonly gaps: ReadonlyArray<RuleGap>
  readonly isOneRule: boolean
  /** In milliseconds. */
  readonly now: number
}

/** From the creation of the rule, or of the account's oldest rule on the platform, on. */
const coverageOfRules = (snapshot: Snapshot, held: HeldRules, window: Window): PlatformCoverage => {
  const { platform, since } = held.oldest
  const createdAt = Date.parse(held.oldest.createdAt)
  const ofPlatform = listedGaps(snapshot).filter(({ to = Number.POSITIVE_INFINITY }) => to > createdAt)
  const ofRules = held.gaps
    .filter((gap) => gap.platform === platform)
    .map((gap) => toListed(gap, Math.max(held.now, window.to)))
  const first = ofRules.filter(
    ({ ruleId, from, cause }) => ruleId === held.oldest.ruleId && cause === "rule_pending" && from <= Date.parse(since)
  )
  const lastsLonger = ({ to: end = Number.POSITIVE_INFINITY }: ListedGap) =>
    !first.some(({ to = Number.POSITIVE_INFINITY }) => to >= end)
  const pending = pendingGap({ createdAt, heldSince: Date.parse(since) }, ofPlatform).filter(lastsLonger)
  // Mostly there are none.
  const gaps = ofRules.length + ofPlatform.length === 0 ? [] : allGaps({ ofRules, ofPlatform, pending, createdAt })

  return toCoverage(platform, {
    ...watchedTime(snapshot, {
      since: Math.max(Date.parse(since), ...[...pending, ...first].map(({ to = Number.POSITIVE_INFINITY }) => to)),
      openSince: ofRules.filter(({ to }) => held.isOneRule && to === undefined).map(({ from }) => from)
    }),
    gaps,
    hasMore: hasOlderThan(snapshot, window) || hasMorePending(held.gaps, window),
    window
  })
}

/** Newest first. */
const allGaps = ({
  ofRules,
  ofPlatform,
  pending,
  createdAt
}: {
  readonly ofRules: ReadonlyArray<ListedGap>
  readonly ofPlatform: ReadonlyArray<ListedGap>
  readonly pending: ReadonlyArray<ListedGap>
  readonly createdAt: number
}): ReadonlyArray<ListedGap> =>
  [
    ...ofRules,
    ...ofPlatform
      .filter(({ cause }) => cause !== "no_rules")
      .map((gap) => ({ ...gap, from: Math.max(gap.from, createdAt) })),
    ...pending,
    ...ofRules
      .filter(({ ruleId, to }) => !ofRules.some((next) => next.ruleId === ruleId && next.from === to))
      .flatMap((gap) => reopeningGap(gap, ofPlatform))
  ].sort((a, b) => b.from - a.from)

/** When the platform was first and last watched for rules that it holds since `since`. */
const watchedTime = (
  { record }: Snapshot,
  { since, openSince }: { readonly since: number; readonly openSince: ReadonlyArray<number> }
): { readonly since: number | undefined; readonly until: number | undefined } => {
  const never = { since: undefined, until: undefined }
  if (Option.isNone(record)) return never
  const { watchedSince, watchedUntil, openGap } = record.value.ledger
  if (Option.isNone(watchedSince)) return never
  const first = Math.max(watchedSince.value, since)
  // The ledger is some seconds behind: a new rule is watched if no gap is open.
  if (first > watchedUntil && (Option.isSome(openGap) || first === Number.POSITIVE_INFINITY)) return never
  return { since: first, until: Math.min(Math.max(watchedUntil, first), ...openSince) }
}

/**
 * The time until the stream was open for the first rule. Without it, the platform held the rule when its creation was
 * answered: `watched_since` is enough.
 */
const pendingGap = (
  { createdAt, heldSince }: { readonly createdAt: number; readonly heldSince: number },
  gaps: ReadonlyArray<ListedGap>
): ReadonlyArray<ListedGap> => {
  const unopened = gaps.find(({ cause, from }) => cause === "no_rules" && from <= heldSince)
  if (unopened === undefined || (unopened.to ?? Number.POSITIVE_INFINITY) <= heldSince) return []
  return [
    { ...unopened, from: createdAt, cause: "rule_pending", detail: "The stream was not open for the new rule yet" }
  ]
}

/** The time until the stream was open again for a rule that the platform holds again: without rules it is closed. */
const reopeningGap = ({ ruleId, to }: ListedGap, gaps: ReadonlyArray<ListedGap>): ReadonlyArray<ListedGap> => {
  if (ruleId === undefined || to === undefined) return []
  const isClosed = (gap: ListedGap) =>
    gap.cause === "no_rules" && gap.from <= to && (gap.to ?? Number.POSITIVE_INFINITY) > to
  return gaps
    .filter(isClosed)
    .map((gap) => ({ ...gap, ruleId, from: to, cause: "rule_pending", detail: "The stream was not open again yet" }))
}

const listedGaps = ({ record, gaps }: Snapshot): ReadonlyArray<ListedGap> => {
  const open = Option.flatMap(record, ({ ledger }) => ledger.openGap)
  if (Option.isNone(open)) return gaps
  const { since, cause, detail } = open.value
  return [{ from: since, to: undefined, cause, detail, isRecovered: false, isSuspected: false }, ...gaps]
}

const toListed = ({ ruleId, from, to, cause, detail }: RuleGap, now: number): ListedGap => ({
  ruleId,
  from: Date.parse(from),
  // It may end before.
  to: Option.getOrUndefined(Option.filter(Option.map(to, Date.parse), (at) => at <= now)),
  cause,
  detail,
  isRecovered: false,
  isSuspected: false
})

const hasOlderThan = ({ gaps, hasOlder }: Snapshot, { from }: Window): boolean => {
  const oldest = gaps.at(-1)
  return hasOlder && oldest !== undefined && oldest.from > Option.getOrElse(from, () => 0)
}

/** The store leaves out gaps of new rules first, the oldest of them. */
const hasMorePending = (gaps: ReadonlyArray<RuleGap>, { from }: Window): boolean => {
  if (gaps.length <= MAX_GAPS) return false
  const oldest = gaps.findLast(({ cause }) => cause === "rule_pending")
  return oldest === undefined || Date.parse(oldest.from) > Option.getOrElse(from, () => 0)
}

/** Gaps of single new rules give way to the others: an account may create many rules at once. */
const limited = (gaps: ReadonlyArray<ListedGap>): ReadonlyArray<ListedGap> => {
  const rank = ({ ruleId, cause }: ListedGap) => Number(ruleId !== undefined && cause === "rule_pending")
  const kept = new Set(gaps.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_GAPS))
  return gaps.filter((gap) => kept.has(gap))
}

const toCoverage = (
  platform: PlatformId,
  found: {
    readonly since: number | undefined
    readonly until: number | undefined
    readonly gaps: ReadonlyArray<ListedGap>
    readonly hasMore: boolean
    readonly window: Window
  }
): PlatformCoverage => {
  const { since, until, window } = found
  const from = Option.getOrElse(window.from, () => 0)
  const all = found.gaps.filter((gap) => (gap.to ?? Number.POSITIVE_INFINITY) > from && gap.from < window.to)
  const within = limited(all)
  return {
    platform,
    ...(since !== undefined && { watched_since: Timestamp.fromMillis(since) }),
    ...(since !== undefined && until !== undefined && { watched_until: Timestamp.fromMillis(until) }),
    gaps: within
      .filter(({ isSuspected }) => !isSuspected)
      .map((gap) => ({
        ...(gap.ruleId !== undefined && { rule_id: gap.ruleId }),
        from: Timestamp.fromMillis(gap.from),
        ...(gap.to !== undefined && { to: Timestamp.fromMillis(gap.to) }),
        cause: gap.cause,
        detail: gap.detail,
        recovered: gap.isRecovered
      })),
    more_gaps: found.hasMore || within.length < all.length,
    suspected: within
      .filter(({ isSuspected }) => isSuspected)
      .map(({ from, to = window.to, detail }) => ({
        from: Timestamp.fromMillis(from),
        to: Timestamp.fromMillis(to),
        detail
      }))
  }
}
