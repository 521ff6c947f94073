/** The Connections API: lists and ends streams. */
import { Schema } from "effect"
import { jsonReply, parseJson, type Reply } from "../wire.ts"
import { invalidRequest } from "./problems.ts"
import type { XCall } from "./XCall.ts"
import type { XState, XStream } from "./XState.ts"

export const listConnections = ({ state, call, refuse }: XCall): Reply => {
  const status = call.query.get("status") ?? "active"
  if (!["active", "inactive", "all"].includes(status)) {
    return refuse("status", `The \`status\` query parameter value [${status}] is not one of [active,inactive,all]`)
  }
  const max = Number(call.query.get("max_results") ?? "10")
  if (!Number.isInteger(max) || max < 1 || max > 100) {
    return refuse(
      "max_results",
      `The \`max_results\` query parameter value [${call.query.get("max_results")}] is not between 1 and 100`
    )
  }
  const start = Number(call.query.get("pagination_token") ?? "0")
  if (!Number.isInteger(start) || start < 0)
    return refuse("pagination_token", "The `pagination_token` query parameter is not valid")
  const endpoints = call.query.get("endpoints")?.split(",")
  const active = new Set(state.activeStreams(call.now))
  const isWanted = (stream: XStream) =>
    (status === "all" || active.has(stream) === (status === "active")) &&
    (endpoints === undefined || endpoints.includes(FILTERED_STREAM))
  const found = state.streams.filter(isWanted)
  const page = found.slice(start, start + max)
  const meta = { result_count: page.length, ...(start + max < found.length && { next_token: String(start + max) }) }
  return jsonReply(200, {
    ...(page.length > 0 && { data: page.map((stream) => streamJson(stream, active.has(stream))) }),
    meta
  })
}

/** Ends all streams, those of one endpoint, or those listed in the body. */
export const killConnections = ({ state, call }: XCall): Reply => {
  const target = call.path.slice("/2/connections".length)
  if (target === "/all" || target === `/${FILTERED_STREAM}`) {
    const ids = state.activeStreams(call.now).map(({ id }) => id)
    return jsonReply(200, { data: kill(state, ids, call.now) })
  }
  if (target !== "") {
    const endpoint = target.slice(1)
    const message = `The endpoint [${endpoint}] is not one of [${FILTERED_STREAM}]`
    return invalidRequest(state.world.settings, { message, parameters: { endpoint_id: [endpoint] } })
  }
  const body = parseJson(call.body)?.value
  if (!isKillList(body)) {
    const message = "The body must hold `uuids`, a list of 1 to 100 ids"
    return invalidRequest(state.world.settings, { message, parameters: {} })
  }
  return jsonReply(200, { data: kill(state, body.uuids, call.now) })
}

// ---- helpers ----

const FILTERED_STREAM = "filtered_stream"

/** From the range for documentation. */
const CLIENT_IP = "203.0.113.7"

const isKillList = Schema.is(
  Schema.Struct({ uuids: Schema.Array(Schema.String).pipe(Schema.minItems(1), Schema.maxItems(100)) })
)

/** X learns only later that a client is gone: until then its connection is active. */
const streamJson = ({ id, openedAt, closedAt, disconnectReason }: XStream, isActive: boolean) => ({
  id,
  endpoint_name: FILTERED_STREAM,
  connected_at: new Date(openedAt).toISOString(),
  client_ip: CLIENT_IP,
  ...(!isActive && closedAt !== undefined && { disconnected_at: new Date(closedAt).toISOString() }),
  ...(!isActive && disconnectReason !== undefined && { disconnect_reason: disconnectReason })
})

const kill = (state: XState, ids: ReadonlyArray<string>, now: number) => {
  const active = state.activeStreams(now)
  const results = ids.map((uuid) => {
    const stream = active.find(({ id }) => id === uuid)
    stream?.kill(now)
    return stream === undefined
      ? { uuid, success: false, error_message: "Connection not found" }
      : { uuid, success: true }
  })
  const successes = results.filter(({ success }) => success).length
  return { successful_kills: successes, failed_kills: results.length - successes, results }
}
