/**
 * Tells data that has just arrived from data that lay in a buffer: after a freeze, or while nobody read. The other side may
 * have closed the connection since.
 */
import { Clock, Context, Effect, Schedule, Stream } from "effect"

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

/**
 * Notices that this process did not run for a while: it was stopped, its machine slept, or its clock was set. Tests on
 * another clock replace it.
 */
export class Freezes extends Context.Reference<Freezes>()("adapters/Freezes", {
  defaultValue: (): {
    /** How often that happened. */
    readonly count: Effect.Effect<number>
    /** Monitors until it is interrupted. */
    readonly run: Effect.Effect<void>
  } => {
    const monitor = new FreezeMonitor()
    return { count: monitor.count, run: monitor.run }
  }
}) {}

// ---- helpers ----

/** Between two reads. */
const MAX_BUSY_MILLIS = 2_000

const EMPTY_MILLIS = 1_000

const TICK = "500 millis"

const FROZEN_MILLIS = 3_000

/** A freeze is one of the real process. */
const realClock = Clock.make()

class FreezeMonitor {
  private frozen = 0
  /** While it runs. */
  private tickedAt: number | undefined

  private readonly look = (now: number): void => {
    if (this.tickedAt !== undefined && Math.abs(now - this.tickedAt) >= FROZEN_MILLIS) this.frozen++
    this.tickedAt = now
  }

  /** Looks too: after a freeze, data may be read before the timer fires. */
  readonly count: Effect.Effect<number> = Effect.sync(() => {
    if (this.tickedAt !== undefined) this.look(realClock.unsafeCurrentTimeMillis())
    return this.frozen
  })

  readonly run: Effect.Effect<void> = Effect.map(Clock.currentTimeMillis, this.look).pipe(
    Effect.repeat(Schedule.spaced(TICK)),
    Effect.ensuring(
      Effect.sync(() => {
        this.tickedAt = undefined
      })
    ),
    Effect.withClock(realClock),
    Effect.asVoid
  )
}
