/** Computes the coverage of a time window from the stored stream state. */
import { Effect, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Coverage, Gap, PlatformCoverage } from "./Coverage.ts"
import type { StreamRecord, StreamStore } from "./StreamStore.ts"

/** In milliseconds. Without `from`: from the beginning. */
export interface Window {
  readonly from: Option.Option<number>
  readonly to: number
}

export type CoverageOf = (
  platforms: ReadonlyArray<PlatformId>,
  window: Window
) => Effect.Effect<Coverage, StoreUnavailable>

/** Queries the store at most once a second. Uninterruptible, because other callers may wait for the same query. */
export const makeCoverageOf = (streams: StreamStore["Type"]): Effect.Effect<CoverageOf> =>
  Effect.gen(function* () {
    const snapshots = new Map<PlatformId, Effect.Effect<Snapshot, StoreUnavailable>>()
    const cached = (id: PlatformId) =>
      Effect.tap(Effect.cachedWithTTL(Effect.uninterruptible(snapshotOf(streams, id)), "1 second"), (snapshot) =>
        Effect.sync(() => snapshots.set(id, snapshot))
      )
    return (platforms, window) =>
      Effect.gen(function* () {
        const covered: Array<PlatformCoverage> = []
        for (const platform of platforms) {
          const snapshot = yield* snapshots.get(platform) ?? (yield* cached(platform))
          covered.push(platformCoverage(platform, snapshot, window))
        }
        const { from, to } = window
        return {
          ...(Option.isSome(from) && { from: Timestamp.fromMillis(from.value) }),
          to: Timestamp.fromMillis(to),
          platforms: covered
        }
      })
  })

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

export const platformCoverage = (
  platform: PlatformId,
  { record, gaps, hasOlder }: Snapshot,
  window: Window
): PlatformCoverage => {
  const from = Option.getOrElse(window.from, () => 0)
  const ledger = Option.map(record, (stored) => stored.ledger)
  const since = Option.flatMap(ledger, ({ watchedSince }) => watchedSince)
  const openGap = Option.flatMap(ledger, (known) => known.openGap)
  const within = gaps.filter((gap) => gap.to > from && gap.from < window.to)
  const oldest = gaps.at(-1)
  return {
    platform,
    ...(Option.isSome(since) && { watched_since: Timestamp.fromMillis(since.value) }),
    ...(Option.isSome(ledger) &&
      Option.isSome(since) && { watched_until: Timestamp.fromMillis(ledger.value.watchedUntil) }),
    gaps: [
      ...Option.toArray(openGap)
        .filter(({ since }) => since < window.to)
        .map(({ since, cause, detail }) => ({ from: Timestamp.fromMillis(since), cause, detail, recovered: false })),
      ...within.map(({ from, to, cause, detail, isRecovered }) => ({
        from: Timestamp.fromMillis(from),
        to: Timestamp.fromMillis(to),
        cause,
        detail,
        recovered: isRecovered
      }))
    ],
    more_gaps: hasOlder && oldest !== undefined && oldest.from > from
  }
}

// ---- helpers ----

const MAX_GAPS = 100
