/** The current status of a platform's stream. */
import { Clock, Effect, Option } from "effect"
import type { StreamState, StreamStatus } from "../../core/platforms/Platform.ts"

export class StreamHealth {
  private current: StreamStatus

  constructor(now: number) {
    this.current = {
      state: "idle",
      detail: NO_RULES,
      since: now,
      lastEventAt: Option.none(),
      lastError: Option.none()
    }
  }

  readonly status: Effect.Effect<StreamStatus> = Effect.sync(() => this.current)

  enter(state: StreamState, detail: string): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const since = state === this.current.state ? this.current.since : now
      this.current = { ...this.current, state, detail, since }
    })
  }

  readonly sawEvent: Effect.Effect<void> = Effect.map(Clock.currentTimeMillis, (now) => {
    this.current = { ...this.current, lastEventAt: Option.some(now) }
  })

  sawError(message: string): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (at) => {
      this.current = { ...this.current, lastError: Option.some({ at, message }) }
    })
  }
}

export const NO_RULES = "No rules to watch: the stream opens when the first rule is added"
