/** Matches as they come in, over a stream that is opened again, where it was left, for as long as it takes. */
import { Clock, Console, Data, Effect, Option, Schema, Stream } from "effect"
import { Match } from "../core/matches/Match.ts"
import { MatchList, type WatchQuery } from "../core/matches/Matches.ts"
import { errorBodyOf } from "./failures.ts"
import { post, type Remote, type RemoteEvent, type RemoteFailure } from "./remote.ts"

/** It cannot go on, whatever is tried. */
export class CannotFollow extends Data.TaggedError("CannotFollow")<{
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}> {}

export const follow = ({
  remote,
  query,
  cursor,
  print,
  json
}: {
  readonly remote: Remote
  readonly query: Omit<WatchQuery, "cursor">
  /** The last match that was seen. */
  readonly cursor: Option.Option<string>
  readonly print: (match: Match) => Effect.Effect<void>
  readonly json: boolean
}): Effect.Effect<never, RemoteFailure | CannotFollow> =>
  Effect.gen(function* () {
    if (!remote.isLive) {
      return yield* new CannotFollow({
        code: "failed_precondition",
        message:
          "Nothing new comes into a store that no server runs on: start one with earshot serve, and set EARSHOT_API_KEY to follow it",
        details: {}
      })
    }
    // Without a place to begin with, what came while the first connection was lost would be missed.
    let last: Option.Option<string> = Option.isSome(cursor) ? cursor : yield* newest(remote, query)
    let failures = 0

    const take = (event: RemoteEvent) =>
      Effect.gen(function* () {
        if (event.name === "error") return yield* refusalOf(event.data)
        if (event.name === "match") yield* Effect.flatMap(matchOf(event.data), print)
        last = Option.orElse(Option.fromNullable(event.id), () => last)
      })

    /** Gives why it ended. */
    const connection = Effect.gen(function* () {
      const events = yield* remote.events(pathOf(query), last)
      if (failures > 0 && !json) yield* Console.error("Connected again")
      const openedAt = yield* Clock.currentTimeMillis
      const outcome = yield* Effect.either(Stream.runForEach(events, take))
      if ((yield* Clock.currentTimeMillis) - openedAt > STEADY_MILLIS) failures = 0
      yield* outcome
      return "The server ended the stream"
    }).pipe(
      Effect.scoped,
      Effect.catchIf(isPassing, ({ message }) => Effect.succeed(message))
    )

    while (true) {
      const reason = yield* connection
      const wait = Math.min(2 ** failures++, LONGEST_WAIT)
      const message = `${reason}. Trying again in ${wait} s`
      const body = { code: "unavailable", message, details: { retry_in_seconds: wait } }
      yield* Console.error(json ? JSON.stringify(body) : message)
      yield* Effect.sleep(wait * 1_000)
    }
  })

// ---- helpers ----

/** A connection that lasted so long was none of a server in trouble. */
const STEADY_MILLIS = 30_000

const LONGEST_WAIT = 30

/** The newest match there is: what comes after it is new. */
const newest = (remote: Remote, query: Omit<WatchQuery, "cursor">) =>
  Effect.map(remote.request(post("/matches", { ...query, limit: 1 }, MatchList)), ({ matches }) =>
    Option.map(Option.fromNullable(matches[0]), ({ id }) => id)
  )

const pathOf = ({ rule_id, platform }: Omit<WatchQuery, "cursor">): string => {
  const query = new URLSearchParams({
    ...(rule_id !== undefined && { rule_id }),
    ...(platform !== undefined && { platform })
  }).toString()
  return `/matches/stream${query === "" ? "" : `?${query}`}`
}

/** Trying again may help. */
const isPassing = (failure: RemoteFailure | CannotFollow): boolean =>
  failure._tag === "RemoteUnreachable" || PASSING.has(failure.code)

const PASSING = new Set(["unavailable", "internal", "resource_exhausted", "canceled", "deadline_exceeded"])

const matchOf = (data: string) =>
  Effect.mapError(
    Schema.decodeUnknown(Schema.parseJson(Match), { onExcessProperty: "preserve" })(data),
    () =>
      new CannotFollow({
        code: "unimplemented",
        message: "The server sent something that is no match: is it newer than this command line?",
        details: {}
      })
  )

const refusalOf = (data: string) =>
  Effect.flatMap(
    Effect.orElseSucceed(Schema.decodeUnknown(Schema.parseJson(Schema.Unknown))(data), () => data),
    (body) => new CannotFollow(errorBodyOf(body))
  )
