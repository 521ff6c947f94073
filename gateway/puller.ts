/** Runs the reads of a source for a consumer outside of Effect, such as a response or an async generator. */
import { Effect, Exit, type Fiber, FiberId, Runtime, Scope } from "effect"
import type { LiveReader } from "../core/matches/LiveMatches.ts"

export interface Puller<A, E> {
  /**
   * Calls `done` with the next values, at once if there are some. No fiber runs while it waits. Must not be called again
   * before that, nor after a failure. The first call opens the source.
   */
  readonly pull: (done: (exit: Exit.Exit<ReadonlyArray<A>, E>) => void) => void
  /** Interrupts a running read and releases the source. */
  readonly close: () => void
}

export const makePuller = <A, E, R>(
  open: Effect.Effect<LiveReader<A, E, R>, E, R | Scope.Scope>
): Effect.Effect<Puller<A, E>, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    const scope = yield* Scope.make()
    let fiber: Fiber.RuntimeFiber<unknown, E> | undefined
    let reader: LiveReader<A, E, R> | undefined
    let isClosed = false

    const close = () => {
      isClosed = true
      if (fiber === undefined) Runtime.runFork(runtime, Scope.close(scope, Exit.void))
      else fiber.unsafeInterruptAsFork(FiberId.none)
    }

    const run = <B>(effect: Effect.Effect<B, E, R>, done: (exit: Exit.Exit<B, E>) => void) => {
      const running = Runtime.runFork(runtime, effect)
      fiber = running
      running.addObserver((exit) => {
        fiber = undefined
        if (isClosed || Exit.isFailure(exit)) close()
        done(exit)
      })
    }

    const pull: Puller<A, E>["pull"] = (done) => {
      if (reader === undefined) {
        return run(Scope.extend(open, scope), (exit) => {
          if (Exit.isFailure(exit)) return done(Exit.failCause(exit.cause))
          reader = exit.value
          pull(done)
        })
      }
      const { read, onReady } = reader
      onReady(() => {
        if (isClosed) return
        run(read, (exit) => (Exit.isSuccess(exit) && exit.value.length === 0 ? pull(done) : done(exit)))
      })
    }
    return { pull, close }
  })
