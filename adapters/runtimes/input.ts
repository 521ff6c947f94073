/** Reads a file or standard input, on Node and on Deno. */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import process from "node:process"
import type { Readable } from "node:stream"
import { Data, Effect, Option, type Scope, Stream } from "effect"

export class CannotRead extends Data.TaggedError("CannotRead")<{ readonly name: string; readonly cause: unknown }> {
  override get message() {
    const code = this.cause instanceof Error && "code" in this.cause ? String(this.cause.code) : String(this.cause)
    return `Cannot read ${this.name}: ${reasons[code] ?? code}`
  }
}

export interface Input {
  /** For messages. */
  readonly name: string
  /** In bytes, if known in advance. */
  readonly size: Option.Option<number>
  readonly chunks: Stream.Stream<Uint8Array, CannotRead>
}

/** `-` is standard input. Closed with the scope. */
export const open = (path: string): Effect.Effect<Input, CannotRead, Scope.Scope> =>
  Effect.gen(function* () {
    if (path === "-") return inputOf("standard input", Option.none(), yield* closing(() => process.stdin))
    const name = `"${path}"`
    const about = yield* Effect.tryPromise({
      try: () => stat(path),
      catch: (cause) => new CannotRead({ name, cause })
    })
    if (about.isDirectory()) return yield* new CannotRead({ name, cause: "it is a folder" })
    const size = about.isFile() ? Option.some(about.size) : Option.none()
    return inputOf(name, size, yield* closing(() => createReadStream(path, { highWaterMark: CHUNK_BYTES })))
  })

// ---- helpers ----

const CHUNK_BYTES = 262_144

const closing = (stream: () => Readable) =>
  Effect.acquireRelease(Effect.sync(stream), (opened) => Effect.sync(() => opened.destroy()))

const inputOf = (name: string, size: Option.Option<number>, stream: Readable): Input => {
  const iterator: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]()
  // Not `Stream.fromAsyncIterable`: on interruption it waits for the next chunk, which may never come.
  const next = Effect.tryPromise({
    try: () => iterator.next(),
    catch: (cause) => Option.some(new CannotRead({ name, cause }))
  })
  const chunks = Stream.repeatEffectOption(
    Effect.flatMap(next, ({ done, value }) => (done === true ? Effect.fail(Option.none()) : Effect.succeed(value)))
  )
  return { name, size, chunks }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "not permitted",
  EPERM: "not permitted",
  EISDIR: "it is a folder"
}
