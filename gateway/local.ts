/** The door of the local feed: callers hand in events for the platforms that run in process. */
import { Array as Arr, Effect } from "effect"
import { type ArgumentIssue, InvalidArgument } from "../core/Errors.ts"
import type { Keys } from "../core/Keys.ts"
import { LocalFeed } from "../core/LocalFeed.ts"
import { authenticate } from "./auth.ts"
import { contentType, parseJson, readText, requireType } from "./body.ts"
import { json, type Route } from "./route.ts"

export const EVENTS_PATH = "/local/events"

export const LINES_TYPE = "application/x-ndjson"

export const localRoutes: ReadonlyArray<Route<Keys | LocalFeed>> = [
  {
    method: "POST",
    path: EVENTS_PATH,
    handle: (request) =>
      Effect.gen(function* () {
        yield* authenticate(request)
        yield* requireType(request, [LINES_TYPE, "application/json"])
        const text = yield* readText(request)
        const events = yield* contentType(request) === LINES_TYPE ? parseLines(text) : parseOne(text)
        const feed = yield* LocalFeed
        return json(200, yield* feed.publish(events))
      })
  }
]

// ---- helpers ----

/** One event, or an array of them. */
const parseOne = (text: string) =>
  Effect.map(parseJson(text), (value): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [value]))

/** One event a line; empty lines are passed over. */
const parseLines = (text: string): Effect.Effect<ReadonlyArray<unknown>, InvalidArgument> => {
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
  return Arr.isNonEmptyArray(issues) ? new InvalidArgument({ issues }) : Effect.succeed(events)
}
