/**
 * HTTP calls, limited in time and size. Every failure is an `Unreachable`. Not the `HttpClient` of `@effect/platform`,
 * which does not limit the size of a response.
 */
import { Data, Duration, Effect, Option, type Scope, Stream } from "effect"
import { type Line, LineSplitter } from "../../core/text/LineSplitter.ts"
import { Fetch } from "./Fetch.ts"
import { reasonOf } from "./reasons.ts"

/** The upstream did not answer, or its response could not be read completely. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A streaming response. The body can be read until the scope closes. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Stream.Stream<Uint8Array, Unreachable>
}

/** Time until the response headers, and until the end of a body that is not a stream. */
const TIMEOUT = Duration.seconds(30)

const MAX_BYTES = 32 * 1024 * 1024

export const call = (request: Request): Effect.Effect<Answer, Unreachable> =>
  Effect.scoped(Effect.flatMap(open(request), read)).pipe(
    Effect.timeoutFail({
      duration: TIMEOUT,
      onTimeout: () => new Unreachable({ reason: "it did not answer in time" })
    })
  )

/** Closing the scope closes the connection. Redirects are not followed: they would receive the token. */
export const open = (request: Request): Effect.Effect<OpenAnswer, Unreachable, Scope.Scope> =>
  Effect.gen(function* () {
    const { send } = yield* Fetch
    const abort = new AbortController()
    // One object keeps both alive: on Node, the signal of a garbage-collected request never fires.
    const sent = { abort, request: new Request(request, { signal: abort.signal, redirect: "manual" }) }
    const response = yield* Effect.acquireReleaseInterruptible(
      Effect.tryPromise({
        try: () => send(sent.request),
        catch: (cause) => new Unreachable({ reason: reasonOf(cause) })
      }),
      () => Effect.sync(() => sent.abort.abort())
    ).pipe(
      Effect.timeoutFail({
        duration: TIMEOUT,
        onTimeout: () => new Unreachable({ reason: "it did not answer in time" })
      })
    )
    const reader = response.body?.getReader()
    // The abort signal alone only ends a pending read.
    yield* Effect.addFinalizer(() => Effect.sync(() => void reader?.cancel().catch(() => undefined)))
    return { status: response.status, headers: response.headers, bytes: bytesOf(reader) }
  })

/** Reads a whole body as text. */
export const read = ({ status, headers, bytes }: OpenAnswer): Effect.Effect<Answer, Unreachable> =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    let text = ""
    let size = 0
    yield* Stream.runForEach(bytes, (chunk) => {
      size += chunk.length
      text += decoder.decode(chunk, { stream: true })
      return size <= MAX_BYTES ? Effect.void : new Unreachable({ reason: `its response exceeds ${MAX_BYTES} bytes` })
    })
    return { status, headers, text: text + decoder.decode() }
  }).pipe(
    Effect.timeoutFail({ duration: TIMEOUT, onTimeout: () => new Unreachable({ reason: "its response did not end" }) })
  )

/** No reader takes it for a record, or for an empty line. */
export const TOO_LONG = "(a line of more than 16 MiB)"

/**
 * Reads a body as lines of text. They end in LF or CRLF, which is removed. A stream that ends without a failure may leave
 * out the last LF. Invalid UTF-8 becomes U+FFFD.
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

// ---- helpers ----

/** A longer line becomes `TOO_LONG`. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

const bytesOf = (
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined
): Stream.Stream<Uint8Array, Unreachable> => {
  if (reader === undefined) return Stream.empty
  const next = Effect.tryPromise({
    try: () => reader.read(),
    catch: (cause) => Option.some(new Unreachable({ reason: reasonOf(cause) }))
  }).pipe(Effect.flatMap(({ value }) => (value === undefined ? Effect.fail(Option.none()) : Effect.succeed(value))))
  return Stream.repeatEffectOption(next)
}
