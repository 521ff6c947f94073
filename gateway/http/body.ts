/** Reads request bodies within their size limit. */
import { Either } from "effect"
import { parseProblem } from "../../core/text/json.ts"
import { joined } from "../../core/text/LineSplitter.ts"
import { turnWithRoom } from "../../core/work/turns.ts"
import { bodyTooLarge, type RequestError, unreadableBody, wrongContentType } from "../errors.ts"

/** Limit of a JSON body. */
export const MAX_BODY_BYTES = 1_048_576

export const JSON_TYPE = "application/json"

const EMPTY = `Request body is empty: send JSON as ${JSON_TYPE}`

/** The content type of the request, if it is an expected one. `hint` is added to the error. */
export const contentType = <T extends string>(
  request: Request,
  expected: ReadonlyArray<T>,
  hint?: string
): Either.Either<T, RequestError> => {
  const actual = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? null
  return Either.fromNullable(
    expected.find((type) => type === actual),
    () => wrongContentType(actual, expected, hint)
  )
}

/** Stops reading at the limit. */
export const readBytes = async (request: Request, limit: number): Promise<Either.Either<Uint8Array, RequestError>> => {
  const declared = Number(request.headers.get("content-length") ?? 0)
  if (declared > limit) return Either.left(bodyTooLarge(limit, declared))
  const bytes = await collect(request, limit).catch(() => "incomplete" as const)
  if (bytes === "incomplete") return Either.left(unreadableBody("Request body ended before it was complete"))
  return bytes === "too large" ? Either.left(bodyTooLarge(limit)) : Either.right(bytes)
}

export const readText = async (request: Request): Promise<Either.Either<string, RequestError>> => {
  const bytes = await readBytes(request, MAX_BODY_BYTES)
  // The bodies of several requests can be complete in the same turn of the event loop.
  if (Either.isRight(bytes) && bytes.right.length > LARGE_BODY_BYTES) await turnWithRoom()
  return Either.flatMap(bytes, (bytes) =>
    Either.mapLeft(decodeText(bytes), () => unreadableBody("Request body is not valid UTF-8"))
  )
}

export const decodeText = (bytes: Uint8Array): Either.Either<string, "not UTF-8"> =>
  Either.try({ try: () => utf8.decode(bytes), catch: () => "not UTF-8" as const })

/** `empty` is the message for an empty text. */
export const parseJson = (text: string, empty = EMPTY): Either.Either<unknown, RequestError> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) => unreadableBody(text.trim() === "" ? empty : malformed(cause))
  })

export const malformed = (cause: unknown): string => `Request body is not valid JSON: ${parseProblem(cause)}`

/** `allIsOptional`: `{}` is a valid body. */
export const readJson = async (
  request: Request,
  { allIsOptional }: { readonly allIsOptional: boolean }
): Promise<Either.Either<unknown, RequestError>> => {
  const empty = allIsOptional ? `${EMPTY}, or {} for the defaults` : EMPTY
  const type = contentType(request, [JSON_TYPE])
  if (Either.isRight(type)) return Either.flatMap(await readText(request), (text) => parseJson(text, empty))
  // A request without a body often has no content type: the missing body is the better message.
  return Either.left(isBodiless(request) ? unreadableBody(empty) : type.left)
}

// ---- helpers ----

/** To decode and parse this takes about a millisecond. */
const LARGE_BODY_BYTES = 65_536

const isBodiless = ({ headers }: Request): boolean =>
  (headers.get("content-length") ?? "0") === "0" && !headers.has("transfer-encoding")

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The declared length was checked before, and the server enforces it. */
const collect = async (request: Request, limit: number): Promise<Uint8Array | "too large"> => {
  if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer())
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > limit) return "too large"
    chunks.push(chunk)
  }
  return joined(chunks)
}
