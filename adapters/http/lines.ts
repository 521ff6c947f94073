/** Splits a byte stream into lines of text. */
import { Stream } from "effect"
import { type Line, LineSplitter } from "../../core/text/LineSplitter.ts"

/** A longer line becomes `TOO_LONG`. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

/** No reader takes it for a record, or for an empty line. */
export const TOO_LONG = "(a line of more than 16 MiB)"

/**
 * Lines end in LF or CRLF, which is removed. A stream that ends without a failure may leave out the last LF. Invalid
 * UTF-8 becomes U+FFFD.
 */
export const lines = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    const splitter = new LineSplitter(MAX_LINE_BYTES)
    const decoder = new TextDecoder()
    const textsOf = (found: Iterable<Line>): ReadonlyArray<string> =>
      [...found].map((line) => (line.isTooLong ? TOO_LONG : decoder.decode(line.bytes).replace(/\r$/, "")))
    return Stream.concat(
      Stream.mapConcat(bytes, (chunk) => textsOf(splitter.push(chunk))),
      Stream.suspend(() => Stream.fromIterable(textsOf(splitter.end())))
    )
  })
