/** The control endpoints below /control, a path that neither platform uses. */
import { Effect, Either, Schema } from "effect"
import type { Control } from "./Control.ts"
import { endpoints } from "./endpoints.ts"
import { decodeFault, faultDescriptions } from "./faults.ts"
import { decodePatch, fixedAssumptions, settingLines } from "./settings.ts"
import { type Call, jsonReply, parseJson, type Reply } from "./wire.ts"
import { PostChange } from "./x/Posts.ts"

export const answerControl = (control: Control, call: Call): Effect.Effect<Reply> => {
  const path = call.path.slice("/control".length)
  const route = routes[`${call.method} ${path}`]
  if (route !== undefined) return route(control, call)
  const [, id] = /^\/faults\/([\w-]+)$/.exec(path) ?? []
  if (call.method === "DELETE" && id !== undefined) return clearOne(control, id)
  return Effect.succeed(
    errorReply(
      404,
      `Unknown endpoint ${call.method} ${call.path}: use one of ${Object.keys(routes).join(", ")}, below /control`
    )
  )
}

// ---- helpers ----

const errorReply = (status: number, message: string): Reply => jsonReply(status, { message })

const ok = (body: unknown): Effect.Effect<Reply> => Effect.succeed(jsonReply(200, body))

const routes: Readonly<Record<string, (control: Control, call: Call) => Effect.Effect<Reply>>> = {
  "GET ": () => ok({ endpoints: Object.keys(routes).map((route) => route.replace(" ", " /control")) }),
  "GET /state": (control) => Effect.map(control.state, (state) => jsonReply(200, state)),
  "GET /delivered": (control, { query }) => delivered(control, query),
  "GET /settings": (control) => ok({ settings: control.settings, switches: settingLines(), fixed: fixedAssumptions }),
  "PATCH /settings": (control, call) => withJson(call, (value) => patch(control, value)),
  "POST /events": (control, { body }) => publish(control, body),
  "GET /x/truth": (control) => Effect.map(control.truth, (posts) => jsonReply(200, { posts })),
  "POST /x/posts": (control, call) => withJson(call, (value) => changePosts(control, value)),
  "GET /faults": (control) =>
    Effect.zipWith(control.state, control.faults, ({ faults_fired }, active) =>
      jsonReply(200, { kinds: faultDescriptions, endpoints, active, fired: faults_fired })
    ),
  "POST /faults": (control, call) => withJson(call, (value) => inject(control, value)),
  "DELETE /faults": (control) => Effect.map(control.clear(), () => jsonReply(200, { cleared: true })),
  "GET /clock": (control) => clock(control.now),
  "POST /clock": (control, call) => withJson(call, (value) => advance(control, value))
}

const withJson = ({ body }: Call, use: (value: unknown) => Effect.Effect<Reply>): Effect.Effect<Reply> => {
  const parsed = parseJson(body)
  return parsed === undefined ? Effect.succeed(errorReply(400, "The body is not valid JSON")) : use(parsed.value)
}

const delivered = (control: Control, query: URLSearchParams): Effect.Effect<Reply> => {
  const since = query.get("since") ?? "0"
  const limit = query.get("limit") ?? "1000"
  return /^\d{1,15}$/.test(since) && /^\d{1,5}$/.test(limit)
    ? Effect.map(control.delivered(Number(since), Number(limit)), (page) => jsonReply(200, page))
    : Effect.succeed(errorReply(400, "Expected numbers in since and limit, such as ?since=0&limit=1000"))
}

const patch = (control: Control, value: unknown): Effect.Effect<Reply> =>
  Either.match(decodePatch(value), {
    onLeft: (message) => Effect.succeed(errorReply(400, message)),
    onRight: (change) => Effect.map(control.patch(change), (settings) => jsonReply(200, { settings }))
  })

const isPostChange = Schema.is(PostChange)

const changePosts = (control: Control, value: unknown): Effect.Effect<Reply> =>
  isPostChange(value)
    ? Effect.map(control.changePosts(value), (changed) => jsonReply(200, { changed }))
    : Effect.succeed(
        errorReply(
          400,
          'Expected {"ids": ["1"], "state": "deleted"}, with a state of present, deleted, withheld, protected, edited'
        )
      )

const inject = (control: Control, value: unknown): Effect.Effect<Reply> =>
  Either.match(decodeFault(value), {
    onLeft: (message) => Effect.succeed(errorReply(400, message)),
    onRight: (request) => Effect.map(control.inject(request), (fault) => jsonReply(201, fault))
  })

const clearOne = (control: Control, id: string): Effect.Effect<Reply> =>
  Effect.map(control.clear(id), (isCleared) =>
    isCleared
      ? jsonReply(200, { cleared: true })
      : errorReply(404, `Cannot find fault "${id}": it may have expired or fired for the last time`)
  )

const isAdvance = Schema.is(Schema.Struct({ advance_seconds: Schema.Number.pipe(Schema.between(0, 100_000_000)) }))

const advance = (control: Control, value: unknown): Effect.Effect<Reply> =>
  isAdvance(value)
    ? clock(control.advance(value.advance_seconds))
    : Effect.succeed(errorReply(400, 'Expected {"advance_seconds": 60}, with a number from 0 to 100000000'))

const clock = (now: Effect.Effect<number>): Effect.Effect<Reply> =>
  Effect.map(now, (millis) => jsonReply(200, { now: new Date(millis).toISOString() }))

/** The body is one JSON event, or one per line. */
const publish = (control: Control, body: string): Effect.Effect<Reply> => {
  const whole = parseJson(body)
  const lines =
    whole === undefined
      ? body
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map(parseJson)
      : [whole]
  const events = lines.flatMap((line) => (line === undefined ? [] : [line.value]))
  const invalid = lines.indexOf(undefined)
  if (invalid >= 0) return Effect.succeed(errorReply(400, `Event ${invalid + 1} is not valid JSON`))
  if (events.length === 0)
    return Effect.succeed(errorReply(400, "No event in the body: expected one JSON event, or one per line"))
  return Effect.match(control.publish(events), {
    onFailure: (message) => errorReply(400, message),
    onSuccess: (published) => jsonReply(200, published)
  })
}
