/** Waiting until something holds. The first pauses are short, because most things take some milliseconds. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"

/** Retries the assertions. */
export const eventually = async <A>(check: () => A | Promise<A>, seconds = 30): Promise<A> => {
  const end = Date.now() + seconds * 1_000
  for (let pause = FIRST_MILLIS; ; pause = afterPause(pause)) {
    try {
      return await check()
    } catch (cause) {
      if (Date.now() > end) throw cause
      await sleep(pause)
    }
  }
}

/** `what` is for the error. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>, seconds = 60): Promise<void> => {
  const end = Date.now() + seconds * 1_000
  for (let pause = FIRST_MILLIS; !(await holds()); pause = afterPause(pause)) {
    if (Date.now() > end) throw new Error(`Not true after ${seconds} seconds: ${what}`)
    await sleep(pause)
  }
}

/** `until` for effects, on the clock of the test. */
export const untilTrue = <E, R>(
  what: string,
  holds: Effect.Effect<boolean, E, R>,
  seconds = 60
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    const end = Date.now() + seconds * 1_000
    for (let pause = FIRST_MILLIS; !(yield* holds); pause = afterPause(pause)) {
      if (Date.now() > end) return yield* Effect.dieMessage(`Not true after ${seconds} seconds: ${what}`)
      yield* Effect.sleep(pause)
    }
  })

// ---- helpers ----

const FIRST_MILLIS = 1

const afterPause = (millis: number): number => Math.min(2 * millis, 100)
