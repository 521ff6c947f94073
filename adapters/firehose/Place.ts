/** Where the stream is to go on: after the last event that was seen, or back to when we began to watch. */
import { Option } from "effect"
import type { UpstreamCall } from "../http/Upstream.ts"

export class Place {
  private id: string | undefined
  /** Without an id, from when on events are wanted, in milliseconds; undefined until the first connection. */
  private since: number | undefined

  constructor(from: Option.Option<string>) {
    this.id = Option.getOrUndefined(from)
  }

  /**
   * How to ask for what follows, and since when events then come, in milliseconds. The first time without an id it is
   * what happens from then on, and there is no such time.
   */
  asked(now: number): Required<Pick<UpstreamCall, "headers" | "query">> & { readonly since?: number } {
    if (this.id !== undefined) return { headers: { "last-event-id": this.id }, query: {}, since: now - KEPT_MILLIS }
    const { since } = this
    this.since ??= now
    if (since === undefined) return { headers: {}, query: {} }
    return { headers: {}, query: { since: windowOf(now - since) }, since: Math.max(since, now - KEPT_MILLIS) }
  }

  reached(id: string): void {
    this.id = id
  }

  /** The id is no good: all that is kept is asked for instead. The id, if there was one. */
  giveUp(): string | undefined {
    const { id } = this
    if (id === undefined) return undefined
    this.id = undefined
    this.since = Number.NEGATIVE_INFINITY
    return id
  }
}

// ---- helpers ----

/** How long Firehose keeps events: about a day. */
const KEPT_MILLIS = 24 * 3_600_000

/** In minutes or hours, a minute more than asked for, and at most the day that is kept. */
const windowOf = (millis: number): string => {
  const minutes = Math.ceil(millis / 60_000) + 1
  return minutes < 60 ? `${minutes}m` : `${Math.min(24, Math.ceil(minutes / 60))}h`
}
