/** The port to the local feed: callers publish events to the platforms that run in process. */
import { Context, type Effect, Either } from "effect"
import type { DiskNearlyFull, InvalidArgument, LimitReached, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"

export interface SentEvent {
  /** Position in the request, for error messages: `line 17`. */
  readonly location: string
  /** Left: why the event cannot be parsed. */
  readonly data: Either.Either<unknown, string>
}

export interface PublishReport {
  /** Number of events per platform. */
  readonly accepted: Partial<Record<PlatformId, number>>
  /** Number of matches with the sender's rules, duplicates included. */
  readonly matches: number
}

export class LocalFeed extends Context.Tag("core/LocalFeed")<
  LocalFeed,
  {
    /**
     * Publishes events in their platform's format. Iterates twice: it checks all events first, and publishes none if
     * one is invalid. Returns once all matches are durable; fails if the store makes no progress. Idempotent, so a
     * caller may retry. The events of a sender match the rules of that account only. Events without a sender are
     * shared: they match the rules of every account, and `matches` is 0. `asOf`: the events count as received at that
     * time, because filters that another server has registered since then may be missing here.
     */
    readonly publish: (
      events: Iterable<SentEvent>,
      sender?: AccountId,
      asOf?: number
    ) => Effect.Effect<PublishReport, InvalidArgument | LimitReached | DiskNearlyFull | StoreUnavailable>
  }
>() {}

/** Ends the message for an event of a remote platform. The CLI recognises it: no event of that platform is accepted. */
export const NOT_LOCAL = "does not run in process on this server: it accepts no published events"

/** The maximum size of one event in a list of lines. */
export const MAX_EVENT_BYTES = 1_048_576

export const TOO_LONG = `Is too long: at most ${MAX_EVENT_BYTES} bytes are allowed`

/** Compressed bodies and files are not supported. */
export const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b

export const sentEvents = (events: ReadonlyArray<unknown>): ReadonlyArray<SentEvent> =>
  events.map((data, index) => ({ location: locationOf(index), data: Either.right(data) }))

/** Of an event in a list. */
export const locationOf = (index: number): string => `event ${index + 1}`
