/**
 * The position in the stream of changes. The id of an event as it is would lose events: others have the same
 * millisecond, times run backwards, and `offset: -1` of the idle data centre means "newest". So every topic resumes some
 * seconds before what was seen, and what was received already is dropped.
 */
import { Option } from "effect"
import { jsonOf, numberOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"

export class Position {
  /** By name and partition, as the platform names them. */
  private readonly topics = new Map<string, { readonly topic: string; readonly partition: number }>()
  /** Of the newest event: its time in Kafka, in milliseconds, and its id. */
  private newest: { readonly at: number; readonly id: string } | undefined
  /** Where to resume, in milliseconds. */
  private from: number | undefined
  private isRejected = false

  constructor(cursor: Option.Option<string>) {
    const stored = objectOf(jsonOf(Option.getOrElse(cursor, () => "")))
    const [from, at] = [numberOf(stored?.["from"]), numberOf(stored?.["at"])]
    if (from === undefined || at === undefined) return
    this.from = from
    this.newest = { at, id: textOf(stored?.["id"]) ?? "" }
    this.addTopics(stored?.["topics"])
  }

  /** For the store. None before the first event. */
  get cursor(): Option.Option<string> {
    if (this.from === undefined || this.newest === undefined) return Option.none()
    return Option.some(JSON.stringify({ from: this.from, ...this.newest, topics: [...this.topics.values()] }))
  }

  /** The last event before the connection. */
  get last(): { readonly at: number; readonly id: string } | undefined {
    return this.newest
  }

  /** Request parameters that resume the stream. `since`: time of the oldest event that it sends, in milliseconds. */
  resume(): {
    readonly headers: Readonly<Record<string, string>>
    readonly query: string
    readonly since?: number
  } {
    const { from } = this
    if (from === undefined) return { headers: {}, query: "" }
    if (this.isRejected || this.topics.size === 0) return { headers: {}, query: `?since=${from}`, since: from }
    const id = [...this.topics.values()].map((topic) => ({ ...topic, timestamp: from }))
    return { headers: { "last-event-id": JSON.stringify(id) }, query: "", since: from }
  }

  /** `id`: of the server-sent event. Returns the time of the event in Kafka, in milliseconds. */
  advance(id: string | undefined, event: { readonly id: string; readonly at: number }): number {
    const entries = objectsOf(jsonOf(id ?? ""))
    const times = entries.flatMap(({ timestamp }) => numberOf(timestamp) ?? [])
    this.addTopics(entries)
    const at = times.length === 0 ? event.at : Math.max(...times)
    if (this.newest === undefined || at >= this.newest.at) this.newest = { at, id: event.id }
    // A topic in which nothing happens has an old time, and nothing from since then to send.
    const oldest = Math.max(Math.min(at, ...times), this.newest.at - MAX_SKEW_MILLIS)
    this.from = Math.max(this.from ?? 0, oldest - MARGIN_MILLIS)
    return at
  }

  /** The platform does not accept the id that we send: the next connections resume by time alone. */
  reject(): boolean {
    const isNew = !this.isRejected && this.from !== undefined
    this.isRejected = true
    return isNew
  }

  private addTopics(entries: unknown): void {
    for (const entry of objectsOf(entries)) {
      const topic = textOf(entry["topic"])
      const partition = numberOf(entry["partition"])
      if (topic === undefined || partition === undefined || this.topics.size >= MAX_TOPICS) continue
      this.topics.set(`${topic} ${partition}`, { topic, partition })
    }
  }
}

// ---- helpers ----

/** Times run backwards by some milliseconds, and two data centres are not in step. */
const MARGIN_MILLIS = 10_000
const MAX_SKEW_MILLIS = 60_000

/** One for each data centre today. */
const MAX_TOPICS = 16
