/** Resources of scopes that exist by the thousand. */
import { Effect, Scope } from "effect"

/**
 * `Effect.acquireRelease`, but the scope does not keep the state of the fiber for `release`: that takes more than a
 * kilobyte. So `release` must not depend on it.
 */
export const hold = <A, E, R>(
  acquire: Effect.Effect<A, E, R>,
  release: (held: A) => Effect.Effect<void>
): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Effect.tap(acquire, (held) => Scope.addFinalizer(scope, release(held)))).pipe(
    Effect.uninterruptible
  )
