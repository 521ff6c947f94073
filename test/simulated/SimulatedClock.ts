/** A clock whose hours take milliseconds: time goes from one thing that is due to the next. */
import { Clock, Duration, Effect, Scheduler } from "effect"

/**
 * Not Effect's `TestClock`: at every step that waits several milliseconds of real time to see that all fibers sleep,
 * and it keeps timers that were given up, so that a day takes it many minutes.
 */
export class SimulatedClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private millis: number
  /** In the order in which they fell asleep. */
  private readonly sleeping = new Set<Sleeper>()

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
      const sleeper = {
        at: this.millis + Math.ceil(Duration.toMillis(duration)),
        wake: () => resume(Effect.void)
      }
      this.sleeping.add(sleeper)
      return Effect.sync(() => this.sleeping.delete(sleeper))
    })
  }

  /** Runs an effect, and all that it starts, on this clock. */
  readonly on = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(Effect.withClock(this), Effect.withScheduler(microtasks))

  /** Time passes up to then; what is due on the way happens at its time, one after the other. */
  readonly passTo = (millis: number): Effect.Effect<void> =>
    Effect.promise(async () => {
      await turn()
      for (let next = this.nextUpTo(millis); next !== undefined; next = this.nextUpTo(millis)) {
        this.millis = next.at
        this.sleeping.delete(next)
        next.wake()
        await turn()
      }
      this.millis = Math.max(this.millis, millis)
    })

  readonly pass = (seconds: number): Effect.Effect<void> =>
    Effect.suspend(() => this.passTo(this.millis + seconds * 1_000))

  private nextUpTo(millis: number): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const sleeper of this.sleeping) {
      if (sleeper.at <= millis && sleeper.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = sleeper
    }
    return first
  }
}

/** Lets everything happen that needs no more time. */
export const settled: Effect.Effect<void> = Effect.promise(() => turn())

// ---- helpers ----

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Effect's own one now and then hands work to a timer. With this one, all that needs no time is done in one turn. */
const microtasks = new Scheduler.MixedScheduler(Number.POSITIVE_INFINITY)

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
