/** The stream position: after the last event, or a time window when no event id is known. */
import { Option } from "effect"
import type { UpstreamCall } from "../http/Upstream.ts"

export class Position {
  private lastEventId: string | undefined
  /** Start of the window without an event id, in milliseconds; undefined before the first connection. */
  private since: number | undefined

  constructor(from: Option.Option<string>) {
    this.lastEventId = Option.getOrUndefined(from)
  }

  /**
   * Request parameters that resume the stream. `since`: time of the oldest event that it can send, in milliseconds; not
   * set for the first connection without an event id, which starts live.
   */
  resume(now: number): Required<Pick<UpstreamCall, "headers" | "query">> & { readonly since?: number } {
    const oldest = now - RETENTION_MILLIS
    if (this.lastEventId !== undefined)
      return { headers: { "last-event-id": this.lastEventId }, query: {}, since: oldest }
    const { since } = this
    this.since ??= now
    if (since === undefined) return { headers: {}, query: {} }
    return { headers: {}, query: { since: windowOf(now - since) }, since: Math.max(since, oldest) }
  }

  advance(eventId: string): void {
    this.lastEventId = eventId
  }

  /** Drops an event id that Firehose rejects, and asks for all retained events instead. Returns the id, if any. */
  reset(): string | undefined {
    const { lastEventId } = this
    if (lastEventId === undefined) return undefined
    this.lastEventId = undefined
    this.since = Number.NEGATIVE_INFINITY
    return lastEventId
  }
}

// ---- helpers ----

/** Firehose retains events for about a day. */
const RETENTION_MILLIS = 24 * 3_600_000

/** In minutes or hours: a minute longer than asked for, and at most the retention. */
const windowOf = (millis: number): string => {
  const minutes = Math.ceil(millis / 60_000) + 1
  return minutes < 60 ? `${minutes}m` : `${Math.min(24, Math.ceil(minutes / 60))}h`
}
