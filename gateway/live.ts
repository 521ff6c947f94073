/** `GET /matches/stream`: matches as server-sent events, as they are stored. What the other live door shares is here too. */
import { Cause, Clock, Effect, Either, Exit, Option, Schema } from "effect"
import type { Keys } from "../core/keys/Keys.ts"
import type { LiveUpdate } from "../core/matches/LiveMatches.ts"
import type { Match } from "../core/matches/Match.ts"
import { Matches, type ResolvedWatchQuery, type WatchFailure, WatchQuery } from "../core/matches/Matches.ts"
import { InvalidArgument, type Unauthenticated } from "../core/model/Errors.ts"
import { type AccountId, MatchId } from "../core/model/Ids.ts"
import * as Metrics from "../core/telemetry/Metrics.ts"
import { type Authentication, authenticate } from "./auth.ts"
import { decoder } from "./decode.ts"
import { internal, toWire, type WireError } from "./errors.ts"
import type { PlatformSchemas } from "./platformSchemas.ts"
import { queryOf } from "./rest.ts"
import type { KeyedRoute, Work } from "./route.ts"
import { type Taking, takingFrom } from "./taking.ts"

export const STREAM_PATH = "/matches/stream"

export const STREAM_TYPE = "text/event-stream"

export const liveRoute = (schemas: PlatformSchemas): KeyedRoute<Matches | Keys> => {
  const readQuery = queryReader(decoder(schemas(WatchQuery)))
  return {
    method: "GET",
    path: STREAM_PATH,
    read: async (request) =>
      Either.map(readQuery(request), (query) => reply(query, authenticate(request), request.method === "HEAD"))
  }
}

/** How listening may end, its key included. */
export type ListenFailure = WatchFailure | Unauthenticated

/** `key` is asked for again and again: a key that is revoked ends what it has opened. */
export const listening = (options: {
  readonly door: "sse" | "trpc"
  readonly account: AccountId
  readonly query: ResolvedWatchQuery
  readonly key: Authentication
}): Effect.Effect<Taking<ReadonlyArray<LiveUpdate>, ListenFailure>, never, Matches | Keys> =>
  takingFrom<ReadonlyArray<LiveUpdate>, ListenFailure, Matches | Keys>(
    Effect.gen(function* () {
      const { door, account, query, key } = options
      const matches = yield* Matches
      yield* Effect.acquireRelease(Metrics.changeLiveStreams(door, 1), () => Metrics.changeLiveStreams(door, -1))
      const next = yield* matches.listen(account, query)
      let checkedAt = yield* Clock.currentTimeMillis
      const check = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - checkedAt < CHECK_MILLIS) return Effect.void
        checkedAt = now
        // A store that is away for a while is no reason to send anybody off.
        return Effect.catchTag(key, "StorageUnavailable", () => Effect.void)
      })
      return Effect.zipLeft(next, check).pipe(
        Effect.tapErrorCause((cause) =>
          Cause.isDie(cause) ? Effect.logError("Handing out matches to a listener broke", cause) : Effect.void
        )
      )
    })
  )

// ---- helpers ----

/** Below the time between two heartbeats, so that a quiet stream is checked at each. */
const CHECK_MILLIS = 10_000

const isMatchId = Schema.is(MatchId)

/** Where a client was cut off wins over where it began: it repeats its first query each time. */
const queryReader =
  (decode: (data: unknown) => Either.Either<WatchQuery, InvalidArgument>) =>
  (request: Request): Either.Either<WatchQuery, InvalidArgument> => {
    const lastId = request.headers.get("last-event-id") ?? ""
    return Either.flatMap(decode(queryOf(request)), (query) => {
      if (lastId === "") return Either.right(query)
      if (isMatchId(lastId)) return Either.right({ ...query, cursor: lastId })
      return Either.left(
        new InvalidArgument({ issues: [{ path: "Last-Event-ID", message: "Expected the id of a match" }] })
      )
    })
  }

const HEADERS = {
  "content-type": STREAM_TYPE,
  "cache-control": "no-store",
  // Proxies that hold back what they pass on are asked not to.
  "x-accel-buffering": "no"
}

const reply =
  (query: WatchQuery, key: Authentication, isHead: boolean): Work<Matches | Keys> =>
  (account) =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const cursor = yield* matches.startCursor(account, query)
      if (isHead) return { status: 200, headers: HEADERS, body: null }
      const taking = yield* listening({ door: "sse", account, query: { ...query, cursor }, key })
      return { status: 200, headers: HEADERS, body: bodyOf(taking, encode(`id: ${cursor}\nretry: 1000\n: open\n\n`)) }
    })

/** What is put into a body at once: little, for a client may stop to read at any time. */
const AT_ONCE_BYTES = 65_536

const bodyOf = (
  taking: Taking<ReadonlyArray<LiveUpdate>, ListenFailure>,
  opening: Uint8Array
): ReadableStream<Uint8Array> => {
  let isOpen = false
  let taken: ReadonlyArray<LiveUpdate> = []
  let at = 0

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (!isOpen) {
      isOpen = true
      return controller.enqueue(opening)
    }
    if (at === taken.length) {
      const next = await taking.next()
      if (Exit.isFailure(next)) return end(controller, next.cause)
      taken = next.value
      at = 0
    }
    for (let bytes = 0; at < taken.length && bytes < AT_ONCE_BYTES; at++) {
      const heard = taken[at]
      if (heard === undefined) continue
      const frame = frameOf(heard)
      controller.enqueue(frame)
      bytes += frame.length
    }
  }
  // Nothing is asked for before it is read: a body that nobody reads is a stream that never begins.
  return new ReadableStream({ pull, cancel: taking.leave }, { highWaterMark: 0 })
}

const end = (controller: ReadableStreamDefaultController<Uint8Array>, cause: Cause.Cause<ListenFailure>): void => {
  // Who is interrupted has left, and needs no word.
  if (Cause.isInterruptedOnly(cause)) return
  const failure = Cause.failureOption(cause)
  controller.enqueue(errorFrame(Option.isSome(failure) ? toWire(failure.value) : internal))
  controller.close()
}

const encoder = new TextEncoder()
const encode = (text: string) => encoder.encode(text)

const frameOf = (heard: LiveUpdate): Uint8Array =>
  heard._tag === "Matched" ? matchFrame(heard.match) : encode(`id: ${heard.id}\n: still here\n\n`)

/** The matches are the same for all who listen, and so are their frames. */
const frames = new WeakMap<Match, Uint8Array>()

const matchFrame = (match: Match): Uint8Array => {
  const known = frames.get(match)
  if (known !== undefined) return known
  const frame = encode(`id: ${match.id}\nevent: match\ndata: ${JSON.stringify(match)}\n\n`)
  frames.set(match, frame)
  return frame
}

const errorFrame = ({ code, message, details }: WireError) =>
  encode(`event: error\ndata: ${JSON.stringify({ code, message, details })}\n\n`)
