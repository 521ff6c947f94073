/**
 * One lock per platform, because rules with the same text share one rule of the platform: under the lock, the answer of
 * `isShared` stays true until the call that depends on it.
 */
import { Effect, Fiber, type Scope } from "effect"
import type { PlatformId } from "../model/PlatformId.ts"

export interface PlatformLocks {
  /** Holds the locks of these platforms. An interrupted caller does not stop the effect. */
  readonly exclusively: <A, E>(ids: Iterable<PlatformId>, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Holds the lock, and stops with its caller. */
  readonly interruptibly: <A, E>(id: PlatformId, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** For a whole change of a rule. `exclusively`, if this process is alone. */
  readonly changing: PlatformLocks["exclusively"]
  /** For the calls to one platform within `changing`. */
  readonly calling: <A, E>(id: PlatformId, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * With several servers a change may wait for another server, and holds a lock only for its own calls. Meanwhile a
 * comparison leaves the rule alone. If this process is alone, a comparison takes every rule that is being changed for
 * abandoned, so the change holds its locks from the first write to the last.
 */
export const makePlatformLocks = (isAlone: boolean): Effect.Effect<PlatformLocks, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const locks = new Map<PlatformId, Effect.Semaphore>()
    const interruptibly: PlatformLocks["interruptibly"] = (id, effect) => {
      const lock = locks.get(id) ?? Effect.unsafeMakeSemaphore(1)
      locks.set(id, lock)
      return lock.withPermits(1)(effect)
    }
    // Locks are always taken in the same order.
    const exclusively: PlatformLocks["exclusively"] = (ids, effect) => {
      const inFiber = Effect.flatMap(Effect.forkIn(Effect.interruptible(effect), scope), Fiber.join)
      return [...new Set(ids)]
        .sort()
        .reduceRight((inner, id) => interruptibly(id, inner), Effect.uninterruptible(inFiber))
    }
    return {
      exclusively,
      interruptibly,
      changing: (ids, effect) => exclusively(isAlone ? ids : [], effect),
      calling: (id, effect) => (isAlone ? effect : exclusively([id], effect))
    }
  })
