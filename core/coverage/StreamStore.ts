/** Storage port for the stream state of each platform: cursor, coverage, gaps and dead letters. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Gap, Ledger, LedgerChange } from "./Coverage.ts"

export interface StreamRecord {
  readonly ledger: Ledger
  /** Where the stream resumes. */
  readonly cursor: Option.Option<string>
  /** The number of the last batch. */
  readonly batch: number
}

/** Stored in one transaction with the last matches of a batch. */
export interface StreamProgress extends LedgerChange {
  readonly platform: PlatformId
  /** None keeps the stored cursor. */
  readonly cursor: Option.Option<string>
  /** Counts the batches of the stream. Ignored if a later batch is stored: a retry never moves the stream back. */
  readonly batch: number
}

/** An event that could not be stored. */
export interface DeadLetter {
  readonly platform: PlatformId
  readonly platformPostId: string
  /** In milliseconds. */
  readonly at: number
  readonly reason: string
  /** JSON, truncated if very long. */
  readonly payload: string
}

export class StreamStore extends Context.Tag("core/StreamStore")<
  StreamStore,
  {
    readonly load: (platform: PlatformId) => Effect.Effect<Option.Option<StreamRecord>, StoreUnavailable>
    readonly save: (progress: StreamProgress) => Effect.Effect<void, StoreUnavailable>
    /** Closed gaps that overlap the window, newest first. Times in milliseconds. */
    readonly gaps: (
      platform: PlatformId,
      window: { readonly from: number; readonly to: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Gap>, StoreUnavailable>
    readonly addDeadLetter: (letter: DeadLetter) => Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    readonly deadLetters: (limit: number) => Effect.Effect<ReadonlyArray<DeadLetter>, StoreUnavailable>
  }
>() {}
