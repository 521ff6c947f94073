/** Parses lines into server-sent events, by the HTML standard, with size limits. */
import { Chunk, Option, Stream } from "effect"

export interface SseEvent {
  /** Absent when the event has no id, or one that cannot be sent back in a header. */
  readonly id?: string
  /** Empty when absent. */
  readonly name: string
  /** Empty when absent or too long. */
  readonly data: string
}

/** Drops an unterminated last event: the connection broke inside it. */
export const sseEvents = <E>(lines: Stream.Stream<string, E>): Stream.Stream<SseEvent, E> =>
  Stream.suspend(() => {
    const collector = new Collector()
    return Stream.mapChunks(
      lines,
      Chunk.filterMap((line) => collector.push(line))
    )
  })

// ---- helpers ----

const MAX_DATA_CHARACTERS = 16 * 1024 * 1024

const idPattern = /^[\x21-\x7e]{1,200}$/

class Collector {
  private id: string | undefined
  private name = ""
  private data: Array<string> = []
  private size = 0
  private isEmpty = true

  /** Returns the event when the line completes it. */
  push(line: string): Option.Option<SseEvent> {
    if (line === "") return this.take()
    const colon = line.indexOf(":")
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (field === "id") this.id = idPattern.test(value) ? value : undefined
    else if (field === "event") this.name = value
    else if (field === "data") this.keep(value)
    // Comments, `retry` and unknown fields.
    else return Option.none()
    this.isEmpty = false
    return Option.none()
  }

  private keep(value: string): void {
    this.size += value.length + 1
    if (this.size <= MAX_DATA_CHARACTERS) this.data.push(value)
    else this.data = []
  }

  private take(): Option.Option<SseEvent> {
    const { id, name, data, isEmpty } = this
    this.id = undefined
    this.name = ""
    this.data = []
    this.size = 0
    this.isEmpty = true
    return isEmpty ? Option.none() : Option.some({ ...(id !== undefined && { id }), name, data: data.join("\n") })
  }
}
