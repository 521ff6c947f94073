/**
 * Idempotency keys: an operation that is sent again with its key runs once, and the first answer is given again. An
 * operation that waits for a platform cannot run in one transaction; the store keeps its answer together with the write
 * that decides it.
 */
import { Clock, Context, Duration, Effect, Fiber, Layer, Option } from "effect"
import { Entropy } from "../model/Entropy.ts"
import { IdempotencyKeyInUse, IdempotencyKeyReused, StoreUnavailable } from "../model/Errors.ts"
import { Failpoints } from "../model/Failpoints.ts"
import type { AccountId } from "../model/Ids.ts"
import { fromMillis } from "../model/Timestamp.ts"
import { Ownership } from "../ownership/Ownership.ts"
import { type Attempt, ClaimStore } from "./ClaimStore.ts"

export interface KeyedRequest {
  /** None: the operation runs as it is, without a claim. */
  readonly key: Option.Option<string>
  /** None for the operator. */
  readonly account: Option.Option<AccountId>
  readonly operation: string
  /** What was asked for: two requests with the same key must be equal in it. Objects are equal in any order of fields. */
  readonly content: unknown
  /**
   * Whether it may wait for others than the store. If not, it runs in one transaction with its answer. If so, the answer
   * is kept with the write that is marked as `decisive`, or else at the end.
   */
  readonly isLong: boolean
}

export interface Answered<A> {
  readonly answer: A
  readonly isReplayed: boolean
}

/** How long an answer is kept. */
export const KEPT = Duration.hours(24)

export class Idempotency extends Context.Tag("core/Idempotency")<
  Idempotency,
  {
    /**
     * Runs the operation, or returns the answer that it gave before, which must be JSON. A failure is not kept: the next
     * request runs it again. A caller that leaves does not stop it.
     */
    readonly once: <A, E, R>(
      request: KeyedRequest,
      operation: Effect.Effect<A, E, R>
    ) => Effect.Effect<Answered<A>, E | IdempotencyKeyReused | IdempotencyKeyInUse | StoreUnavailable, R>
  }
>() {
  static readonly layer: Layer.Layer<Idempotency, never, ClaimStore | Entropy> = Layer.scoped(
    Idempotency,
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const { uuid, sha256, seal, unseal } = yield* Entropy
      const failpoints = yield* Failpoints
      const scope = yield* Effect.scope
      // If it fails, abandoned attempts are taken over some seconds later.
      if ((yield* Ownership).isAlone) yield* Effect.ignoreLogged(store.releaseAll)

      const begin = ({ account, operation, content }: KeyedRequest, key: string) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const secret = JSON.stringify([Option.getOrNull(account), operation, key])
          const claim = {
            digest: sha256(`key ${secret}`),
            attempt: uuid(),
            request: sha256(content instanceof Uint8Array ? content : canonical(content)),
            at: fromMillis(now),
            expiredBefore: fromMillis(now - Duration.toMillis(KEPT))
          }
          const found = yield* store.begin(claim)
          if (Option.isNone(found)) return { claim, secret, answer: Option.none() }
          if (found.value.request !== claim.request) return yield* new IdempotencyKeyReused({ key })
          if (Option.isNone(found.value.answer)) return yield* new IdempotencyKeyInUse({ key })
          return { claim, secret, answer: found.value.answer }
        })

      const run = <A, E, R>(
        { digest, attempt }: Attempt,
        { operation, isLong, seal }: Running<A, E, R>
      ): Effect.Effect<A, E | StoreUnavailable, R> => {
        const own = { digest, attempt }
        const kept = (done: Effect.Effect<A, E, R>) => Effect.tap(done, (answer) => store.keep(own, seal(answer)))
        return isLong
          ? kept(
              Effect.provideService(
                operation,
                CurrentClaim,
                Option.some({ ...own, answerOf: (answer) => Effect.sync(() => seal(answer)) })
              )
            )
          : store.atomically(kept(operation))
      }

      const onceWith = <A, E, R>(key: string, request: KeyedRequest, operation: Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          const { claim, secret, answer } = yield* begin(request, key)
          // JSON of the answer of the same operation.
          if (Option.isSome(answer)) return { answer: JSON.parse(unseal(answer.value, secret)) as A, isReplayed: true }
          yield* failpoints.hit("idempotency.claimed")
          const sealed = (result: unknown) => seal(JSON.stringify(result), secret)
          const done = run(claim, { operation, isLong: request.isLong, seal: sealed })
          const first = yield* Effect.onError(done, () => Effect.ignoreLogged(store.release(claim)))
          yield* failpoints.hit("idempotency.kept")
          return { answer: first, isReplayed: false }
        }).pipe(Effect.interruptible, Effect.forkIn(scope), Effect.flatMap(Fiber.join))

      return Idempotency.of({
        once: (request, operation) =>
          Option.isSome(request.key)
            ? onceWith(request.key.value, request, operation)
            : Effect.map(operation, (answer) => ({ answer, isReplayed: false }))
      })
    })
  )
}

/** The claim of the running operation. None for an operation without an idempotency key. */
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

/** The result of the running step has any type; `answering` relates it to the answer. */
interface Claim extends Attempt {
  readonly answerOf: (result: unknown) => Effect.Effect<string, StoreUnavailable>
}

/** What was just written can be read: another failure is a defect. */
const storeFailures = <A, F>(read: Effect.Effect<A, F>): Effect.Effect<A, StoreUnavailable> =>
  Effect.catchAll(read, (error) => (error instanceof StoreUnavailable ? error : Effect.die(error)))

interface Running<A, E, R> {
  readonly operation: Effect.Effect<A, E, R>
  readonly isLong: boolean
  readonly seal: (answer: unknown) => string
}

/** JSON with sorted fields. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )
