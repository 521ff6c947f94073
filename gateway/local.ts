/** The door of the local feed: callers hand in events for the platforms that run in process. */
import { Effect, Either } from "effect"
import { linesOf, withoutIndent } from "../core/model/LineSplitter.ts"
import {
  isGzip,
  LocalFeed,
  MAX_EVENT_BYTES,
  type SentEvent,
  sentEvents,
  TOO_LONG
} from "../core/platforms/LocalFeed.ts"
import { contentType, decodeText, JSON_TYPE, MAX_BODY_BYTES, parseJson, readBytes, readText } from "./body.ts"
import { type DoorFailure, unreadableBody } from "./errors.ts"
import { json, type KeyedRoute, type Work } from "./route.ts"

export const EVENTS_PATH = "/local/events"

export const LINES_TYPE = "application/x-ndjson"

/** Many events at a time are the point of it. */
const MAX_LINES_BYTES = 32 * MAX_BODY_BYTES

export const localRoutes: ReadonlyArray<KeyedRoute<LocalFeed>> = [
  {
    method: "POST",
    path: EVENTS_PATH,
    read: async (request) => Either.map(await readEvents(request), publish)
  }
]

// ---- helpers ----

const publish =
  (events: Iterable<SentEvent>): Work<LocalFeed> =>
  (account) =>
    Effect.gen(function* () {
      const feed = yield* LocalFeed
      return json(200, yield* feed.publish(events, account))
    })

const readEvents = async (request: Request): Promise<Either.Either<Iterable<SentEvent>, DoorFailure>> => {
  const type = contentType(request, [LINES_TYPE, JSON_TYPE], AS_LINES)
  if (Either.isLeft(type)) return Either.left(type.left)
  const events =
    type.right === LINES_TYPE
      ? Either.map(Either.filterOrLeft(await readBytes(request, MAX_LINES_BYTES), isPlain, packed), eventLines)
      : Either.map(Either.flatMap(await readText(request), parseEvents), eventsOf)
  return Either.filterOrLeft(events, isSome, () => unreadableBody(NO_EVENT))
}

const parseEvents = (text: string): Either.Either<unknown, DoorFailure> =>
  Either.mapLeft(parseJson(text), (error) => (isRow(text) ? unreadableBody(`${error.message}: ${AS_LINES}`) : error))

const eventsOf = (value: unknown): Iterable<SentEvent> => sentEvents(Array.isArray(value) ? value : [value])

const isSome = (events: Iterable<SentEvent>): boolean => events[Symbol.iterator]().next().done !== true

const NO_EVENT = `Request body holds no event: send one JSON object a line, or as ${JSON_TYPE} one or an array of them`

/** One event a line; empty lines are passed over. A line is parsed when it is its turn, each time anew. */
const eventLines = (bytes: Uint8Array): Iterable<SentEvent> => ({
  *[Symbol.iterator]() {
    for (const line of linesOf(isMarked(bytes) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes)) {
      const written = withoutIndent(line.bytes)
      if (written.length > 0) yield { location: `line ${line.number}`, data: parseLine(written) }
    }
  }
})

const parseLine = (bytes: Uint8Array): Either.Either<unknown, string> => {
  if (bytes.length > MAX_EVENT_BYTES) return Either.left(TOO_LONG)
  const text = decodeText(bytes)
  if (Either.isLeft(text)) return Either.left("Is not valid UTF-8")
  return Either.try({
    try: (): unknown => JSON.parse(text.right),
    catch: () => `Is not valid JSON: ${isRow(text.right) ? AS_LINES : "send one event a line"}`
  })
}

/** Several objects one after the other: lines that were sent as one piece, or lost their ends on the way. */
const isRow = (text: string): boolean => /}\s*{/.test(text)

const AS_LINES = `to send one event a line, say Content-Type: ${LINES_TYPE}, and with curl --data-binary: -d takes the line ends out of a file`

const isPlain = (bytes: Uint8Array): boolean => !isGzip(bytes)

const packed = () =>
  unreadableBody("Request body is packed with gzip: send it unpacked, such as zcat FILE | curl --data-binary @-")

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

const isMarked = (bytes: Uint8Array): boolean => BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte)
