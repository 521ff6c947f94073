/** Calls to an upstream: bounded in time and size, and every way in which they fail is one error. */
import { Data, Duration, Effect, Option, type Scope, Stream } from "effect"
import { Fetch } from "./Fetch.ts"
import { reasonOf } from "./reasons.ts"

/** No answer, or none that can be read to its end. */
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

/** An answer whose body comes for as long as the scope is open. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Stream.Stream<Uint8Array, Unreachable>
}

/** How long an upstream may take to begin its answer, and to end one that is not a stream. */
const PATIENCE = Duration.seconds(30)

/** Upstream bodies are hostile. */
const MOST_BYTES = 32 * 1024 * 1024

export const call = (request: Request): Effect.Effect<Answer, Unreachable> =>
  Effect.scoped(Effect.flatMap(open(request), read)).pipe(
    Effect.timeoutFail({
      duration: PATIENCE,
      onTimeout: () => new Unreachable({ reason: "it did not answer in time" })
    })
  )

/** The connection is given up when the scope closes. Redirects are not followed: they would carry the token along. */
export const open = (request: Request): Effect.Effect<OpenAnswer, Unreachable, Scope.Scope> =>
  Effect.gen(function* () {
    const { send } = yield* Fetch
    const leaving = new AbortController()
    // Together, so that both live until then: on Node the signal of a request that was collected never fires.
    const sent = { leaving, request: new Request(request, { signal: leaving.signal, redirect: "manual" }) }
    const response = yield* Effect.acquireReleaseInterruptible(
      Effect.tryPromise({
        try: () => send(sent.request),
        catch: (cause) => new Unreachable({ reason: reasonOf(cause) })
      }),
      () => Effect.sync(() => sent.leaving.abort())
    ).pipe(
      Effect.timeoutFail({
        duration: PATIENCE,
        onTimeout: () => new Unreachable({ reason: "it did not answer in time" })
      })
    )
    const reader = response.body?.getReader()
    // Not by the signal alone, which tells only whoever waits for the next read.
    yield* Effect.addFinalizer(() => Effect.sync(() => void reader?.cancel().catch(() => undefined)))
    return { status: response.status, headers: response.headers, bytes: bytesOf(reader) }
  })

/** The body of an answer that is not a stream. */
export const read = ({ status, headers, bytes }: OpenAnswer): Effect.Effect<Answer, Unreachable> =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    let text = ""
    let size = 0
    yield* Stream.runForEach(bytes, (chunk) => {
      size += chunk.length
      text += decoder.decode(chunk, { stream: true })
      return size <= MOST_BYTES ? Effect.void : new Unreachable({ reason: `it answered more than ${MOST_BYTES} bytes` })
    })
    return { status, headers, text: text + decoder.decode() }
  }).pipe(
    Effect.timeoutFail({ duration: PATIENCE, onTimeout: () => new Unreachable({ reason: "its answer did not end" }) })
  )

// ---- helpers ----

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
