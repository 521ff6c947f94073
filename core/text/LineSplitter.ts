/** Splits bytes that arrive in chunks into lines. */

export interface Line {
  /** From 1. */
  readonly number: number
  /** Without the LF; empty if the line is too long. */
  readonly bytes: Uint8Array
  readonly isTooLong: boolean
  /** Offset of the next line in the input. */
  readonly end: number
}

/** Keeps at most `maxBytes` of an unfinished line, so that no input can fill the memory. */
export class LineSplitter {
  private readonly maxBytes: number
  private parts: Array<Uint8Array> = []
  private size = 0
  private offset = 0
  private number = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** The lines that end in this chunk. Iterate to the end before the next call. */
  *push(chunk: Uint8Array): Generator<Line, void> {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.add(chunk.subarray(start, end))
      this.offset++
      start = end + 1
      yield this.take()
    }
    this.add(chunk.subarray(start))
  }

  /** The last line, if it does not end in LF. */
  end(): ReadonlyArray<Line> {
    return this.size === 0 ? [] : [this.take()]
  }

  private add(part: Uint8Array): void {
    this.size += part.length
    this.offset += part.length
    if (this.size > this.maxBytes) this.parts = []
    else if (part.length > 0) this.parts.push(part)
  }

  private take(): Line {
    const [first, second] = this.parts
    const bytes = first !== undefined && second === undefined ? first : joined(this.parts)
    const line = { number: ++this.number, bytes, isTooLong: this.size > this.maxBytes, end: this.offset }
    this.parts = []
    this.size = 0
    return line
  }
}

/** All lines of one piece of bytes. Lazy. */
export function* linesOf(bytes: Uint8Array): Generator<Line, void> {
  const splitter = new LineSplitter(bytes.length)
  yield* splitter.push(bytes)
  yield* splitter.end()
}

export const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Without leading spaces, tabs and CRs: empty for a blank line. */
export const withoutIndent = (line: Uint8Array): Uint8Array => {
  const start = line.findIndex((byte) => byte !== SPACE && byte !== TAB && byte !== CR)
  return line.subarray(start < 0 ? line.length : start)
}

// ---- helpers ----

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
