/** Storage port for the logs of recent events. */
import { Context, type Effect, Stream } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"

/** `x` for the events of a platform that all accounts share, `x/acct_…` for those that one account sent. */
export type LogId = string

export const ownLog = (platform: PlatformId, account: AccountId): LogId => `${platform}/${account}`

export const isOwnLog = (log: LogId): boolean => log.includes("/")

export interface LoggedEvent {
  /** In milliseconds. */
  readonly receivedAt: number
  /** The platform's record from `JSON.stringify`: one line, and every character is storable. */
  readonly json: string
}

export interface Segment {
  /** Non-empty, oldest first. */
  readonly events: ReadonlyArray<LoggedEvent>
  /** The number of events dropped right before these. */
  readonly missed: number
}

/** Limits of one log. `size` is in characters. */
export interface Keep {
  readonly events: number
  readonly size: number
}

export class EventLog extends Context.Tag("core/EventLog")<
  EventLog,
  {
    /** The logs that hold events. `newestAt` is the receive time of an event of the newest segment. */
    readonly logs: Effect.Effect<ReadonlyArray<{ readonly log: LogId; readonly newestAt: number }>, StoreUnavailable>
    readonly append: (log: LogId, segment: Segment) => Effect.Effect<void, StoreUnavailable>
    /** Deletes whole segments in small batches. The oldest segment may keep the total slightly above `events`. */
    readonly trim: (log: LogId, keep: Keep) => Effect.Effect<void, StoreUnavailable>
    /** The newest `limit` events (at least 1), newest segment first. The oldest segment is cut to the limit. */
    readonly recent: (log: LogId, limit: number) => Stream.Stream<Segment, StoreUnavailable>
    /** Deletes events from all logs of a platform. Reads them all. */
    readonly remove: (
      platform: PlatformId,
      isUnwanted: (json: string) => boolean
    ) => Effect.Effect<void, StoreUnavailable>
  }
>() {}

export const isLogOf = (platform: PlatformId, log: LogId): boolean => log === platform || log.startsWith(`${platform}/`)

/** May be empty then. */
export const withoutEvents = ({ events, missed }: Segment, isUnwanted: (json: string) => boolean): Segment => ({
  events: events.filter(({ json }) => !isUnwanted(json)),
  missed
})

export const sizeOf = ({ events }: Segment): number => events.reduce((size, { json }) => size + json.length, 0)

/** Cuts segments, newest first, to `limit` events. Pulls only the segments it needs. */
export const newestOf = <E>(segments: Stream.Stream<Segment, E>, limit: number): Stream.Stream<Segment, E> =>
  segments.pipe(
    Stream.mapAccum(limit, (left, { events, missed }) => [
      left - events.length,
      { segment: { events: events.slice(-left), missed }, isLast: events.length >= left }
    ]),
    Stream.takeUntil(({ isLast }) => isLast),
    Stream.map(({ segment }) => segment)
  )
