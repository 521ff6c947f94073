/** Reading request bodies: never more than allowed, and only what is text. */
import { Effect } from "effect"
import { bodyTooLarge, type RequestError, unreadableBody, wrongContentType } from "./errors.ts"

export const MAX_BODY_BYTES = 1_048_576

const JSON_TYPE = "application/json"

export const contentType = (request: Request): string | null =>
  request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? null

export const requireType = (request: Request, expected: ReadonlyArray<string>): Effect.Effect<void, RequestError> => {
  const actual = contentType(request)
  return actual !== null && expected.includes(actual) ? Effect.void : wrongContentType(actual, expected)
}

/** The whole body as text; stops reading at the limit. */
export const readText = (request: Request): Effect.Effect<string, RequestError> =>
  Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES
    ? bodyTooLarge(MAX_BODY_BYTES)
    : Effect.flatMap(
        Effect.tryPromise({
          try: () => readBytes(request),
          catch: () => unreadableBody("Request body ended before it was complete")
        }),
        (bytes) => (bytes === undefined ? bodyTooLarge(MAX_BODY_BYTES) : decodeUtf8(bytes))
      )

export const parseJson = (text: string): Effect.Effect<unknown, RequestError> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) => unreadableBody(text.trim() === "" ? "Request body is empty: send JSON" : malformed(cause))
  })

export const readJson = (request: Request): Effect.Effect<unknown, RequestError> =>
  Effect.zipRight(requireType(request, [JSON_TYPE]), Effect.flatMap(readText(request), parseJson))

// ---- helpers ----

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decodeUtf8 = (bytes: Uint8Array) =>
  Effect.try({ try: () => utf8.decode(bytes), catch: () => unreadableBody("Request body is not valid UTF-8") })

/** Undefined when there is more than the limit. A declared length has been checked before and cannot be exceeded. */
const readBytes = async (request: Request): Promise<Uint8Array | undefined> => {
  if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer())
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

/** The engine's own words say where; they differ between engines and never quote more than a few characters. */
const malformed = (cause: unknown): string =>
  `Request body is not valid JSON: ${cause instanceof Error ? cause.message.slice(0, 200) : "it cannot be parsed"}`
