/** Background work: recovers the posts of long gaps, where the plan has it, and looks at quiet periods. */
import { Chunk, Clock, Effect, Option, type Queue, Stream } from "effect"
import type { Period, Signal } from "../../core/platforms/Platform.ts"
import type { QuietWatch } from "./QuietWatch.ts"
import type { RecordReader } from "./RecordReader.ts"
import type { NotRecovered, Recovery } from "./recovery.ts"

export interface Recovering {
  readonly recovery: Recovery
  readonly reader: RecordReader
}

/** One gap after the other. */
export const recoverGaps = (recovering: Recovering, gaps: Queue.Dequeue<Period>): Stream.Stream<Signal> =>
  Stream.suspend(() => {
    /** A gap that is not proved to be complete comes again with the next connection, longer. */
    let last: Period = { from: 0, to: 0 }
    return Stream.flatMap(Stream.fromQueue(gaps), (gap) => {
      const isKnown = gap.from >= last.from && gap.from < last.to
      return Stream.tap(recoverGap(recovering, isKnown ? { ...gap, from: last.to } : gap, 1), (signal) =>
        Effect.sync(() => {
          if (signal._tag === "Replayed") last = signal
        })
      )
    })
  })

/** Reports missed posts, and passes their period on to be recovered. */
export const lookAtQuietPeriods = (
  quiet: QuietWatch,
  periods: Queue.Dequeue<Period>,
  gaps: Queue.Enqueue<Period>
): Stream.Stream<Signal> =>
  Stream.filterMapEffect(Stream.fromQueue(periods, { maxChunkSize: 1 }), (period) =>
    Option.some(
      Effect.gen(function* () {
        const found = yield* quiet.lookAt(period, yield* Clock.currentTimeMillis)
        if (Option.exists(found, ({ _tag }) => _tag === "Lost")) yield* gaps.offer(period)
        return found
      })
    )
  ).pipe(Stream.filterMap((found) => found))

// ---- helpers ----

/** X can replay a second only once it is over, and its posts have come. */
const SETTLE_MILLIS = 5_000

const MAX_TRIES = 5
const RETRY_MILLIS = 60_000

const recoverGap = ({ recovery, reader }: Recovering, gap: Period, tries: number): Stream.Stream<Signal> =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* Effect.sleep(Math.max(SETTLE_MILLIS, reader.delay))
      const found = recovery.periodOf(gap, yield* Clock.currentTimeMillis)
      if (Option.isNone(found)) return Stream.empty
      const period = found.value
      let isComplete = true
      const events = Stream.chunks(recovery.lines(period)).pipe(
        Stream.mapEffect((lines) => reader.readReplay(lines)),
        Stream.map((replay) => {
          isComplete = isComplete && replay.isComplete
          return replay.events
        }),
        Stream.filter(Chunk.isNonEmpty),
        Stream.flattenChunks
      )
      const replayed = Stream.suspend(() => {
        if (!isComplete) return Stream.empty
        reader.recovered(period)
        return Stream.succeed<Signal>({ _tag: "Replayed", ...period })
      })
      const again = ({ reason, isFinal, waitMillis = RETRY_MILLIS }: NotRecovered) => {
        if (isFinal) return Stream.empty
        if (tries === MAX_TRIES) return Stream.drain(Stream.fromEffect(Effect.logWarning(`${GIVEN_UP}: ${reason}`)))
        const wait = Stream.drain(Stream.fromEffect(Effect.sleep(waitMillis * tries)))
        return Stream.concat(wait, recoverGap({ recovery, reader }, gap, tries + 1))
      }
      return Stream.catchAll(Stream.concat(events, replayed), again)
    })
  )

const GIVEN_UP = 'Cannot recover the posts of a gap on "x"'
