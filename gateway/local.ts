/** `POST /local/events`: callers publish events to the platforms that run in process. */
import { Effect, Either } from "effect"
import type { AccountId } from "../core/model/Ids.ts"
import {
  isGzip,
  LocalFeed,
  MAX_EVENT_BYTES,
  type SentEvent,
  sentEvents,
  TOO_LONG
} from "../core/platforms/LocalFeed.ts"
import { linesOf, withoutIndent } from "../core/text/LineSplitter.ts"
import { numberProblem } from "../core/text/numbers.ts"
import { contentType, decodeText, JSON_TYPE, MAX_BODY_BYTES, parseJson, readBytes, readText } from "./body.ts"
import { type DoorFailure, unreadableBody } from "./errors.ts"
import { json, type KeyedRoute, type OperatorRoute } from "./route.ts"

export const EVENTS_PATH = "/local/events"

export const LINES_TYPE = "application/x-ndjson"

const MAX_LINES_BYTES = 32 * MAX_BODY_BYTES

export const localRoutes: ReadonlyArray<KeyedRoute<LocalFeed>> = [
  {
    method: "POST",
    path: EVENTS_PATH,
    scope: "write",
    read: async (request) =>
      Either.map(
        await readEvents(request),
        (events) =>
          ({ account }) =>
            publish(events, account)
      )
  }
]

/** Events for the rules of all accounts. */
export const sharedEventsRoute: OperatorRoute<LocalFeed> = {
  method: "POST",
  path: EVENTS_PATH,
  readOperators: async (request) => Either.map(await readEvents(request), (events) => publish(events))
}

// ---- helpers ----

const publish = (events: Iterable<SentEvent>, sender?: AccountId) =>
  Effect.gen(function* () {
    const feed = yield* LocalFeed
    return json(200, yield* feed.publish(events, sender))
  })

const readEvents = async (request: Request): Promise<Either.Either<Iterable<SentEvent>, DoorFailure>> => {
  const type = contentType(request, [LINES_TYPE, JSON_TYPE], AS_LINES)
  if (Either.isLeft(type)) return Either.left(type.left)
  const events =
    type.right === LINES_TYPE
      ? Either.map(Either.filterOrLeft(await readBytes(request, MAX_LINES_BYTES), isNotGzip, gzipped), eventLines)
      : Either.map(Either.flatMap(await readText(request), parseEvents), eventsOf)
  return Either.filterOrLeft(events, isNotEmpty, () => unreadableBody(NO_EVENT))
}

const parseEvents = (text: string): Either.Either<unknown, DoorFailure> => {
  const parsed = Either.mapLeft(parseJson(text), (error) =>
    isJsonSequence(text) ? unreadableBody(`${error.message}: ${AS_LINES}`) : error
  )
  const problem = Either.isRight(parsed) ? numberProblem(text) : undefined
  return problem === undefined ? parsed : Either.left(unreadableBody(problem))
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
    catch: () => `Is not valid JSON: ${isJsonSequence(text.right) ? AS_LINES : "send one event per line"}`
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
