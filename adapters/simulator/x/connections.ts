/** The Connections API: see open streams and end them. */
import { Schema } from "effect"
import { jsonReply, parsedJson, type Reply } from "../wire.ts"
import { invalidRequest } from "./problems.ts"
import type { XCall } from "./router.ts"
import type { XConnection } from "./XConnection.ts"

export const listConnections = ({ state, call, headers }: XCall): Reply => {
  const refuse = (name: string, message: string) =>
    invalidRequest(state.world.settings, { message, parameters: { [name]: [call.query.get(name) ?? ""] } }, headers)
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
  const isWanted = ({ isOpen }: XConnection) =>
    (status === "all" || isOpen === (status === "active")) &&
    (endpoints === undefined || endpoints.includes(FILTERED_STREAM))
  const all = state.connections.filter(isWanted)
  const page = all.slice(start, start + max)
  const meta = { result_count: page.length, ...(start + max < all.length && { next_token: String(start + max) }) }
  return jsonReply(200, { ...(page.length > 0 && { data: page.map(shown) }), meta }, headers)
}

/** All, those of one endpoint, or those that the body names. */
export const killConnections = ({ state, call, headers }: XCall): Reply => {
  const target = call.path.slice("/2/connections".length)
  if (target === "/all" || target === `/${FILTERED_STREAM}`) {
    return jsonReply(
      200,
      {
        data: killed(
          state.open().map(({ id }) => id),
          state.open()
        )
      },
      headers
    )
  }
  if (target !== "") {
    const endpoint = target.slice(1)
    const message = `The endpoint [${endpoint}] is not one of [${FILTERED_STREAM}]`
    return invalidRequest(state.world.settings, { message, parameters: { endpoint_id: [endpoint] } }, headers)
  }
  const body = parsedJson(call.body)?.value
  if (!isKillList(body)) {
    const message = "The body must hold `uuids`, a list of 1 to 100 ids"
    return invalidRequest(state.world.settings, { message, parameters: {} }, headers)
  }
  return jsonReply(200, { data: killed(body.uuids, state.open()) }, headers)
}

// ---- helpers ----

const FILTERED_STREAM = "filtered_stream"

const isKillList = Schema.is(
  Schema.Struct({ uuids: Schema.Array(Schema.String).pipe(Schema.minItems(1), Schema.maxItems(100)) })
)

const shown = ({ id, openedAt, closedAt, disconnectReason }: XConnection) => ({
  id,
  endpoint_name: FILTERED_STREAM,
  connected_at: new Date(openedAt).toISOString(),
  ...(closedAt !== undefined && { disconnected_at: new Date(closedAt).toISOString() }),
  ...(closedAt !== undefined && disconnectReason !== undefined && { disconnect_reason: disconnectReason })
})

const killed = (ids: ReadonlyArray<string>, open: ReadonlyArray<XConnection>) => {
  const results = ids.map((uuid) => {
    const connection = open.find(({ id }) => id === uuid)
    connection?.end(undefined, "operator_disconnect")
    return connection === undefined
      ? { uuid, success: false, error_message: "Connection not found" }
      : { uuid, success: true }
  })
  const successes = results.filter(({ success }) => success).length
  return { successful_kills: successes, failed_kills: results.length - successes, results }
}
