/** The door of the local feed: callers hand in events for the platforms that run in process. */
import { Array as Arr, Effect, Either } from "effect"
import { type ArgumentIssue, InvalidArgument } from "../core/Errors.ts"
import { LocalFeed } from "../core/LocalFeed.ts"
import { contentType, JSON_TYPE, parseJson, readText } from "./body.ts"
import type { DoorFailure } from "./errors.ts"
import { json, type KeyedRoute, type Work } from "./route.ts"

export const EVENTS_PATH = "/local/events"

export const LINES_TYPE = "application/x-ndjson"

export const localRoutes: ReadonlyArray<KeyedRoute<LocalFeed>> = [
  {
    method: "POST",
    path: EVENTS_PATH,
    read: async (request) => Either.map(await readEvents(request), publish)
  }
]

// ---- helpers ----

const publish =
  (events: ReadonlyArray<unknown>): Work<LocalFeed> =>
  () =>
    Effect.gen(function* () {
      const feed = yield* LocalFeed
      return json(200, yield* feed.publish(events))
    })

const readEvents = async (request: Request): Promise<Either.Either<ReadonlyArray<unknown>, DoorFailure>> => {
  const type = contentType(request, [LINES_TYPE, JSON_TYPE])
  if (Either.isLeft(type)) return Either.left(type.left)
  return Either.flatMap(
    await readText(request),
    (text): Either.Either<ReadonlyArray<unknown>, DoorFailure> =>
      (type.right === LINES_TYPE ? parseLines : parseOne)(text)
  )
}

/** One event, or an array of them. */
const parseOne = (text: string) =>
  Either.map(parseJson(text), (value): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [value]))

/** One event a line; empty lines are passed over. */
const parseLines = (text: string): Either.Either<ReadonlyArray<unknown>, InvalidArgument> => {
  const events: Array<unknown> = []
  const issues: Array<ArgumentIssue> = []
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    try {
      events.push(JSON.parse(line))
    } catch {
      issues.push({ path: `line ${index + 1}`, message: "Is not valid JSON: send one event a line" })
    }
  }
  return Arr.isNonEmptyArray(issues) ? Either.left(new InvalidArgument({ issues })) : Either.right(events)
}
