/** Notices that this process did not run for a while: it was stopped, its machine slept, or its clock was set. */
import { Clock, Context, Effect, Schedule } from "effect"

/** Tests on another clock replace it. */
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
