/** The control endpoints below /control, a path that neither platform uses. */
import { Effect, Schema } from "effect"
import type { Control } from "./Control.ts"
import { endpoints } from "./endpoints.ts"
import { decodeFault, faultDescriptions } from "./faults.ts"
import { decodePatch, fixedAssumptions, settingLines } from "./settings.ts"
import { type Call, jsonReply, parseJson, type Reply } from "./wire.ts"
import { PostChange } from "./x/Posts.ts"

export const answerControl = (control: Control, call: Call): Effect.Effect<Reply> => {
  const path = call.path.slice("/control".length)
  const route = routes[`${call.method} ${path}`]
  if (route !== undefined) {
    return Effect.catchAll(route(control, call), (message) => Effect.succeed(jsonReply(400, { message })))
  }
  const [, id] = /^\/faults\/([\w-]+)$/.exec(path) ?? []
  if (call.method === "DELETE" && id !== undefined) return clearOne(control, id)
  const message = `Unknown endpoint ${call.method} ${call.path}: use one of ${Object.keys(routes).join(", ")}, below /control`
  return Effect.succeed(jsonReply(404, { message }))
}

// ---- helpers ----

/** Fails with the message of a 400. */
type Route = (control: Control, call: Call) => Effect.Effect<Reply, string>

const ok = <E>(body: Effect.Effect<unknown, E>): Effect.Effect<Reply, E> =>
  Effect.map(body, (value) => jsonReply(200, value))

const routes: Readonly<Record<string, Route>> = {
  "GET ": () =>
    ok(Effect.sync(() => ({ endpoints: Object.keys(routes).map((route) => route.replace(" ", " /control")) }))),
  "GET /state": (control) => ok(control.state),
  "GET /delivered": (control, { query }) => delivered(control, query),
  "GET /settings": ({ settings }) =>
    ok(Effect.sync(() => ({ settings, switches: settingLines(), fixed: fixedAssumptions }))),
  "PATCH /settings": (control, call) => ok(patch(control, call)),
  "POST /events": (control, { body }) => publish(control, body),
  "GET /x/truth": (control) => ok(Effect.map(control.truth, (posts) => ({ posts }))),
  "GET /feeds/truth": (control) => ok(Effect.map(control.itemTruth, (items) => ({ items }))),
  "POST /x/posts": (control, call) => ok(changePosts(control, call)),
  "GET /faults": (control) =>
    ok(
      Effect.zipWith(control.state, control.faults, ({ faults_fired }, active) => ({
        kinds: faultDescriptions,
        endpoints,
        active,
        fired: faults_fired
      }))
    ),
  "POST /faults": (control, call) =>
    jsonOf(call).pipe(
      Effect.flatMap(decodeFault),
      Effect.flatMap(control.inject),
      Effect.map((fault) => jsonReply(201, fault))
    ),
  "DELETE /faults": (control) => ok(Effect.as(control.clear(), { cleared: true })),
  "GET /clock": (control) => clock(control.now),
  "POST /clock": (control, call) => clock(advance(control, call))
}

const jsonOf = ({ body }: Call): Effect.Effect<unknown, string> => {
  const parsed = parseJson(body)
  return parsed === undefined ? Effect.fail("The body is not valid JSON") : Effect.succeed(parsed.value)
}

const delivered = (control: Control, query: URLSearchParams): Effect.Effect<Reply, string> => {
  const since = query.get("since") ?? "0"
  const limit = query.get("limit") ?? "1000"
  return /^\d{1,15}$/.test(since) && /^\d{1,5}$/.test(limit)
    ? ok(control.delivered(Number(since), Number(limit)))
    : Effect.fail("Expected numbers in since and limit, such as ?since=0&limit=1000")
}

const patch = (control: Control, call: Call) =>
  jsonOf(call).pipe(
    Effect.flatMap(decodePatch),
    Effect.flatMap(control.patch),
    Effect.map((settings) => ({ settings }))
  )

const changePosts = (control: Control, call: Call) =>
  jsonOf(call).pipe(
    Effect.filterOrFail(
      Schema.is(PostChange),
      () => 'Expected {"ids": ["1"], "state": "deleted"}, with a state of present, deleted, withheld, protected, edited'
    ),
    Effect.flatMap(control.changePosts),
    Effect.map((changed) => ({ changed }))
  )

const clearOne = (control: Control, id: string): Effect.Effect<Reply> =>
  Effect.map(control.clear(id), (isCleared) =>
    isCleared
      ? jsonReply(200, { cleared: true })
      : jsonReply(404, { message: `Cannot find fault "${id}": it may have expired or fired for the last time` })
  )

const Advance = Schema.Struct({ advance_seconds: Schema.Number.pipe(Schema.between(0, 100_000_000)) })

const advance = (control: Control, call: Call) =>
  jsonOf(call).pipe(
    Effect.filterOrFail(
      Schema.is(Advance),
      () => 'Expected {"advance_seconds": 60}, with a number from 0 to 100000000'
    ),
    Effect.flatMap(({ advance_seconds }) => control.advance(advance_seconds))
  )

const clock = <E>(now: Effect.Effect<number, E>): Effect.Effect<Reply, E> =>
  ok(Effect.map(now, (millis) => ({ now: new Date(millis).toISOString() })))

/** The body is one JSON event, or one per line. */
const publish = (control: Control, body: string): Effect.Effect<Reply, string> => {
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
  if (invalid >= 0) return Effect.fail(`Event ${invalid + 1} is not valid JSON`)
  if (events.length === 0) return Effect.fail("No event in the body: expected one JSON event, or one per line")
  return ok(control.publish(events))
}
