/** The write buffer of a log of events. */
import type { LoggedEvent, LogId, Segment } from "./EventLog.ts"

export const SEGMENT_EVENTS = 500

export class Backlog {
  readonly log: LogId
  /** As large as the log, so that a burst of that size is kept whole. */
  private readonly limit: number
  private events: Array<LoggedEvent> = []
  private size = 0
  private missed = 0

  constructor(log: LogId, limit: number) {
    this.log = log
    this.limit = limit
  }

  get isEmpty(): boolean {
    return this.events.length === 0
  }

  /** Returns the number of events dropped. */
  add(records: ReadonlyArray<unknown>, receivedAt: number): number {
    for (const record of records) {
      const json = toJson(record)
      if (json === undefined) this.missed++
      else this.push({ receivedAt, json })
    }
    return this.dropExcess()
  }

  take(): Segment | undefined {
    let count = 0
    let size = 0
    for (const { json } of this.events) {
      if (count === SEGMENT_EVENTS || (count > 0 && size + json.length > SEGMENT_SIZE)) break
      count++
      size += json.length
    }
    if (count === 0) return undefined
    const segment = { events: this.events.splice(0, count), missed: this.missed }
    this.size -= size
    this.missed = 0
    return segment
  }

  /** For a segment that could not be written. Returns the number of events dropped. */
  putBack({ events, missed }: Segment): number {
    const newer = this.events
    this.events = []
    this.size = 0
    for (const event of [...events, ...newer]) this.push(event)
    this.missed += missed
    return this.dropExcess()
  }

  /** `share`: the part of the largest buffer that this one may use. Returns the number of events dropped. */
  dropExcess(share = 1): number {
    let count = 0
    for (const { json } of this.events) {
      if (this.events.length - count <= this.limit && this.size <= MAX_SIZE * share) break
      this.size -= json.length
      count++
    }
    this.events.splice(0, count)
    this.missed += count
    return count
  }
  private push(event: LoggedEvent): void {
    this.events.push(event)
    this.size += event.json.length
  }
}

// ---- helpers ----

/** In characters. */
const MAX_SIZE = 16 * 1024 * 1024

const SEGMENT_SIZE = 1024 * 1024

/** Undefined for a value that JSON cannot represent. */
const toJson = (record: unknown): string | undefined => {
  try {
    return JSON.stringify(record)
  } catch {
    return undefined
  }
}
