/** The lines of a recorded stream, without blank ones. */

import { MAX_EVENT_BYTES } from "../core/platforms/LocalFeed.ts"
import { joined, type Line, LineSplitter, withoutIndent } from "../core/text/LineSplitter.ts"

export interface EventLines {
  /** Returns the lines that end in this chunk. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Line>
  /** Returns the last line, if it does not end with a line feed. */
  readonly end: () => ReadonlyArray<Line>
}

export const eventLines = (): EventLines => {
  const splitter = new LineSplitter(MAX_EVENT_BYTES)
  return {
    push: (chunk) => [...splitter.push(chunk)].filter(isNotBlank),
    end: () => splitter.end().filter(isNotBlank)
  }
}

/** The lines as NDJSON. */
export const bodyOf = (lines: ReadonlyArray<Line>): Uint8Array<ArrayBuffer> =>
  joined(lines.flatMap(({ bytes }) => [bytes, END]))

// ---- helpers ----

const END = new Uint8Array([10])

const isNotBlank = ({ bytes, isTooLong }: Line): boolean => isTooLong || withoutIndent(bytes).length > 0
