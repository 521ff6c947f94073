/** Reading request bodies: never more than allowed, and only what is text. */
import { Either } from "effect"
import { bodyTooLarge, type RequestError, unreadableBody, wrongContentType } from "./errors.ts"

export const MAX_BODY_BYTES = 1_048_576

export const JSON_TYPE = "application/json"

/** The content type of the request, if it is one of these. */
export const contentType = <T extends string>(
  request: Request,
  expected: ReadonlyArray<T>
): Either.Either<T, RequestError> => {
  const actual = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? null
  return Either.fromNullable(
    expected.find((type) => type === actual),
    () => wrongContentType(actual, expected)
  )
}

/** The whole body as text; stops reading at the limit. */
export const readText = async (request: Request): Promise<Either.Either<string, RequestError>> => {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) {
    return Either.left(bodyTooLarge(MAX_BODY_BYTES))
  }
  const bytes = await readBytes(request).catch(() => "cut" as const)
  if (bytes === "cut") return Either.left(unreadableBody("Request body ended before it was complete"))
  if (bytes === "too large") return Either.left(bodyTooLarge(MAX_BODY_BYTES))
  return Either.try({ try: () => utf8.decode(bytes), catch: () => unreadableBody("Request body is not valid UTF-8") })
}

export const parseJson = (text: string): Either.Either<unknown, RequestError> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) => unreadableBody(text.trim() === "" ? "Request body is empty: send JSON" : malformed(cause))
  })

export const readJson = async (request: Request): Promise<Either.Either<unknown, RequestError>> => {
  const type = contentType(request, [JSON_TYPE])
  return Either.isLeft(type) ? Either.left(type.left) : Either.flatMap(await readText(request), parseJson)
}

// ---- helpers ----

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** A declared length has been checked before and cannot be exceeded. */
const readBytes = async (request: Request): Promise<Uint8Array | "too large"> => {
  if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer())
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) return "too large"
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
