/** The place in the stream: after the last message, by its number, which counts on one host only, and by its time. */
import { Option } from "effect"

export interface Place {
  readonly seq: number
  /** In milliseconds. */
  readonly at: number
}

export class Position {
  private readonly host: string
  private last: Place | undefined
  /** The number is of another host, or the host no longer has it. */
  private isByTime = false

  constructor(host: string, from: Option.Option<string>) {
    this.host = host
    const [, seq, at, other] = /^(\d{1,15}) (\d{1,15}) (\S+)$/.exec(Option.getOrElse(from, () => "")) ?? []
    if (seq === undefined) return
    this.last = { seq: Number(seq), at: Number(at) }
    this.isByTime = other !== host
  }

  /** `after`: messages up to this number were read before. `at`: all later messages are asked for, in milliseconds. */
  get resume(): { readonly cursor: number; readonly at: number; readonly after?: number } | undefined {
    if (this.last === undefined) return undefined
    const { seq, at } = this.last
    return this.isByTime ? { cursor: (at - OVERLAP_MILLIS) * 1_000, at } : { cursor: seq, at, after: seq }
  }

  advance(place: Place): void {
    this.last = place
    this.isByTime = false
  }

  /** Resumes by time, as the host does not accept the number. False if it did so before. */
  reset(): boolean {
    const hadNumber = this.last !== undefined && !this.isByTime
    this.isByTime = true
    return hadNumber
  }

  /** `before`: as if this message was not read yet. */
  cursor(before?: Place): string | undefined {
    const place = before === undefined ? this.last : { ...before, seq: before.seq - 1 }
    return place === undefined || this.isByTime ? undefined : `${place.seq} ${place.at} ${this.host}`
  }
}

// ---- helpers ----

/** Hosts see messages at slightly different times. */
const OVERLAP_MILLIS = 10_000
