/** From lines to server-sent events, by the rules of the HTML standard and within bounds. */
import { Chunk, Option, Stream } from "effect"

export interface SseEvent {
  /** Absent when this event has none of its own, or none that a header could carry back. */
  readonly id?: string
  /** Empty when it is not given. */
  readonly name: string
  /** Empty when it is not given, and when it is too long to be kept. */
  readonly data: string
}

/** An event that no empty line has ended is left out: the connection was cut in it. */
export const sseEvents = <E>(lines: Stream.Stream<string, E>): Stream.Stream<SseEvent, E> =>
  Stream.suspend(() => {
    const collector = new Collector()
    return Stream.mapChunks(
      lines,
      Chunk.filterMap((line) => collector.push(line))
    )
  })

// ---- helpers ----

/** Of the data of one event, in characters. */
const MOST_CHARACTERS = 16 * 1024 * 1024

const ID = /^[\x21-\x7e]{1,200}$/

class Collector {
  private id: string | undefined
  private name = ""
  private data: Array<string> = []
  private size = 0
  private isEmpty = true

  /** The event that the line ends, if it does. */
  push(line: string): Option.Option<SseEvent> {
    if (line === "") return this.take()
    const colon = line.indexOf(":")
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (field === "id") this.id = ID.test(value) ? value : undefined
    else if (field === "event") this.name = value
    else if (field === "data") this.keep(value)
    // Comments, `retry` and what is not known.
    else return Option.none()
    this.isEmpty = false
    return Option.none()
  }

  private keep(value: string): void {
    this.size += value.length + 1
    if (this.size <= MOST_CHARACTERS) this.data.push(value)
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
