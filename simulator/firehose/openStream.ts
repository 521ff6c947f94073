/** GET stream: checks the parameters and opens a connection. */

import { Either } from "effect"
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import { parseWholeNumber } from "../../core/model/wholeNumber.ts"
import { byteStream } from "../byteStream.ts"
import type { Reply } from "../wire.ts"
import type { TapCall } from "./calls.ts"
import { badParameter, failure, noCredit } from "./errors.ts"
import { FirehoseConnection } from "./FirehoseConnection.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import type { Tap } from "./Tap.ts"

export const openStream = ({ state, tap, call }: TapCall): Reply => {
  const { world } = state
  const { settings } = world
  const { query, now } = call
  const unknown = [...query.keys()].find((name) => !parameters.includes(name))
  if (unknown !== undefined) return badParameter(settings, unknown, `The ${unknown} parameter does not exist.`)
  const timeout = wholeNumber(query.get("timeout"), 1, 300)
  if (timeout === false) return badParameter(settings, "timeout", "The timeout must be between 1 and 300.")
  const limit = wholeNumber(query.get("limit"), 1, 10_000)
  if (limit === false) return badParameter(settings, "limit", "The limit must be between 1 and 10000.")
  const offset = startOffset(state, tap, query, call.headers.get("last-event-id"), now)
  if (Either.isLeft(offset)) return badParameter(settings, offset.left.name, offset.left.message)
  if (!state.hasCredits) return noCredit(settings)

  const open = [...state.streams].filter((stream) => stream.tap === tap).length
  const lowered = world.faults.peek("lower-caps", { platform: "firehose", now })?.connections
  const { streams_per_tap } = settings.firehose
  const cap = Math.min(streams_per_tap ?? Number.POSITIVE_INFINITY, lowered ?? Number.POSITIVE_INFINITY)
  if (open >= cap) {
    const message = `More than ${cap} streams of a tap at once`
    if (lowered === cap) world.faults.take("lower-caps", { platform: "firehose", now })
    else world.ledger.recordViolation({ platform: "firehose", at: now, kind: "connections", message })
    return failure(settings, 429, "Too many open streams.")
  }
  const connection = new FirehoseConnection({
    state,
    tap,
    now,
    offset: offset.right,
    timeoutMillis: (timeout ?? 300) * 1_000,
    limit: limit ?? Number.POSITIVE_INFINITY
  })
  state.streams.add(connection)
  world.ledger.recordOpen("firehose", state.streams.size)
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: byteStream(world, connection)
  }
}

// ---- helpers ----

const parameters = ["timeout", "since", "offset", "limit"]

/** Undefined if the parameter is missing, false if it is not a whole number in the range. */
const wholeNumber = (text: string | null, min: number, max: number): number | undefined | false =>
  text === null ? undefined : (parseWholeNumber(text, { min, max }) ?? false)

interface ParameterError {
  readonly name: string
  readonly message: string
}

/** Last-Event-ID takes precedence over offset, and offset over since. Without any, the stream starts now. */
const startOffset = (
  state: FirehoseState,
  tap: Tap,
  query: URLSearchParams,
  lastEventId: string | null,
  now: number
): Either.Either<number, ParameterError> => {
  const { settings } = state.world
  const kept = tap.keptMatches(now, settings.firehose.retention_hours * 3_600_000)
  const since = query.get("since")
  const sinceMillis = since === null ? undefined : parseWindow(since)
  if (since !== null && sinceMillis === undefined) {
    return Either.left({ name: "since", message: "The since must be a window such as 5m or 1h, at most 24h." })
  }
  const offset = wholeNumber(query.get("offset"), 0, Number.MAX_SAFE_INTEGER)
  if (offset === false) return Either.left({ name: "offset", message: "The offset must be a whole number." })
  if (lastEventId !== null) {
    const found = /^(\d{1,9})-(\d{1,15})$/.exec(lastEventId)
    if (found === null || Number(found[1]) !== settings.firehose.partition)
      return Either.left({ name: "Last-Event-ID", message: "The Last-Event-ID is malformed." })
    const next = Number(found[2]) + 1
    const oldest = kept[0]?.offset ?? state.nextOffset
    if (settings.firehose.too_old === "error" && next < oldest) {
      return Either.left({ name: "Last-Event-ID", message: "The Last-Event-ID is older than what is kept." })
    }
    return Either.right(next)
  }
  if (offset !== undefined) return Either.right(offset)
  if (sinceMillis === undefined) return Either.right(state.nextOffset)
  return Either.right(kept.find(({ at }) => at >= now - sinceMillis)?.offset ?? state.nextOffset)
}

const parseWindow = (since: string): number | undefined => {
  if (since === "1d") return DAY_MILLIS
  const found = /^(\d{1,6})([mh])$/.exec(since)
  if (found === null) return undefined
  const millis = Number(found[1]) * (found[2] === "m" ? 60_000 : 3_600_000)
  return millis > 0 && millis <= DAY_MILLIS ? millis : undefined
}
