/** Merges several logs of events into one. */
import { Chunk, Effect, Option, type Scope, Stream } from "effect"
import type { LoggedEvent, Segment } from "./EventLog.ts"

/** From logs with the newest segment first to one such log. Events are in the order of their receive time. */
export const mergeLogs = <E>(logs: ReadonlyArray<Stream.Stream<Segment, E>>): Stream.Stream<Segment, E> =>
  Stream.unwrapScoped(
    Effect.map(Effect.forEach(logs, open), (cursors) => Stream.repeatEffectOption(nextSegment(cursors)))
  )

// ---- helpers ----

/** A position in one log. */
interface Cursor<E> {
  readonly pull: Effect.Effect<Chunk.Chunk<Segment>, Option.Option<E>>
  /** The unread part of the current segment, oldest first. */
  events: Array<LoggedEvent>
  missed: number
  isAtEnd: boolean
}

const open = <E>(log: Stream.Stream<Segment, E>): Effect.Effect<Cursor<E>, never, Scope.Scope> =>
  Effect.map(Stream.toPull(Stream.rechunk(log, 1)), (pull) => ({ pull, events: [], missed: 0, isAtEnd: false }))

const advance = <E>(cursor: Cursor<E>): Effect.Effect<void, E> =>
  Effect.matchEffect(cursor.pull, {
    onFailure: (end) => {
      cursor.isAtEnd = true
      return Option.match(end, { onNone: () => Effect.void, onSome: Effect.fail })
    },
    onSuccess: (chunk) =>
      Effect.sync(() => {
        const { events, missed } = Chunk.unsafeHead(chunk)
        cursor.events = [...events]
        cursor.missed = missed
      })
  })

/** Reads until the segment of one log is used up, so that its `missed` belongs right before the events read. */
const nextSegment = <E>(all: ReadonlyArray<Cursor<E>>): Effect.Effect<Segment, Option.Option<E>> =>
  Effect.gen(function* () {
    for (const cursor of all) {
      if (cursor.events.length === 0 && !cursor.isAtEnd) yield* Effect.mapError(advance(cursor), Option.some)
    }
    const open = all.filter(({ isAtEnd }) => !isAtEnd)
    const newestFirst: Array<LoggedEvent> = []
    for (;;) {
      const cursor = newestOf(open)
      const event = cursor?.events.pop()
      if (cursor === undefined || event === undefined) return yield* Effect.fail(Option.none())
      newestFirst.push(event)
      if (cursor.events.length === 0) return { events: newestFirst.reverse(), missed: cursor.missed }
    }
  })

const newestOf = <E>(cursors: ReadonlyArray<Cursor<E>>): Cursor<E> | undefined => {
  let newest: Cursor<E> | undefined
  for (const cursor of cursors) {
    if (newest === undefined || newestTime(cursor) > newestTime(newest)) newest = cursor
  }
  return newest
}

const newestTime = ({ events }: Cursor<unknown>): number => events.at(-1)?.receivedAt ?? 0
