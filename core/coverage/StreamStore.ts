/** Storage port for the stream state of each platform: cursor, coverage, gaps and dead letters. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { type Gap, isWithin, type Ledger, type LedgerChange } from "./Coverage.ts"

export interface StreamRecord {
  readonly ledger: Ledger
  /** Where the stream resumes. */
  readonly cursor: Option.Option<string>
  /** The number of the last batch. */
  readonly batch: number
}

/** Stored in one transaction with the last matches of a batch. */
export interface StreamProgress extends LedgerChange {
  readonly platform: PlatformId
  /** None keeps the stored cursor. */
  readonly cursor: Option.Option<string>
  /** Counts the batches of the stream. Ignored if a later batch is stored: a retry never moves the stream back. */
  readonly batch: number
}

/** An event that could not be stored. */
export interface DeadLetter {
  readonly platform: PlatformId
  readonly platformPostId: string
  /** In milliseconds. */
  readonly at: number
  readonly reason: string
  /** JSON, truncated if very long. */
  readonly payload: string
}

export class StreamStore extends Context.Tag("core/StreamStore")<
  StreamStore,
  {
    readonly load: (platform: PlatformId) => Effect.Effect<Option.Option<StreamRecord>, StoreUnavailable>
    readonly save: (progress: StreamProgress) => Effect.Effect<void, StoreUnavailable>
    /** Closed gaps that overlap the window, newest first. Times in milliseconds. */
    readonly gaps: (
      platform: PlatformId,
      window: { readonly from: number; readonly to: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Gap>, StoreUnavailable>
    readonly addDeadLetter: (letter: DeadLetter) => Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    readonly deadLetters: (limit: number) => Effect.Effect<ReadonlyArray<DeadLetter>, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<StreamStore> = Layer.sync(StreamStore, () => {
    const records = new Map<PlatformId, StreamRecord>()
    const gaps = new Map<PlatformId, ReadonlyArray<Gap>>()
    const deadLetters: Array<DeadLetter> = []

    const save = ({ platform, ledger, cursor, batch, gaps: ended, recovered }: StreamProgress) =>
      Effect.sync(() => {
        const before = records.get(platform)
        if (before === undefined || before.batch <= batch) {
          records.set(platform, { ledger, cursor: Option.orElse(cursor, () => before?.cursor ?? Option.none()), batch })
        }
        const isNowRecovered = (gap: Gap) => recovered.some((period) => isWithin(gap, period))
        const earlier = (gaps.get(platform) ?? []).map((gap) =>
          isNowRecovered(gap) ? { ...gap, isRecovered: true } : gap
        )
        gaps.set(platform, [...earlier, ...ended])
      })

    return StreamStore.of({
      load: (platform) => Effect.sync(() => Option.fromNullable(records.get(platform))),
      save,
      gaps: (platform, { from, to, limit }) =>
        Effect.sync(() =>
          (gaps.get(platform) ?? [])
            .filter((gap) => gap.to > from && gap.from < to)
            .sort((a, b) => b.from - a.from)
            .slice(0, limit)
        ),
      addDeadLetter: (letter) => Effect.sync(() => void deadLetters.push(letter)),
      deadLetters: (limit) => Effect.sync(() => deadLetters.toReversed().slice(0, limit))
    })
  })
}
