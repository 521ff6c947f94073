/** GET stream: checks access and parameters, and opens a connection. */

import { Either } from "effect"
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import { instantOf } from "../../core/text/json.ts"
import { byteStream } from "../byteStream.ts"
import type { Reply } from "../wire.ts"
import { type FieldList, type Fields, fieldLists } from "./fields.ts"
import { planOf } from "./plan.ts"
import {
  clientForbidden,
  creditsDepleted,
  invalidRequest,
  noRules,
  type ParameterError,
  tooManyConnections,
  usageCapped
} from "./problems.ts"
import type { XCall } from "./XCall.ts"
import { XConnection } from "./XConnection.ts"

export const openStream = ({ state, call, refund }: XCall): Reply => {
  const { world } = state
  const { settings, faults, ledger } = world
  const { now, query } = call
  if (!planOf(settings).hasStream) return clientForbidden(settings)
  const start = startOf(query, planOf(settings).hasBackfill, now)
  if (Either.isLeft(start)) return invalidRequest(settings, start.left)
  const fields = parseFields(query)
  if (Either.isLeft(fields)) return invalidRequest(settings, fields.left)
  if (state.rules.size === 0) return noRules(settings)
  if (!state.usage.hasCredits) return creditsDepleted(settings)
  const capResetAt = state.usage.capResetAt(now)
  if (capResetAt !== undefined) return usageCapped(settings, capResetAt)

  const { from, until, isRecovery } = start.right
  const { cap, isLowered } = isRecovery ? { cap: RECOVERY_CAP, isLowered: false } : state.connectionCap(now)
  const open = state.openStreams().filter((stream) => stream.isRecovery === isRecovery).length
  if ((isRecovery ? open : state.takenSlots(now)) >= cap) {
    if (isLowered) faults.take("lower-caps", { platform: "x", now })
    if (!settings.x.refused_connects_count) refund()
    // A client whose own dead connection still holds the slot violates nothing.
    if (open >= cap && !isLowered) {
      const message = `More than ${cap} connections at once`
      ledger.recordViolation({ platform: "x", at: now, kind: "connections", message })
    }
    return tooManyConnections(settings)
  }
  const backlog = state.history.filter(({ at, arrivesAt }) => at >= from && at <= until && arrivesAt <= now)
  const coming = isRecovery ? [] : state.history.filter(({ arrivesAt }) => arrivesAt > now)
  const connection = new XConnection({ state, now, fields: fields.right, backlog, coming, isRecovery })
  state.addStream(connection)
  ledger.recordOpen("x", state.openStreams().filter((stream) => !stream.isRecovery).length)
  return {
    status: 200,
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-cache, no-store, max-age=0" },
    body: byteStream(world, connection)
  }
}

// ---- helpers ----

const RECOVERY_CAP = 2
const timeParameters = ["backfill_minutes", "start_time", "end_time"]

interface Start {
  /** Posts published from here to `until` are sent first. */
  readonly from: number
  readonly until: number
  readonly isRecovery: boolean
}

const startOf = (query: URLSearchParams, hasBackfill: boolean, now: number): Either.Either<Start, ParameterError> => {
  const invalid = (name: string, message: string) =>
    Either.left({ message, parameters: { [name]: [query.get(name) ?? ""] } })
  for (const name of timeParameters) {
    if (query.has(name) && !hasBackfill) {
      return invalid(name, `The \`${name}\` query parameter is not authorized for this app`)
    }
  }
  const minutes = query.get("backfill_minutes") ?? "0"
  if (!/^[0-5]$/.test(minutes)) {
    return invalid(
      "backfill_minutes",
      `The \`backfill_minutes\` query parameter value [${minutes}] is not between 0 and 5`
    )
  }
  if (!query.has("start_time") && !query.has("end_time")) {
    const from = minutes === "0" ? Number.POSITIVE_INFINITY : now - Number(minutes) * 60_000
    return Either.right({ from, until: now, isRecovery: false })
  }
  const from = query.has("start_time") ? parseTime(query.get("start_time")) : now - DAY_MILLIS
  const until = query.has("end_time") ? parseTime(query.get("end_time")) : now
  if (from === undefined || from < now - DAY_MILLIS)
    return invalid("start_time", "`start_time` is not a time of the last 24 hours")
  if (until === undefined || until < from) return invalid("end_time", "`end_time` is not a time after `start_time`")
  return Either.right({ from, until, isRecovery: true })
}

const parseTime = (text: string | null): number | undefined =>
  text !== null && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? instantOf(text) : undefined

const isFieldList = (name: string): name is FieldList => Object.hasOwn(fieldLists, name)

const parseFields = (query: URLSearchParams): Either.Either<Fields, ParameterError> => {
  const lists: Record<FieldList, ReadonlySet<string>> = {
    "tweet.fields": new Set(),
    expansions: new Set(),
    "user.fields": new Set(),
    "media.fields": new Set(),
    "place.fields": new Set(),
    "poll.fields": new Set()
  }
  for (const [name, text] of query) {
    if (timeParameters.includes(name)) continue
    const list = name === "post.fields" ? "tweet.fields" : name
    if (!isFieldList(list)) {
      const known = [...Object.keys(fieldLists), ...timeParameters].join(",")
      return Either.left({
        message: `The query parameter [${name}] is not one of [${known}]`,
        parameters: { [name]: [text] }
      })
    }
    const values = text.split(",").map((value) => (name === "post.fields" ? value.replaceAll("post", "tweet") : value))
    const unknown = values.find((value) => !fieldLists[list].has(value))
    if (unknown !== undefined) {
      const message = `The \`${name}\` query parameter value [${unknown}] is not one of [${[...fieldLists[list]].join(",")}]`
      return Either.left({ message, parameters: { [name]: [text] } })
    }
    lists[list] = new Set(values)
  }
  return Either.right({ lists, usesPostNames: query.has("post.fields") })
}
