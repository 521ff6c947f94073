/** The tap endpoints. */
import { Schema } from "effect"
import { optional } from "../../core/model/optional.ts"
import { jsonReply, parseJson, type Reply } from "../wire.ts"
import type { ManagementCall } from "./calls.ts"
import { failure, notFound, unprocessable } from "./errors.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import { Tap } from "./Tap.ts"

export const listTaps = ({ state }: ManagementCall): Reply =>
  jsonReply(200, { data: state.taps.map((tap) => tapJson(state, tap)) })

export const createTap = ({ state, call }: ManagementCall): Reply => {
  const { settings } = state.world
  const body = parseJson(call.body)?.value
  if (!isNewTap(body)) return unprocessable(settings, "name", "The name field is required.")
  if (activeTaps(state) >= settings.firehose.tap_cap) return failure(settings, 422, "Tap limit reached.")
  const token = `fh_${state.world.alphanumeric(40)}`
  const tap = new Tap({ id: state.world.uuid(), name: body.name, token, now: call.now })
  state.taps.push(tap)
  const { id, name, token_prefix, created_at } = tapJson(state, tap)
  return jsonReply(201, { data: { id, name, token_prefix, created_at }, token })
}

export const getTap = ({ state, id }: ManagementCall): Reply =>
  withTap(state, id, (tap) => {
    const { token: _, ...rest } = tapJson(state, tap)
    return jsonReply(200, { data: rest })
  })

export const updateTap = ({ state, call, id }: ManagementCall): Reply =>
  withTap(state, id, (tap) => {
    const { settings } = state.world
    const body = parseJson(call.body === "" ? "{}" : call.body)?.value
    if (!isTapChange(body)) return unprocessable(settings, "status", "The given data was invalid.")
    if (body.status === "active" && tap.isPaused && activeTaps(state) >= settings.firehose.tap_cap) {
      return failure(settings, 422, "Tap limit reached.")
    }
    tap.name = body.name ?? tap.name
    tap.isPaused = body.status === undefined ? tap.isPaused : body.status === "paused"
    state.world.notify()
    return jsonReply(200, { data: { ...tapJson(state, tap), status: tap.isPaused ? "paused" : "active" } })
  })

/** Invalidates the tap's token and ends its streams. */
export const deleteTap = ({ state, id }: ManagementCall): Reply =>
  withTap(state, id, (tap) => {
    state.taps.splice(state.taps.indexOf(tap), 1)
    for (const stream of state.streams) if (stream.tap === tap) stream.end()
    return { status: 204, headers: {}, body: null }
  })

// ---- helpers ----

const Name = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(255))
const isNewTap = Schema.is(Schema.Struct({ name: Name }))
const isTapChange = Schema.is(
  Schema.Struct({
    name: optional(Name),
    status: optional(Schema.Literal("paused", "active"))
  })
)

const activeTaps = (state: FirehoseState): number => state.taps.filter(({ isPaused }) => !isPaused).length

const withTap = (state: FirehoseState, id: string, use: (tap: Tap) => Reply): Reply => {
  const tap = state.taps.find((each) => each.id === id)
  return tap === undefined ? notFound(state.world.settings) : use(tap)
}

const isoSeconds = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "+00:00")

const tapJson = (state: FirehoseState, tap: Tap) => ({
  id: tap.id,
  name: tap.name,
  token: state.tokenOf(tap),
  token_prefix: state.tokenOf(tap).slice(0, 6),
  rules_count: tap.rules.size,
  last_used_at: tap.lastUsedAt === undefined ? null : isoSeconds(tap.lastUsedAt),
  created_at: isoSeconds(tap.createdAt)
})
