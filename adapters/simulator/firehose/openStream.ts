/** GET stream: from which place in the log, for how long, up to how many matches. */
import { Either } from "effect"
import { byteStream } from "../body.ts"
import type { Reply } from "../wire.ts"
import { badParameter, failure, noCredit } from "./errors.ts"
import { FirehoseConnection } from "./FirehoseConnection.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import type { TapCall } from "./router.ts"
import type { Tap } from "./Tap.ts"

export const openStream = ({ state, tap, call }: TapCall): Reply => {
  const { world } = state
  const { settings } = world
  const { query, now } = call
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) return badParameter(settings, unknown, `The ${unknown} parameter does not exist.`)
  const timeout = wholeNumber(query.get("timeout"), 1, 300)
  if (timeout === false) return badParameter(settings, "timeout", "The timeout must be between 1 and 300.")
  const limit = wholeNumber(query.get("limit"), 1, 10_000)
  if (limit === false) return badParameter(settings, "limit", "The limit must be between 1 and 10000.")
  const position = positionOf(state, tap, query, call.headers.get("last-event-id"), now)
  if (Either.isLeft(position)) return badParameter(settings, position.left.name, position.left.message)
  if (!state.hasCredits) return noCredit(settings)

  const open = [...state.connections].filter((connection) => connection.tap === tap).length
  const lowered = world.faults.peek("lower-caps", { platform: "firehose", now })?.connections
  const cap = Math.min(
    settings.firehose.streams_per_tap ?? Number.POSITIVE_INFINITY,
    lowered ?? Number.POSITIVE_INFINITY
  )
  if (open >= cap) {
    if (lowered === cap) world.faults.take("lower-caps", { platform: "firehose", now })
    else
      world.ledger.violate({
        platform: "firehose",
        at: now,
        kind: "connections",
        message: `More than ${cap} streams of a tap at once`
      })
    return failure(settings, 429, "Too many open streams.")
  }
  const connection = new FirehoseConnection({
    state,
    tap,
    now,
    position: position.right,
    timeoutMillis: (timeout ?? 300) * 1_000,
    limit: limit ?? Number.POSITIVE_INFINITY
  })
  state.connections.add(connection)
  world.ledger.opened("firehose", state.connections.size)
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: byteStream(world, connection)
  }
}

// ---- helpers ----

const PARAMETERS = ["timeout", "since", "offset", "limit"]
const DAY = 86_400_000

/** Undefined when it is not given, false when it is not right. */
const wholeNumber = (text: string | null, min: number, max: number): number | undefined | false => {
  if (text === null) return undefined
  return /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : false
}

interface Wrong {
  readonly name: string
  readonly message: string
}

/** Last-Event-ID goes before offset, offset before since; without any the stream begins now. */
const positionOf = (
  state: FirehoseState,
  tap: Tap,
  query: URLSearchParams,
  lastEventId: string | null,
  now: number
): Either.Either<number, Wrong> => {
  const { settings } = state.world
  const kept = tap.kept(now, settings.firehose.retention_hours * 3_600_000)
  const since = query.get("since")
  const sinceMillis = since === null ? undefined : millisOf(since)
  if (since !== null && sinceMillis === undefined) {
    return Either.left({ name: "since", message: "The since must be a window such as 5m or 1h, at most 24h." })
  }
  const offset = wholeNumber(query.get("offset"), 0, Number.MAX_SAFE_INTEGER)
  if (offset === false) return Either.left({ name: "offset", message: "The offset must be a whole number." })
  if (lastEventId !== null) {
    const found = /^(\d{1,9})-(\d{1,15})$/.exec(lastEventId)
    const isOwn = Number(found?.[1]) === settings.firehose.partition
    if (found === null || !isOwn)
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

const millisOf = (since: string): number | undefined => {
  if (since === "1d") return DAY
  const found = /^(\d{1,6})([mh])$/.exec(since)
  if (found === null) return undefined
  const millis = Number(found[1]) * (found[2] === "m" ? 60_000 : 3_600_000)
  return millis > 0 && millis <= DAY ? millis : undefined
}
