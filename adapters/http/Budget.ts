/** How often a call may be made: a platform never sees more than it allows. */
import { Clock, Effect } from "effect"

export class Budget {
  private readonly limit: number
  private readonly windowMillis: number
  /** When the calls of the last window were made. */
  private readonly times: Array<number> = []
  private closedUntil = 0

  constructor(options: { readonly limit: number; readonly windowMillis: number }) {
    this.limit = options.limit
    this.windowMillis = options.windowMillis
  }

  /** Takes one call, or says in how many milliseconds one can be had. */
  readonly take: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (now) => {
    while (this.times.length > 0 && (this.times[0] ?? 0) <= now - this.windowMillis) this.times.shift()
    const freeAt = this.times.length < this.limit ? now : (this.times[0] ?? now) + this.windowMillis
    const wait = Math.max(freeAt, this.closedUntil) - now
    if (wait <= 0) this.times.push(now)
    return Math.max(0, wait)
  })

  /** Takes one call as soon as one can be had. */
  readonly wait: Effect.Effect<void> = Effect.repeat(
    Effect.tap(this.take, (millis) => (millis > 0 ? Effect.sleep(millis) : Effect.void)),
    { while: (millis) => millis > 0 }
  ).pipe(Effect.asVoid)

  /** The last call that was taken did not reach the platform. */
  readonly giveBack: Effect.Effect<void> = Effect.sync(() => {
    this.times.pop()
  })

  /** The platform itself says that there is nothing to be had for so long. */
  readonly close = (millis: number): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      this.closedUntil = Math.max(this.closedUntil, now + millis)
    })
}
