/** A clock for simulations: time jumps from one timer to the next, so hours take milliseconds. */
import { Clock, Duration, Effect, Scheduler } from "effect"

/**
 * Replaces Effect's `TestClock`, which needs many minutes for a day: at every step it waits several milliseconds of
 * real time for all fibers to sleep, and it keeps cancelled timers.
 */
export class SimulatedClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private millis: number
  /** In order of insertion. */
  private readonly timers = new Set<Timer>()

  constructor(millis: number) {
    this.millis = millis
  }

  unsafeCurrentTimeMillis(): number {
    return this.millis
  }

  unsafeCurrentTimeNanos(): bigint {
    return BigInt(this.millis) * 1_000_000n
  }

  readonly currentTimeMillis: Effect.Effect<number> = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.unsafeCurrentTimeNanos())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.async((resume) => {
      const timer = {
        at: this.millis + Math.ceil(Duration.toMillis(duration)),
        fire: () => resume(Effect.void)
      }
      this.timers.add(timer)
      return Effect.sync(() => this.timers.delete(timer))
    })
  }

  /** Runs an effect and its child fibers on this clock. */
  readonly run = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(Effect.withClock(this), Effect.withScheduler(microtasks))

  /** Fires the timers up to that time in order, each at its own time. */
  readonly advanceTo = (millis: number): Effect.Effect<void> =>
    Effect.promise(async () => {
      await nextTurn()
      for (let timer = this.firstUpTo(millis); timer !== undefined; timer = this.firstUpTo(millis)) {
        this.millis = timer.at
        this.timers.delete(timer)
        timer.fire()
        await nextTurn()
      }
      this.millis = Math.max(this.millis, millis)
    })

  readonly advance = (seconds: number): Effect.Effect<void> =>
    Effect.suspend(() => this.advanceTo(this.millis + seconds * 1_000))

  /** All timers up to then fire at once, as after the machine has slept. */
  readonly jump = (seconds: number): Effect.Effect<void> =>
    Effect.promise(async () => {
      this.millis += seconds * 1_000
      for (let timer = this.firstUpTo(this.millis); timer !== undefined; timer = this.firstUpTo(this.millis)) {
        this.timers.delete(timer)
        timer.fire()
      }
      await nextTurn()
    })

  /** Seconds until the last timer. */
  get longestWait(): number {
    return (Math.max(this.millis, ...[...this.timers].map(({ at }) => at)) - this.millis) / 1_000
  }

  private firstUpTo(millis: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.timers) {
      if (timer.at <= millis && timer.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = timer
    }
    return first
  }
}

/** Runs everything that is ready without advancing time. */
export const settle: Effect.Effect<void> = Effect.promise(() => nextTurn())

// ---- helpers ----

interface Timer {
  readonly at: number
  readonly fire: () => void
}

/** Effect's default scheduler sometimes yields to a timer. This one finishes all ready work in one turn. */
const microtasks = new Scheduler.MixedScheduler(Number.POSITIVE_INFINITY)

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
