/** Splits a byte stream into lines. */
import { Chunk, Stream } from "effect"

/** Longer lines are skipped. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

/**
 * Lines end in LF or CRLF, which is removed. An unterminated last line is dropped: the connection broke inside it.
 * Invalid UTF-8 becomes U+FFFD.
 */
export const lines = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    const splitter = new Splitter()
    return Stream.mapConcatChunk(bytes, (chunk) => Chunk.unsafeFromArray(splitter.push(chunk)))
  })

// ---- helpers ----

class Splitter {
  private pending: Array<Uint8Array> = []
  private size = 0
  private readonly decoder = new TextDecoder()

  push(bytes: Uint8Array): Array<string> {
    const found: Array<string> = []
    let start = 0
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      const line = this.take(bytes.subarray(start, end))
      if (line !== undefined) found.push(line)
      start = end + 1
    }
    this.keep(bytes.subarray(start))
    return found
  }

  private keep(bytes: Uint8Array): void {
    this.size += bytes.length
    if (this.size > MAX_LINE_BYTES) this.pending = []
    else if (bytes.length > 0) this.pending.push(bytes)
  }

  private take(last: Uint8Array): string | undefined {
    this.keep(last)
    const isTooLong = this.size > MAX_LINE_BYTES
    const text = isTooLong ? undefined : this.pending.map((part) => this.decoder.decode(part, streaming)).join("")
    const rest = this.decoder.decode()
    this.pending = []
    this.size = 0
    return text === undefined ? undefined : (text + rest).replace(/\r$/, "")
  }
}

const LF = 0x0a
const streaming = { stream: true }
