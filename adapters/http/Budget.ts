/** Sliding-window rate limit for calls to a platform. */
import { Clock, Effect } from "effect"

export class Budget {
  private readonly limit: number
  private readonly windowMillis: number
  /** Start times of the calls in the current window, oldest first. */
  private readonly times: Array<number> = []
  private blockedUntil = 0

  constructor(options: { readonly limit: number; readonly windowMillis: number }) {
    this.limit = options.limit
    this.windowMillis = options.windowMillis
  }

  /** Uses one call of the budget and returns 0, or returns the milliseconds until a call is available. */
  readonly take: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (now) => {
    while (this.times.length > 0 && (this.times[0] ?? 0) <= now - this.windowMillis) this.times.shift()
    const freeAt = this.times.length < this.limit ? now : (this.times[0] ?? now) + this.windowMillis
    const wait = Math.max(freeAt, this.blockedUntil) - now
    if (wait <= 0) this.times.push(now)
    return Math.max(0, wait)
  })

  /** Waits until a call is available, then uses it. */
  readonly wait: Effect.Effect<void> = Effect.repeat(
    Effect.tap(this.take, (millis) => (millis > 0 ? Effect.sleep(millis) : Effect.void)),
    { while: (millis) => millis > 0 }
  ).pipe(Effect.asVoid)

  /** Gives back the last call if it did not reach the platform. */
  readonly refund: Effect.Effect<void> = Effect.sync(() => {
    this.times.pop()
  })

  /** Blocks all calls for this long, when the platform asks for it. */
  readonly blockFor = (millis: number): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      this.blockedUntil = Math.max(this.blockedUntil, now + millis)
    })
}
