/** Lines of a byte stream, also when it ends inside one. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { lines, TOO_LONG } from "../../../adapters/http/call.ts"
import { sseEvents } from "../../../adapters/http/sse.ts"

const bytesOf = (...parts: ReadonlyArray<string>) =>
  Stream.fromIterable(parts.map((part) => new TextEncoder().encode(part)))

const linesOf = (...parts: ReadonlyArray<string>) =>
  Effect.map(Stream.runCollect(lines(bytesOf(...parts))), Chunk.toReadonlyArray)

describe("lines", () => {
  it.effect("end in LF or CRLF, at any position of the chunks", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* linesOf("a\r", "\nb\nc", "", "d\n\n"), ["a", "b", "cd", ""])
    })
  )

  it.effect("include a last line without a newline when the stream ends", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* linesOf("a\nb", "c"), ["a", "bc"])
      assert.deepStrictEqual(yield* linesOf("a\n"), ["a"])
    })
  )

  it.effect("name a line that is too long, and go on after it", () =>
    Effect.gen(function* () {
      const part = "x".repeat(6 * 1024 * 1024)
      assert.deepStrictEqual(yield* linesOf("a\n", part, part, part, "\nb\n"), ["a", TOO_LONG, "b"])
    })
  )

  it.effect("leave out a line inside which the stream fails", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const broken = Stream.concat(bytesOf("a\nb"), Stream.fail("cut"))
      const error = yield* Effect.flip(Stream.runForEach(lines(broken), (line) => Effect.sync(() => seen.push(line))))
      assert.deepStrictEqual([error, seen], ["cut", ["a"]])
    })
  )

  it.effect("of server-sent events: an incomplete event at the end is dropped", () =>
    Effect.gen(function* () {
      const events = yield* Stream.runCollect(sseEvents(lines(bytesOf("data: a\n\nevent: update\ndata: b"))))
      assert.deepStrictEqual(Chunk.toReadonlyArray(events), [{ name: "", data: "a" }])
    })
  )
})
