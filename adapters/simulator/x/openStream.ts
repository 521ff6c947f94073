/** GET stream: who may connect, and from when on. */
import { Either } from "effect"
import { instantOf } from "../../../core/syntax/json.ts"
import { byteStream } from "../body.ts"
import type { Reply } from "../wire.ts"
import { FIELD_LISTS, type FieldList, type Fields } from "./fields.ts"
import { planOf } from "./plan.ts"
import {
  clientForbidden,
  creditsDepleted,
  invalidRequest,
  noRules,
  type ParameterError,
  tooManyConnections
} from "./problems.ts"
import type { XCall } from "./router.ts"
import { XConnection } from "./XConnection.ts"

export const openStream = ({ state, call, headers, refund }: XCall): Reply => {
  const { world } = state
  const { settings, faults, ledger } = world
  const { now, query } = call
  if (!planOf(settings).hasStream) return clientForbidden(settings, headers)
  const start = startOf(query, planOf(settings).hasBackfill, now)
  if (Either.isLeft(start)) return invalidRequest(settings, start.left, headers)
  const fields = fieldsOf(query)
  if (Either.isLeft(fields)) return invalidRequest(settings, fields.left, headers)
  if (state.rules.size === 0) return noRules(settings, headers)
  if (!state.usage.hasCredits) return creditsDepleted(settings, headers)

  const { from, until, isRecovery } = start.right
  const { cap, isLowered } = isRecovery ? { cap: RECOVERY_CAP, isLowered: false } : state.connectionCap(now)
  const open = state.open().filter((connection) => connection.isRecovery === isRecovery).length
  if ((isRecovery ? open : state.takenSlots(now)) >= cap) {
    if (isLowered) faults.take("lower-caps", { platform: "x", now })
    if (!settings.x.refused_connects_count) refund()
    // One that waits for a dead connection of its own to be let go has done nothing wrong.
    if (open >= cap && !isLowered) {
      ledger.violate({ platform: "x", at: now, kind: "connections", message: `More than ${cap} connections at once` })
    }
    return tooManyConnections(settings, headers)
  }
  const backlog = state.history.filter(({ at }) => at >= from && at <= until)
  const connection = new XConnection({ state, now, fields: fields.right, backlog, isRecovery })
  state.remember(connection)
  ledger.opened("x", state.open().length)
  return {
    status: 200,
    headers: {
      ...headers,
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-cache, no-store, max-age=0"
    },
    body: byteStream(world, connection)
  }
}

// ---- helpers ----

const RECOVERY_CAP = 2
const DAY = 86_400_000

interface Start {
  /** Posts of which times come first. */
  readonly from: number
  readonly until: number
  readonly isRecovery: boolean
}

const startOf = (query: URLSearchParams, hasBackfill: boolean, now: number): Either.Either<Start, ParameterError> => {
  const wrong = (name: string, message: string) =>
    Either.left({ message, parameters: { [name]: [query.get(name) ?? ""] } })
  for (const name of ["backfill_minutes", "start_time", "end_time"]) {
    if (query.has(name) && !hasBackfill) {
      return wrong(name, `The \`${name}\` query parameter is not authorized for this app`)
    }
  }
  const minutes = query.get("backfill_minutes") ?? "0"
  if (!/^[0-5]$/.test(minutes)) {
    return wrong(
      "backfill_minutes",
      `The \`backfill_minutes\` query parameter value [${minutes}] is not between 0 and 5`
    )
  }
  if (!query.has("start_time") && !query.has("end_time")) {
    const from = minutes === "0" ? Number.POSITIVE_INFINITY : now - Number(minutes) * 60_000
    return Either.right({ from, until: now, isRecovery: false })
  }
  const from = query.has("start_time") ? timeOf(query.get("start_time")) : now - DAY
  const until = query.has("end_time") ? timeOf(query.get("end_time")) : now
  if (from === undefined || from < now - DAY)
    return wrong("start_time", "`start_time` is not a time of the last 24 hours")
  if (until === undefined || until < from) return wrong("end_time", "`end_time` is not a time after `start_time`")
  return Either.right({ from, until, isRecovery: true })
}

const timeOf = (text: string | null): number | undefined =>
  text !== null && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? instantOf(text) : undefined

const OTHER_PARAMETERS = ["backfill_minutes", "start_time", "end_time"]

const isFieldList = (name: string): name is FieldList => Object.hasOwn(FIELD_LISTS, name)

const fieldsOf = (query: URLSearchParams): Either.Either<Fields, ParameterError> => {
  const lists: Record<FieldList, ReadonlySet<string>> = {
    "tweet.fields": new Set(),
    expansions: new Set(),
    "user.fields": new Set(),
    "media.fields": new Set(),
    "place.fields": new Set(),
    "poll.fields": new Set()
  }
  for (const [name, text] of query) {
    if (OTHER_PARAMETERS.includes(name)) continue
    const list = name === "post.fields" ? "tweet.fields" : name
    if (!isFieldList(list)) {
      const known = [...Object.keys(FIELD_LISTS), ...OTHER_PARAMETERS].join(",")
      return Either.left({
        message: `The query parameter [${name}] is not one of [${known}]`,
        parameters: { [name]: [text] }
      })
    }
    const values = text.split(",").map((value) => (name === "post.fields" ? value.replaceAll("post", "tweet") : value))
    const unknown = values.find((value) => !FIELD_LISTS[list].has(value))
    if (unknown !== undefined) {
      const message = `The \`${name}\` query parameter value [${unknown}] is not one of [${[...FIELD_LISTS[list]].join(",")}]`
      return Either.left({ message, parameters: { [name]: [text] } })
    }
    lists[list] = new Set(values)
  }
  return Either.right({ lists, isPostWords: query.has("post.fields") })
}
