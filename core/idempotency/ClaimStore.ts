/** Storage port for idempotency keys, with an in-memory layer. */
import { Context, Effect, Layer, Option } from "effect"
import { StoreUnavailable } from "../model/Errors.ts"
import type { Timestamp } from "../model/Timestamp.ts"

/** One of the attempts to run the operation of a key. */
export interface Attempt {
  /** Of the account, the operation and the key. */
  readonly digest: string
  /** A UUID that fences the writes of this attempt. */
  readonly attempt: string
}

export interface NewClaim extends Attempt {
  /** Digest of the request. */
  readonly request: string
  readonly at: Timestamp
  /** Claims from before this time have expired. */
  readonly expiredBefore: Timestamp
}

/** What an earlier request with the key has left. */
export interface Claimed {
  readonly request: string
  /** None while it runs. */
  readonly answer: Option.Option<string>
}

export class ClaimStore extends Context.Tag("core/ClaimStore")<
  ClaimStore,
  {
    /**
     * None if the claim is new, has expired, or was abandoned: its attempt is not renewed by a running process. Of
     * concurrent calls one gets none.
     */
    readonly begin: (claim: NewClaim) => Effect.Effect<Option.Option<Claimed>, StoreUnavailable>
    /** Fails if another attempt has taken over, so that the transaction around it is rolled back. */
    readonly keep: (attempt: Attempt, answer: string) => Effect.Effect<void, StoreUnavailable>
    /** Ends an attempt without an answer. The next one runs again. Keeps an answer that is there. */
    readonly release: (attempt: Attempt) => Effect.Effect<void, StoreUnavailable>
    /** For the only process on the store, at its start: all attempts without an answer are abandoned. */
    readonly releaseAll: Effect.Effect<void, StoreUnavailable>
    /** Runs the effect in one transaction. */
    readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreUnavailable, R>
    /** Deletes claims from before that time. Returns their number, up to `atMost`. */
    readonly expire: (before: Timestamp, atMost: number) => Effect.Effect<number, StoreUnavailable>
  }
>() {
  /** A process that ends takes its claims with it, so none is ever abandoned. */
  static readonly layerMemory: Layer.Layer<ClaimStore> = Layer.sync(ClaimStore, () => {
    const claims = new Map<string, NewClaim & Pick<Claimed, "answer">>()
    const ownOf = ({ digest, attempt }: Attempt) => {
      const claim = claims.get(digest)
      return claim?.attempt === attempt ? claim : undefined
    }

    return ClaimStore.of({
      begin: (claim) =>
        Effect.sync(() => {
          const known = claims.get(claim.digest)
          if (known !== undefined && known.at >= claim.expiredBefore) return Option.some(known)
          claims.set(claim.digest, { ...claim, answer: Option.none() })
          return Option.none()
        }),
      keep: (attempt, answer) =>
        Effect.suspend(() => {
          const own = ownOf(attempt)
          if (own === undefined) return new StoreUnavailable({ operation: "claims.keep", cause: TAKEN_OVER })
          claims.set(own.digest, { ...own, answer: Option.some(answer) })
          return Effect.void
        }),
      release: (attempt) =>
        Effect.sync(() => {
          const own = ownOf(attempt)
          if (own !== undefined && Option.isNone(own.answer)) claims.delete(own.digest)
        }),
      releaseAll: Effect.sync(() => {
        for (const [digest, { answer }] of claims) if (Option.isNone(answer)) claims.delete(digest)
      }),
      atomically: (effect) => effect,
      expire: (before, atMost) =>
        Effect.sync(() => {
          const old = [...claims.values()].filter(({ at }) => at < before).slice(0, atMost)
          for (const { digest } of old) claims.delete(digest)
          return old.length
        })
    })
  })
}

/** The cause of the failure of an attempt that was replaced. */
export const TAKEN_OVER = "Another attempt with the same idempotency key has taken over"
