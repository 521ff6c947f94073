/** Storage port for idempotency keys. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
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
>() {}

/** The cause of the failure of an attempt that was replaced. */
export const TAKEN_OVER = "Another attempt with the same idempotency key has taken over"
