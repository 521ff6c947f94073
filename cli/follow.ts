/** Follows matches as they are stored. A lost stream is reopened at the last id, without a limit of retries. */
import { Clock, Console, Data, Effect, Option, Schema, Stream } from "effect"
import { callOf, type RemoteFailure } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import { Coverage } from "../core/coverage/Coverage.ts"
import { Match, Redaction } from "../core/matches/Match.ts"
import type { WatchQuery } from "../core/matches/Matches.ts"
import { describeGaps } from "./coverage.ts"
import { errorBodyOf } from "./failures.ts"
import type { Remote, RemoteEvent } from "./remote.ts"
import { visible, visibleJson } from "./terminal.ts"

/** A retry would not help. */
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
  /** Id of the last match seen. */
  readonly cursor: Option.Option<string>
  readonly print: (match: Match) => Effect.Effect<void>
  readonly json: boolean
}): Effect.Effect<never, RemoteFailure | CannotFollow> =>
  Effect.gen(function* () {
    if (!remote.isLive) {
      return yield* new CannotFollow({
        code: "failed_precondition",
        message: "Cannot follow a store without a server: start one with earshot serve",
        details: {}
      })
    }
    // Without a starting cursor, matches stored before the first reconnect would be missed.
    let last: Option.Option<string> = Option.isSome(cursor) ? cursor : yield* newestId(remote, query)
    let failures = 0

    /** Each event lists all gaps since the cursor. */
    const printed = new Set<string>()
    const printOnce = (line: string) => {
      if (printed.has(line)) return Effect.void
      printed.add(line)
      return Console.error(line)
    }

    const handle = (event: RemoteEvent) =>
      Effect.gen(function* () {
        if (event.name === "error") return yield* refusalOf(event.data)
        if (event.name === "match") yield* Effect.flatMap(decoded(Match, event.data), print)
        if (event.name === "match.redacted") {
          const redaction = yield* decoded(Redaction, event.data)
          yield* Console.log(json ? visibleJson(redaction) : describeRedaction(redaction))
        }
        if (event.name === "coverage") {
          const coverage = yield* decoded(Coverage, event.data)
          yield* Effect.forEach(json ? [visibleJson({ coverage })] : describeGaps(coverage), printOnce)
        }
        last = Option.orElse(Option.fromNullable(event.id), () => last)
      })

    /** Returns the reason why it ended. */
    const connection = Effect.gen(function* () {
      const events = yield* remote.events(pathOf(query), last)
      if (failures > 0 && !json) yield* Console.error("Reconnected")
      const openedAt = yield* Clock.currentTimeMillis
      const outcome = yield* Effect.either(Stream.runForEach(events, handle))
      if ((yield* Clock.currentTimeMillis) - openedAt > STABLE_MILLIS) failures = 0
      yield* outcome
      return "The server ended the stream"
    }).pipe(
      Effect.scoped,
      Effect.catchIf(isRetryable, ({ message }) => Effect.succeed(message))
    )

    while (true) {
      const reason = yield* connection
      const wait = Math.min(2 ** failures++, MAX_WAIT_SECONDS)
      const message = `${reason}. Trying again in ${wait} s`
      const body = { code: "unavailable", message, details: { retry_in_seconds: wait } }
      yield* Console.error(json ? visibleJson(body) : visible(message))
      yield* Effect.sleep(wait * 1_000)
    }
  })

// ---- helpers ----

/** A connection that lasted longer resets the backoff. */
const STABLE_MILLIS = 30_000

const MAX_WAIT_SECONDS = 30

const newestId = (remote: Remote, query: Omit<WatchQuery, "cursor">) =>
  Effect.map(remote.request(callOf(contracts.matches.list, { ...query, limit: 1 })), ({ matches }) =>
    Option.map(Option.fromNullable(matches[0]), ({ id }) => id)
  )

const pathOf = ({ rule_id, platform }: Omit<WatchQuery, "cursor">): string => {
  const query = new URLSearchParams({
    ...(rule_id !== undefined && { rule_id }),
    ...(platform !== undefined && { platform })
  }).toString()
  return `/matches/stream${query === "" ? "" : `?${query}`}`
}

const isRetryable = (failure: RemoteFailure | CannotFollow): boolean =>
  failure._tag === "RemoteUnreachable" || retryableCodes.has(failure.code)

const retryableCodes = new Set(["unavailable", "internal", "resource_exhausted", "canceled", "deadline_exceeded"])

const decoded = <A, I>(schema: Schema.Schema<A, I>, data: string) =>
  Effect.mapError(
    Schema.decodeUnknown(Schema.parseJson(schema), { onExcessProperty: "preserve" })(data),
    () =>
      new CannotFollow({
        code: "unimplemented",
        message: "The server sent an event that cannot be read: it may be newer than this command line",
        details: {}
      })
  )

const describeRedaction = ({ id, platform, platform_post_id, redacted: { at, reason } }: Redaction): string =>
  `${at}  ${platform}  ${id} was removed (${reason}): ${visible(platform_post_id)}`

const refusalOf = (data: string) =>
  Effect.flatMap(
    Effect.orElseSucceed(Schema.decodeUnknown(Schema.parseJson(Schema.Unknown))(data), () => data),
    (body) => new CannotFollow(errorBodyOf(body))
  )
