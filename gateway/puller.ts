/** Runs an effect repeatedly for a consumer outside of Effect, such as a `ReadableStream` or an async generator. */
import { Effect, Exit, type Fiber, FiberId, Runtime, Scope } from "effect"

export interface Puller<A, E> {
  /** Must not be called again before it resolves, nor after a failure. The first call opens the source. */
  readonly next: () => Promise<Exit.Exit<A, E>>
  /** Interrupts a running `next` and releases the source. */
  readonly close: () => void
}

/** `open` acquires the source and returns the effect that reads its next value. */
export const makePuller = <A, E, R>(
  open: Effect.Effect<Effect.Effect<A, E, R>, E, R | Scope.Scope>
): Effect.Effect<Puller<A, E>, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    const scope = yield* Scope.make()
    const closeScope = () => void Runtime.runFork(runtime, Scope.close(scope, Exit.void))
    let fiber: Fiber.RuntimeFiber<A, E> | undefined
    let pull: Effect.Effect<A, E, R> = Effect.flatMap(Scope.extend(open, scope), (opened) => {
      pull = opened
      return opened
    })

    const next = () =>
      new Promise<Exit.Exit<A, E>>((resolve) => {
        fiber = Runtime.runFork(runtime, pull)
        fiber.addObserver((exit) => {
          fiber = undefined
          if (Exit.isFailure(exit)) closeScope()
          resolve(exit)
        })
      })

    const close = () => {
      if (fiber === undefined) closeScope()
      else fiber.unsafeInterruptAsFork(FiberId.none)
    }
    return { next, close }
  })
