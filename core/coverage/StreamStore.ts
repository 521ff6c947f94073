/** The port to what is kept of each platform's stream: how far it is stored, its gaps, and events set aside. */
import { Context, Effect, Layer, Option } from "effect"
import type { StorageUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Gap, Ledger, LedgerChange } from "./Coverage.ts"

export interface StreamRecord {
  readonly ledger: Ledger
  /** Where the stream is to go on; none when nothing that has one was stored yet. */
  readonly cursor: Option.Option<string>
}

/** A step of a stream, to be stored with the matches that it brought. */
export interface StreamProgress extends LedgerChange {
  readonly platform: PlatformId
  /** None leaves the stored one. */
  readonly cursor: Option.Option<string>
}

/** An event that could not be stored, and why. */
export interface SetAside {
  readonly platform: PlatformId
  readonly platformPostId: string
  /** In milliseconds. */
  readonly at: number
  readonly reason: string
  /** As JSON, cut off where it is very long. */
  readonly payload: string
}

export class StreamStore extends Context.Tag("core/StreamStore")<
  StreamStore,
  {
    readonly load: (platform: PlatformId) => Effect.Effect<Option.Option<StreamRecord>, StorageUnavailable>
    readonly save: (progress: StreamProgress) => Effect.Effect<void, StorageUnavailable>
    /** Those that have ended and lasted into the time from `from` to `to`, newest first. Times in milliseconds. */
    readonly gaps: (
      platform: PlatformId,
      window: { readonly from: number; readonly to: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Gap>, StorageUnavailable>
    readonly setAside: (event: SetAside) => Effect.Effect<void, StorageUnavailable>
    /** Newest first. */
    readonly asides: (limit: number) => Effect.Effect<ReadonlyArray<SetAside>, StorageUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<StreamStore> = Layer.sync(StreamStore, () => {
    const records = new Map<PlatformId, StreamRecord>()
    const gaps = new Map<PlatformId, ReadonlyArray<Gap>>()
    const asides: Array<SetAside> = []

    const save = (progress: StreamProgress) =>
      Effect.sync(() => {
        const { platform, ledger, recoveredSince } = progress
        const before = records.get(platform)
        records.set(platform, {
          ledger,
          cursor: Option.orElse(progress.cursor, () => before?.cursor ?? Option.none())
        })
        const episode = before?.ledger.watchedUntil ?? 0
        const isMadeUpFor = ({ from }: Gap) =>
          Option.exists(recoveredSince, (since) => from >= since && from >= episode)
        const earlier = (gaps.get(platform) ?? []).map((gap) =>
          isMadeUpFor(gap) ? { ...gap, isRecovered: true } : gap
        )
        gaps.set(platform, [...earlier, ...progress.gaps])
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
      setAside: (event) => Effect.sync(() => void asides.push(event)),
      asides: (limit) => Effect.sync(() => asides.toReversed().slice(0, limit))
    })
  })
}
