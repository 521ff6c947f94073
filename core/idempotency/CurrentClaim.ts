/**
 * The claim of the running operation. An operation that waits for a platform cannot run in one transaction; the store
 * keeps its answer together with the write that decides it.
 */
import { Context, Effect, Option } from "effect"
import { StoreUnavailable } from "../model/Errors.ts"
import type { Attempt } from "./ClaimStore.ts"

/** The result of the running step has any type; `answering` relates it to the answer. */
interface Claim extends Attempt {
  readonly answerOf: (result: unknown) => Effect.Effect<string, StoreUnavailable>
}

/** None for an operation without an idempotency key. */
export class CurrentClaim extends Context.Reference<CurrentClaim>()("core/CurrentClaim", {
  defaultValue: (): Option.Option<Claim> => Option.none()
}) {}

/** An answer that the store keeps in the transaction of the write. */
export interface Decision extends Attempt {
  /** Runs in the transaction, after the write. */
  readonly answer: Effect.Effect<string, StoreUnavailable>
}

/** Set around the write that decides the operation. */
export class CurrentDecision extends Context.Reference<CurrentDecision>()("core/CurrentDecision", {
  defaultValue: (): Option.Option<Decision> => Option.none()
}) {}

/**
 * Makes the answer of the result of a step: after it, and also in the transaction of the decisive write. Every step around
 * that write is mapped by this or the next.
 */
export const answeringWith =
  <A, B, F>(read: (result: A) => Effect.Effect<B, F>) =>
  <E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<B, E | F, R> =>
    Effect.flatMap(
      CurrentClaim,
      Option.match({
        onNone: () => step,
        onSome: (claim) => {
          // The step that sets the result has the type `A`.
          const answerOf = (result: unknown) => Effect.flatMap(storeFailures(read(result as A)), claim.answerOf)
          return Effect.provideService(step, CurrentClaim, Option.some({ ...claim, answerOf }))
        }
      })
    ).pipe(Effect.flatMap(read))

export const answering = <A, B>(f: (result: A) => B) => answeringWith((result: A) => Effect.succeed(f(result)))

/** Marks the write that decides the operation. `result`: what the step around it returns then. */
export const decisive =
  (result: unknown) =>
  <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(
      CurrentClaim,
      Option.match({
        onNone: () => write,
        onSome: ({ digest, attempt, answerOf }) => {
          const decision = { digest, attempt, answer: Effect.suspend(() => answerOf(result)) }
          return Effect.provideService(write, CurrentDecision, Option.some(decision))
        }
      })
    )

// ---- helpers ----

/** What was just written can be read: another failure is a defect. */
const storeFailures = <A, F>(read: Effect.Effect<A, F>): Effect.Effect<A, StoreUnavailable> =>
  Effect.catchAll(read, (error) => (error instanceof StoreUnavailable ? error : Effect.die(error)))
