/** `StreamStore` in memory. */
import { Effect, Layer, Option } from "effect"
import { type Gap, isWithin } from "../../core/coverage/Coverage.ts"
import {
  type DeadLetter,
  type StreamProgress,
  type StreamRecord,
  StreamStore
} from "../../core/coverage/StreamStore.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"

export const memoryStreams: Layer.Layer<StreamStore> = Layer.sync(StreamStore, () => {
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
