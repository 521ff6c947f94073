/** What of a time was watched, for answers about it. */
import { Effect, Option } from "effect"
import type { StorageUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Coverage, Gap, PlatformCoverage } from "./Coverage.ts"
import type { StreamRecord, StreamStore } from "./StreamStore.ts"

/** A time, in milliseconds; without `from` as far back as there is anything. */
export interface Window {
  readonly from: Option.Option<number>
  readonly to: number
}

export type CoverageOf = (
  platforms: ReadonlyArray<PlatformId>,
  window: Window
) => Effect.Effect<Coverage, StorageUnavailable>

/**
 * The store is asked once a second at most, however many answers there are. Uninterruptibly: others may wait for what one
 * caller, who can leave, has asked.
 */
export const makeCoverageOf = (streams: StreamStore["Type"]): Effect.Effect<CoverageOf> =>
  Effect.gen(function* () {
    const snapshots = new Map<PlatformId, Effect.Effect<Snapshot, StorageUnavailable>>()
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

/** What is stored of a platform's stream. `isCut`: there are older gaps. */
export interface Snapshot {
  readonly record: Option.Option<StreamRecord>
  readonly gaps: ReadonlyArray<Gap>
  readonly isCut: boolean
}

export const snapshotOf = (streams: StreamStore["Type"], id: PlatformId): Effect.Effect<Snapshot, StorageUnavailable> =>
  Effect.gen(function* () {
    const record = yield* streams.load(id)
    const gaps = yield* streams.gaps(id, { from: 0, to: Number.MAX_SAFE_INTEGER, limit: MOST_GAPS + 1 })
    return { record, gaps: gaps.slice(0, MOST_GAPS), isCut: gaps.length > MOST_GAPS }
  })

export const platformCoverage = (
  platform: PlatformId,
  { record, gaps, isCut }: Snapshot,
  window: Window
): PlatformCoverage => {
  const from = Option.getOrElse(window.from, () => 0)
  const ledger = Option.map(record, (stored) => stored.ledger)
  const since = Option.flatMap(ledger, ({ watchedSince }) => watchedSince)
  const blind = Option.flatMap(ledger, (known) => known.blind)
  const within = gaps.filter((gap) => gap.to > from && gap.from < window.to)
  const oldest = gaps.at(-1)
  return {
    platform,
    ...(Option.isSome(since) && { watched_since: Timestamp.fromMillis(since.value) }),
    ...(Option.isSome(ledger) &&
      Option.isSome(since) && { watched_until: Timestamp.fromMillis(ledger.value.watchedUntil) }),
    gaps: [
      ...Option.toArray(blind)
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
    more_gaps: isCut && oldest !== undefined && oldest.from > from
  }
}

// ---- helpers ----

const MOST_GAPS = 100
