/** Runs the reads of a source for a consumer outside of Effect, such as a response or an async generator. */
import { Effect, Exit, type Fiber, FiberId, Runtime, Scope } from "effect"
import type { LiveReader } from "../../core/matches/LiveMatches.ts"

export interface Puller<A, E> {
  /**
   * Calls `done` with the next values, at once if there are some. No fiber runs while it waits. Must not be called again
   * before that, nor after a failure. The first call opens the source.
   */
  readonly pull: (done: Done<A, E>) => void
  /** Interrupts a running pull and releases the source. */
  readonly close: () => void
}

export type Done<A, E> = (exit: Exit.Exit<ReadonlyArray<A>, E>) => void

/** `acquire` runs at once and is released by `close`. It is the last step: nothing can interrupt the caller after it. */
export const makePuller = <A, E, R, F>(
  open: Effect.Effect<LiveReader<A, E, R>, E, R | Scope.Scope>,
  acquire: Effect.Effect<void, F, Scope.Scope>
): Effect.Effect<Puller<A, E>, F, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    const scope = yield* Scope.make()
    const release = () => void Runtime.runFork(runtime, Scope.close(scope, Exit.void))
    let reader: LiveReader<A, E, R> | undefined
    let fiber: Fiber.RuntimeFiber<unknown, E> | undefined
    let waiting: Done<A, E> | undefined
    let isClosed = false

    const close = () => {
      if (isClosed) return
      isClosed = true
      if (fiber !== undefined) return fiber.unsafeInterruptAsFork(FiberId.none)
      release()
      waiting?.(Exit.interrupt(FiberId.none))
    }

    const run = <B>(effect: Effect.Effect<B, E, R>, onSuccess: (value: B) => void, done: Done<A, E>) => {
      const running = Runtime.runFork(runtime, effect)
      fiber = running
      running.addObserver((exit) => {
        fiber = undefined
        if (Exit.isSuccess(exit) && !isClosed) return onSuccess(exit.value)
        release()
        done(Exit.isFailure(exit) && !isClosed ? Exit.failCause(exit.cause) : Exit.interrupt(FiberId.none))
      })
    }

    const pull = (done: Done<A, E>): void => {
      if (reader === undefined) {
        const start = (opened: LiveReader<A, E, R>) => {
          reader = opened
          pull(done)
        }
        run(Scope.extend(open, scope), start, done)
        return
      }
      const { read, takeQueued, onReady } = reader
      const deliver = (values: ReadonlyArray<A>) => (values.length === 0 ? pull(done) : done(Exit.succeed(values)))
      waiting = done
      onReady(() => {
        if (isClosed) return
        waiting = undefined
        const queued = takeQueued()
        if (queued.length > 0) done(Exit.succeed(queued))
        else run(read, deliver, done)
      })
    }
    yield* Scope.extend(acquire, scope).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
    return { pull, close }
  })
