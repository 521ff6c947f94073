/** Splits a stream of bytes into numbered lines. Blank lines are skipped. */

export interface Line {
  /** Counted from 1, including blank lines. */
  readonly number: number
  /** Without the line feed; empty if the line is too long. */
  readonly bytes: Uint8Array
  readonly isTooLong: boolean
  /** Offset in the input, in bytes, after this line. */
  readonly end: number
}

/** The server's limit. Longer lines are not buffered. */
export const MAX_LINE_BYTES = 1_048_576

export interface LineSplitter {
  /** Returns the lines that end in this chunk. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Line>
  /** Returns the last line, if it does not end with a line feed. */
  readonly end: () => ReadonlyArray<Line>
}

export const lineSplitter = (): LineSplitter => {
  let number = 1
  let read = 0
  let size = 0
  let parts: Array<Uint8Array> = []

  const add = (part: Uint8Array) => {
    size += part.length
    read += part.length
    if (size > MAX_LINE_BYTES) parts = []
    else if (part.length > 0) parts.push(part)
  }

  const finish = (): ReadonlyArray<Line> => {
    const line = { number, bytes: joined(parts), isTooLong: size > MAX_LINE_BYTES, end: read }
    number++
    size = 0
    parts = []
    return line.isTooLong || !isBlank(line.bytes) ? [line] : []
  }

  return {
    push: (chunk) => {
      const lines: Array<Line> = []
      let start = 0
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        add(chunk.subarray(start, end))
        read++
        start = end + 1
        lines.push(...finish())
      }
      add(chunk.subarray(start))
      return lines
    },
    end: () => (size === 0 ? [] : finish())
  }
}

/** The lines as NDJSON. */
export const bodyOf = (lines: ReadonlyArray<Line>): Uint8Array<ArrayBuffer> =>
  joined(lines.flatMap(({ bytes }) => [bytes, END]))

// ---- helpers ----

const LINE_FEED = 10
const RETURN = 13
const SPACE = 32
const TAB = 9
const END = new Uint8Array([LINE_FEED])

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === SPACE || byte === TAB || byte === RETURN)
