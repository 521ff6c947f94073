/** `POST /local/events`: callers publish events to the platforms that run in process. */
import { Effect, Either, Option } from "effect"
import { Idempotency } from "../../core/idempotency/Idempotency.ts"
import { InvalidArgument } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import {
  isGzip,
  LocalFeed,
  locationOf,
  MAX_EVENT_BYTES,
  type SentEvent,
  sentEvents,
  TOO_LONG
} from "../../core/platforms/LocalFeed.ts"
import { parseProblem } from "../../core/text/json.ts"
import { linesOf, withoutIndent } from "../../core/text/LineSplitter.ts"
import { type BadNumber, describeBadNumber, findBadNumber, numberProblem } from "../../core/text/numbers.ts"
import { type DoorFailure, unreadableBody } from "../errors.ts"
import { keyOf } from "../operations/idempotency.ts"
import { contentType, decodeText, JSON_TYPE, MAX_BODY_BYTES, parseJson, readBytes, readText } from "./body.ts"
import { type KeyedRoute, type OperatorRoute, replyOf } from "./route.ts"

export const EVENTS_PATH = "/local/events"

export const LINES_TYPE = "application/x-ndjson"

const MAX_LINES_BYTES = 32 * MAX_BODY_BYTES

export const localRoutes: ReadonlyArray<KeyedRoute<LocalFeed | Idempotency>> = [
  {
    method: "POST",
    path: EVENTS_PATH,
    scope: "write",
    read: async (request) => Either.map(await read(request), (sent) => (caller) => publish(sent, caller.account))
  }
]

/** Events for the rules of all accounts. */
export const sharedEventsRoute: OperatorRoute<LocalFeed | Idempotency> = {
  method: "POST",
  path: EVENTS_PATH,
  readOperators: async (request) => Either.map(await read(request), (sent) => publish(sent))
}

// ---- helpers ----

interface Body {
  readonly events: Iterable<SentEvent>
  /** Tells two bodies apart. */
  readonly content: unknown
}

interface Sent extends Body {
  readonly key: Option.Option<string>
}

/** Long: the events are stored in batches. After a crash all are sent again, and no match is stored twice. */
const publish = ({ key, events, content }: Sent, sender?: AccountId) => {
  const publishing = Effect.flatMap(LocalFeed, (feed) => feed.publish(events, sender))
  const request = { key, account: Option.fromNullable(sender), operation: "publishLocalEvents", content, isLong: true }
  return Effect.flatMap(Idempotency, ({ once }) => Effect.map(once(request, publishing), replyOf))
}

const read = async (request: Request): Promise<Either.Either<Sent, DoorFailure>> => {
  const key = keyOf(request)
  if (Either.isLeft(key)) return Either.left(key.left)
  return Either.map(await readEvents(request), (body) => ({ ...body, key: key.right }))
}

const readEvents = async (request: Request): Promise<Either.Either<Body, DoorFailure>> => {
  const type = contentType(request, [LINES_TYPE, JSON_TYPE], AS_LINES)
  if (Either.isLeft(type)) return Either.left(type.left)
  const body: Either.Either<Body, DoorFailure> =
    type.right === LINES_TYPE
      ? Either.map(Either.filterOrLeft(await readBytes(request, MAX_LINES_BYTES), isNotGzip, gzipped), (bytes) => ({
          events: eventLines(bytes),
          content: bytes
        }))
      : Either.map(Either.flatMap(await readText(request), parseEvents), (value) => ({
          events: eventsOf(value),
          content: value
        }))
  return Either.filterOrLeft(
    body,
    ({ events }) => isNotEmpty(events),
    () => unreadableBody(NO_EVENT)
  )
}

const parseEvents = (text: string): Either.Either<unknown, DoorFailure> => {
  const parsed = Either.mapLeft(parseJson(text), (error) =>
    isJsonSequence(text) ? unreadableBody(`${error.message}: ${AS_LINES}`) : error
  )
  const found = Either.isRight(parsed) ? findBadNumber(text) : undefined
  return found === undefined ? parsed : Either.left(invalidNumber(found, text))
}

/** `path` begins with the index of the event if the body is an array. */
const invalidNumber = ({ path, ...number }: BadNumber, body: string): InvalidArgument => {
  const [index, rest] = body.trimStart().startsWith("[") ? [Number(path[0]), path.slice(1)] : [0, path]
  return new InvalidArgument({
    issues: [{ path: locationOf(index), message: describeBadNumber({ ...number, path: rest }) }]
  })
}

const eventsOf = (value: unknown): Iterable<SentEvent> => sentEvents(Array.isArray(value) ? value : [value])

const isNotEmpty = (events: Iterable<SentEvent>): boolean => events[Symbol.iterator]().next().done !== true

const NO_EVENT = `Request body has no events: send one JSON object per line, or as ${JSON_TYPE} one object or an array`

/** Skips empty lines. Parses lazily, again on each iteration. */
const eventLines = (bytes: Uint8Array): Iterable<SentEvent> => ({
  *[Symbol.iterator]() {
    for (const line of linesOf(startsWithMark(bytes) ? bytes.subarray(byteOrderMark.length) : bytes)) {
      const written = withoutIndent(line.bytes)
      if (written.length > 0) yield { location: `line ${line.number}`, data: parseLine(written) }
    }
  }
})

const parseLine = (bytes: Uint8Array): Either.Either<unknown, string> => {
  if (bytes.length > MAX_EVENT_BYTES) return Either.left(TOO_LONG)
  const text = decodeText(bytes)
  if (Either.isLeft(text)) return Either.left("Is not valid UTF-8")
  const parsed = Either.try({
    try: (): unknown => JSON.parse(text.right),
    catch: (cause) =>
      `Is not valid JSON: ${parseProblem(cause)}: ${isJsonSequence(text.right) ? AS_LINES : "send one event per line"}`
  })
  const problem = Either.isRight(parsed) ? numberProblem(text.right) : undefined
  return problem === undefined ? parsed : Either.left(problem)
}

/** Several objects in a row: NDJSON with the wrong content type, or without its line ends. */
const isJsonSequence = (text: string): boolean => /}\s*{/.test(text)

const AS_LINES = `to send one event per line, set Content-Type: ${LINES_TYPE}, and use curl --data-binary: -d strips the line ends`

const isNotGzip = (bytes: Uint8Array): boolean => !isGzip(bytes)

const gzipped = () =>
  unreadableBody("Request body is compressed with gzip: decompress it first, such as zcat FILE | curl --data-binary @-")

const byteOrderMark = [0xef, 0xbb, 0xbf]

const startsWithMark = (bytes: Uint8Array): boolean => byteOrderMark.every((byte, index) => bytes[index] === byte)
