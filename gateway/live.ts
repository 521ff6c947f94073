/** `GET /matches/stream`: matches as server-sent events, as they are stored. What the other live door shares is here too. */
import { Cause, Chunk, Clock, Effect, Either, Exit, Option, Schema, Stream } from "effect"
import type { Unauthenticated } from "../core/Errors.ts"
import { type CursorExpired, InvalidArgument, type RuleNotFound, type StorageUnavailable } from "../core/Errors.ts"
import { type AccountId, MatchId } from "../core/Ids.ts"
import type { Keys } from "../core/Keys.ts"
import type { Heard } from "../core/LiveMatches.ts"
import type { Match } from "../core/Match.ts"
import { Matches, WatchQuery } from "../core/Matches.ts"
import * as Metrics from "../core/Metrics.ts"
import { authenticate } from "./auth.ts"
import { decoder } from "./decode.ts"
import { internal, toWire, type WireError } from "./errors.ts"
import { queryOf } from "./rest.ts"
import type { KeyedRoute, Work } from "./route.ts"
import { type NothingTaken, type Taking, takingFrom } from "./taking.ts"

export const STREAM_PATH = "/matches/stream"

export const STREAM_TYPE = "text/event-stream"

export const liveRoute: KeyedRoute<Matches | Keys> = {
  method: "GET",
  path: STREAM_PATH,
  read: async (request) =>
    Either.map(readQuery(request), (query) => reply(query, authenticate(request), request.method === "HEAD"))
}

/** How a watch may end, its key included. */
export type WatchFailure = RuleNotFound | CursorExpired | StorageUnavailable | Unauthenticated

/** `key` is asked for again and again: a key that is revoked ends what it has opened. */
export const watching = (options: {
  readonly door: "sse" | "trpc"
  readonly account: AccountId
  readonly query: WatchQuery
  readonly key: Effect.Effect<AccountId, Unauthenticated | StorageUnavailable, Keys>
}): Stream.Stream<Heard, WatchFailure, Matches | Keys> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const { door, account, query, key } = options
      const matches = yield* Matches
      yield* Effect.acquireRelease(Metrics.listening(door, 1), () => Metrics.listening(door, -1))
      let checkedAt = yield* Clock.currentTimeMillis
      const check = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (now - checkedAt < CHECK_MILLIS) return
        checkedAt = now
        // A store that is away for a while is no reason to send anybody off.
        yield* Effect.catchTag(key, "StorageUnavailable", () => Effect.void)
      })
      return matches.watch(account, query).pipe(
        Stream.mapChunksEffect((heard) => Effect.as(check, heard)),
        Stream.tapErrorCause((cause) =>
          Cause.isDie(cause) ? Effect.logError("A live stream of matches broke", cause) : Effect.void
        )
      )
    })
  )

// ---- helpers ----

/** Below the time between two heartbeats, so that a quiet stream is checked at each. */
const CHECK_MILLIS = 10_000

const decodeQuery = decoder(WatchQuery)
const isMatchId = Schema.is(MatchId)

/** Where a client was cut off wins over where it began: it repeats its first query each time. */
const readQuery = (request: Request): Either.Either<WatchQuery, InvalidArgument> => {
  const lastId = request.headers.get("last-event-id") ?? ""
  return Either.flatMap(decodeQuery(queryOf(request)), (query) => {
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
  (
    query: WatchQuery,
    key: Effect.Effect<AccountId, Unauthenticated | StorageUnavailable, Keys>,
    isHead: boolean
  ): Work<Matches | Keys> =>
  (account) =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const cursor = yield* matches.startOf(account, query)
      if (isHead) return { status: 200, headers: HEADERS, body: null }
      const taking = yield* takingFrom(watching({ door: "sse", account, query: { ...query, cursor }, key }))
      return { status: 200, headers: HEADERS, body: bodyOf(taking, encode(`id: ${cursor}\nretry: 1000\n: open\n\n`)) }
    })

/** What is put into a body at once: little, for a client may stop to read at any time. */
const AT_ONCE_BYTES = 65_536

const bodyOf = (taking: Taking<Heard, WatchFailure>, opening: Uint8Array): ReadableStream<Uint8Array> => {
  let isOpen = false
  let taken: ReadonlyArray<Heard> = []
  let at = 0

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (!isOpen) {
      isOpen = true
      return controller.enqueue(opening)
    }
    if (at === taken.length) {
      const next = await taking.next()
      if (Exit.isExit(next)) {
        for (const wire of Option.toArray(failureOf(next))) controller.enqueue(errorFrame(wire))
        return controller.close()
      }
      taken = Chunk.toReadonlyArray(next)
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

/** Nobody is there any more to be told that the client went away, or takes nothing. */
const failureOf = (exit: Exit.Exit<void, WatchFailure | NothingTaken>): Option.Option<WireError> => {
  if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return Option.none()
  const failure = Cause.failureOption(exit.cause)
  if (Option.isNone(failure)) return Option.some(internal)
  return failure.value._tag === "NothingTaken" ? Option.none() : Option.some(toWire(failure.value))
}

const encoder = new TextEncoder()
const encode = (text: string) => encoder.encode(text)

const frameOf = (heard: Heard): Uint8Array =>
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
