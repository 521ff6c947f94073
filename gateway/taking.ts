/** How those outside of Effect take from what Effect hands out: one step at a time, each when it is asked for. */
import { Effect, Exit, type Fiber, FiberId, Runtime, Scope } from "effect"

export interface Taking<A, E> {
  /** Takes the next step, one at a time. Nothing is done before the first, and after one that failed there is none. */
  readonly next: () => Promise<Exit.Exit<A, E>>
  /** Interrupts the step and lets go of everything. */
  readonly leave: () => void
}

/** `open` gives the step, and may hold on to what it needs for it. */
export const takingFrom = <A, E, R>(
  open: Effect.Effect<Effect.Effect<A, E, R>, E, R | Scope.Scope>
): Effect.Effect<Taking<A, E>, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    const scope = yield* Scope.make()
    const close = () => void Runtime.runFork(runtime, Scope.close(scope, Exit.void))
    let fiber: Fiber.RuntimeFiber<A, E> | undefined
    let step: Effect.Effect<A, E, R> = Effect.flatMap(Scope.extend(open, scope), (opened) => {
      step = opened
      return opened
    })

    const next = () =>
      new Promise<Exit.Exit<A, E>>((resolve) => {
        fiber = Runtime.runFork(runtime, step)
        fiber.addObserver((exit) => {
          fiber = undefined
          if (Exit.isFailure(exit)) close()
          resolve(exit)
        })
      })

    const leave = () => {
      if (fiber === undefined) close()
      else fiber.unsafeInterruptAsFork(FiberId.none)
    }
    return { next, leave }
  })
