/**
 * Tells data that has just arrived from data that lay in a buffer: after a freeze, or while nobody read. The other side may
 * have closed the connection since.
 */
import { Clock, Effect, Stream } from "effect"

export class Freshness {
  /** How often the process was frozen. */
  private readonly freezes: Effect.Effect<number>
  private lastReadAt: number | undefined
  private isStale = false

  /** For one connection. */
  constructor(freezes: Effect.Effect<number>) {
    this.freezes = freezes
  }

  /** The last data that was read arrived just then. */
  get isFresh(): boolean {
    return !this.isStale
  }

  /** Passes the data on as it is. */
  readonly observe = <A, E>(bytes: Stream.Stream<A, E>): Stream.Stream<A, E> =>
    Stream.fromPull(
      Effect.map(Stream.toPull(bytes), (pull) =>
        Effect.gen(this, function* () {
          const waitingSince = yield* Clock.currentTimeMillis
          if (waitingSince - (this.lastReadAt ?? waitingSince) >= MAX_BUSY_MILLIS) this.isStale = true
          const before = yield* this.freezes
          const data = yield* pull
          const now = yield* Clock.currentTimeMillis
          if ((yield* this.freezes) !== before) this.isStale = true
          // The buffer was empty.
          else if (now - waitingSince >= EMPTY_MILLIS) this.isStale = false
          this.lastReadAt = now
          return data
        })
      )
    )
}

// ---- helpers ----

/** Between two reads. */
const MAX_BUSY_MILLIS = 2_000

const EMPTY_MILLIS = 1_000
