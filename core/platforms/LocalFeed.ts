/** The port to the local event feed: events that callers hand in, for platforms that run in process. */
import { Context, type Effect, Either } from "effect"
import type { InvalidArgument, StorageUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"

/** One event as its sender wrote it. */
export interface SentEvent {
  /** Where it stands in what was sent, for the sender to find it: `line 17`. */
  readonly place: string
  /** Left says why it cannot be read. */
  readonly data: Either.Either<unknown, string>
}

export interface PublishReport {
  /** How many events were taken in, per platform. */
  readonly accepted: Partial<Record<PlatformId, number>>
  /** How many times one of the events met one of the sender's rules, whether it is new or stored already. */
  readonly matches: number
}

export class LocalFeed extends Context.Tag("core/LocalFeed")<
  LocalFeed,
  {
    /**
     * Takes in events, each in the form in which its platform streams it. They are gone through twice: first all are
     * checked, and if one is wrong none is taken in. Returns when every match they gave is durable; fails when the
     * store takes nothing for a while. Sending them again is safe then: nothing is stored twice. Matches are counted
     * for the sender, if there is one.
     */
    readonly publish: (
      events: Iterable<SentEvent>,
      sender?: AccountId
    ) => Effect.Effect<PublishReport, InvalidArgument | StorageUnavailable>
  }
>() {}

/** Part of why an event is refused whose platform does not run in process: by it a sender tells that the event is no worse than others. */
export const IS_REAL = "is the real one on this server: it takes no events from outside"

/** Whether a body or a file of events is packed, which nobody here unpacks: to be told in words. */
export const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b

/** Events that are in hand already. */
export const sentEvents = (events: ReadonlyArray<unknown>): ReadonlyArray<SentEvent> =>
  events.map((data, index) => ({ place: `event ${index + 1}`, data: Either.right(data) }))
