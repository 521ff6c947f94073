/** Logs once when the store stops to answer, and once when it answers again. */
import { Clock, Effect, Layer, Option, Schedule } from "effect"
import { Status } from "./Status.ts"

export const layer: Layer.Layer<never, never, Status> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { storeAnswers } = yield* Status
    let lastAnswer = yield* Clock.currentTimeMillis
    let lostAt = Option.none<number>()
    let failures = 0

    const look = Effect.gen(function* () {
      const isUp = yield* storeAnswers
      const now = yield* Clock.currentTimeMillis
      if (isUp) {
        const lost = lostAt
        lostAt = Option.none()
        lastAnswer = now
        failures = 0
        if (Option.isSome(lost)) {
          yield* Effect.logInfo(`The store answers again, after ${Math.round((now - lost.value) / 1_000)} seconds`)
        }
      } else if (++failures === FAILURES) {
        lostAt = Option.some(lastAnswer)
        yield* Effect.logError("The store does not answer: requests fail and events wait until it does")
      }
    })
    yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(INTERVAL)))
  })
)

// ---- helpers ----

const INTERVAL = "2 seconds"

/** In a row: a busy machine can be late once. */
const FAILURES = 2
