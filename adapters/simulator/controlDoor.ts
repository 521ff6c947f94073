/** The control endpoints: no upstream has such a path. */
import { Effect, Either, Schema } from "effect"
import type { Control } from "./Control.ts"
import { ENDPOINTS } from "./endpoints.ts"
import { decodeFault, FAULTS } from "./faults.ts"
import { decodePatch, FIXED, settingLines } from "./settings.ts"
import { type Call, jsonReply, parsedJson, type Reply } from "./wire.ts"

export const answerControl = (control: Control, call: Call): Effect.Effect<Reply> => {
  const path = call.path.slice("/control".length)
  const route = ROUTES[`${call.method} ${path}`]
  if (route !== undefined) return route(control, call)
  const [, id] = /^\/faults\/([\w-]+)$/.exec(path) ?? []
  if (call.method === "DELETE" && id !== undefined) return clearOne(control, id)
  return Effect.succeed(
    wrong(404, `There is no ${call.method} ${call.path}: use one of ${Object.keys(ROUTES).join(", ")}, below /control`)
  )
}

// ---- helpers ----

const wrong = (status: number, message: string): Reply => jsonReply(status, { message })

const ok = (body: unknown): Effect.Effect<Reply> => Effect.succeed(jsonReply(200, body))

const ROUTES: Readonly<Record<string, (control: Control, call: Call) => Effect.Effect<Reply>>> = {
  "GET ": () => ok({ endpoints: Object.keys(ROUTES).map((route) => route.replace(" ", " /control")) }),
  "GET /state": (control) => Effect.map(control.state, (state) => jsonReply(200, state)),
  "GET /settings": (control) => ok({ settings: control.settings, switches: settingLines(), fixed: FIXED }),
  "PATCH /settings": (control, call) => withJson(call, (value) => patch(control, value)),
  "POST /events": (control, { body }) => publish(control, body),
  "GET /faults": (control) =>
    Effect.zipWith(control.state, control.faults, ({ faults_fired }, active) =>
      jsonReply(200, { kinds: FAULTS, endpoints: ENDPOINTS, active, fired: faults_fired })
    ),
  "POST /faults": (control, call) => withJson(call, (value) => inject(control, value)),
  "DELETE /faults": (control) => Effect.map(control.clear(), () => jsonReply(200, { cleared: true })),
  "GET /clock": (control) => clock(control.now),
  "POST /clock": (control, call) => withJson(call, (value) => advance(control, value))
}

const withJson = ({ body }: Call, use: (value: unknown) => Effect.Effect<Reply>): Effect.Effect<Reply> => {
  const parsed = parsedJson(body)
  return parsed === undefined ? Effect.succeed(wrong(400, "The body is not valid JSON")) : use(parsed.value)
}

const patch = (control: Control, value: unknown): Effect.Effect<Reply> =>
  Either.match(decodePatch(value), {
    onLeft: (message) => Effect.succeed(wrong(400, message)),
    onRight: (change) => Effect.map(control.patch(change), (settings) => jsonReply(200, { settings }))
  })

const inject = (control: Control, value: unknown): Effect.Effect<Reply> =>
  Either.match(decodeFault(value), {
    onLeft: (message) => Effect.succeed(wrong(400, message)),
    onRight: (request) => Effect.map(control.inject(request), (fault) => jsonReply(201, fault))
  })

const clearOne = (control: Control, id: string): Effect.Effect<Reply> =>
  Effect.map(control.clear(id), (isCleared) =>
    isCleared
      ? jsonReply(200, { cleared: true })
      : wrong(404, `There is no fault "${id}": it may have fired for the last time`)
  )

const isAdvance = Schema.is(Schema.Struct({ advance_seconds: Schema.Number.pipe(Schema.between(0, 100_000_000)) }))

const advance = (control: Control, value: unknown): Effect.Effect<Reply> =>
  isAdvance(value)
    ? clock(control.advance(value.advance_seconds))
    : Effect.succeed(wrong(400, 'Expected {"advance_seconds": 60}: time does not run backwards'))

const clock = (now: Effect.Effect<number>): Effect.Effect<Reply> =>
  Effect.map(now, (millis) => jsonReply(200, { now: new Date(millis).toISOString() }))

/** One event, or one a line. */
const publish = (control: Control, body: string): Effect.Effect<Reply> => {
  const whole = parsedJson(body)
  const lines =
    whole === undefined
      ? body
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map(parsedJson)
      : [whole]
  const events = lines.flatMap((line) => (line === undefined ? [] : [line.value]))
  const broken = lines.indexOf(undefined)
  if (broken >= 0) return Effect.succeed(wrong(400, `Event ${broken + 1} is not valid JSON`))
  if (events.length === 0) return Effect.succeed(wrong(400, "There is no event: expected one, or one a line, as JSON"))
  return Effect.match(control.publish(events), {
    onFailure: (message) => wrong(400, message),
    onSuccess: (published) => jsonReply(200, published)
  })
}
