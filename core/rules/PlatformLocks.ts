/**
 * One lock per platform, because rules with the same text share one rule of the platform: under the lock, the answer of
 * `isShared` stays true until the call that depends on it.
 */
import { Context, Effect, Fiber, Layer } from "effect"
import type { PlatformId } from "../model/PlatformId.ts"
import { Ownership } from "../ownership/Ownership.ts"

/**
 * With several servers a change may wait for another server, and holds a lock only for its own calls. Meanwhile a
 * comparison leaves the rule alone. If this process is alone, a comparison takes every rule that is being changed for
 * abandoned, so the change holds its locks from the first write to the last.
 */
export class PlatformLocks extends Context.Tag("core/PlatformLocks")<
  PlatformLocks,
  {
    /** Holds the locks of these platforms. An interrupted caller does not stop the effect. */
    readonly exclusively: <A, E>(ids: Iterable<PlatformId>, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
    /** Holds the lock, and stops with its caller. */
    readonly interruptibly: <A, E>(id: PlatformId, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
    /** For a whole change of a rule. `exclusively`, if this process is alone. */
    readonly changing: <A, E>(ids: Iterable<PlatformId>, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
    /** For the calls to one platform within `changing`. */
    readonly calling: <A, E>(id: PlatformId, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  }
>() {
  static readonly layer: Layer.Layer<PlatformLocks> = Layer.scoped(
    PlatformLocks,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const { isAlone } = yield* Ownership
      const locks = new Map<PlatformId, Effect.Semaphore>()

      const interruptibly = <A, E>(id: PlatformId, effect: Effect.Effect<A, E>) => {
        const lock = locks.get(id) ?? Effect.unsafeMakeSemaphore(1)
        locks.set(id, lock)
        return lock.withPermits(1)(effect)
      }

      // Locks are always taken in the same order.
      const exclusively = <A, E>(ids: Iterable<PlatformId>, effect: Effect.Effect<A, E>) => {
        const inFiber = Effect.flatMap(Effect.forkIn(Effect.interruptible(effect), scope), Fiber.join)
        return [...new Set(ids)]
          .sort()
          .reduceRight((inner, id) => interruptibly(id, inner), Effect.uninterruptible(inFiber))
      }

      return PlatformLocks.of({
        exclusively,
        interruptibly,
        changing: (ids, effect) => exclusively(isAlone ? ids : [], effect),
        calling: (id, effect) => (isAlone ? effect : exclusively([id], effect))
      })
    })
  )
}
