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

  /** How to ask for what follows. The first time without an id it is what happens from then on. */
  asked(now: number): Required<Pick<UpstreamCall, "headers" | "query">> {
    if (this.id !== undefined) return { headers: { "last-event-id": this.id }, query: {} }
    const { since } = this
    this.since ??= now
    return { headers: {}, query: since === undefined ? {} : { since: windowOf(now - since) } }
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

/** In minutes or hours, a minute more than asked for, and at most the day that is kept. */
const windowOf = (millis: number): string => {
  const minutes = Math.ceil(millis / 60_000) + 1
  return minutes < 60 ? `${minutes}m` : `${Math.min(24, Math.ceil(minutes / 60))}h`
}
