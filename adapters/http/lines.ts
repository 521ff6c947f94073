/** Splits a byte stream into lines of text. */
import { Stream } from "effect"
import { LineSplitter } from "../../core/text/LineSplitter.ts"

/** Longer lines are skipped. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

/**
 * Lines end in LF or CRLF, which is removed. An unterminated last line is dropped: the connection broke inside it.
 * Invalid UTF-8 becomes U+FFFD.
 */
export const lines = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    const splitter = new LineSplitter(MAX_LINE_BYTES)
    const decoder = new TextDecoder()
    return Stream.mapConcat(bytes, (chunk) =>
      [...splitter.push(chunk)].flatMap((line) =>
        line.isTooLong ? [] : [decoder.decode(line.bytes).replace(/\r$/, "")]
      )
    )
  })
