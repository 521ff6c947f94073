/** The subscriptions to matches. */
import { type TrackedEnvelope, tracked } from "@trpc/server"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { Coverage } from "../../core/coverage/Coverage.ts"
import { Match, Redaction, redactionOf } from "../../core/matches/Match.ts"
import { Matches, type MatchUpdate, WatchQuery } from "../../core/matches/Matches.ts"
import { MatchId } from "../../core/model/Ids.ts"
import { internal } from "../errors.ts"
import { type LiveFailure, type LivePuller, pullLiveUpdates } from "../http/live.ts"
import type { Resolved } from "./context.ts"
import { runOrThrow, toTrpc, wireToTrpc } from "./errors.ts"

/** tRPC clients send `lastEventId` when they reconnect. It wins over `cursor`. */
export const WatchInput = Schema.Struct({ ...WatchQuery.fields, lastEventId: WatchQuery.fields.cursor })

/** The id is the event id, from which a client resumes. A redaction is a message with the match without its payload. */
export const WatchMessage = Schema.Struct({ id: MatchId, data: Match })

/** The events of `GET /matches/stream`. A message with coverage has the id of the message or heartbeat before it. */
const MatchEvent = Schema.Union(
  Schema.Struct({ type: Schema.Literal("match"), match: Match }),
  Schema.Struct({ type: Schema.Literal("match.redacted"), redaction: Redaction }),
  Schema.Struct({ type: Schema.Literal("coverage"), coverage: Coverage })
)
type MatchEvent = typeof MatchEvent.Type
export const EventMessage = Schema.Struct({ id: MatchId, data: MatchEvent })

export const WATCH_DESCRIPTION =
  "Receive each match once, as it is stored, in the order of ids. A match that is redacted later comes again, with `redacted` and an empty payload. A client that reconnects resumes after its last message."

export const EVENTS_DESCRIPTION =
  "Receive the events of GET /matches/stream: each match once, redactions, and the coverage since the cursor when its gaps change. A client that reconnects resumes after its last message."

export type DataOf = (update: MatchUpdate) => Match | MatchEvent | undefined

export const matchOf: DataOf = (update) => ("match" in update ? update.match : undefined)

export const eventOf = (update: MatchUpdate): MatchEvent | undefined => {
  switch (update._tag) {
    case "Matched":
      return { type: "match", match: update.match }
    case "Redacted":
      return { type: "match.redacted", redaction: redactionOf(update.match) }
    case "CoverageChanged":
      return { type: "coverage", coverage: update.coverage }
    case "Heartbeat":
      return undefined
  }
}

export const resolveWatch = async ({ ctx, input, signal }: Resolved, dataOf: DataOf) => {
  const { runtime, key, setStartId } = ctx
  const { account } = ctx.caller
  // `input` was decoded with the schema.
  const { lastEventId, ...first } = input as typeof WatchInput.Type
  const query = lastEventId === undefined ? first : { ...first, cursor: lastEventId }
  const { cursor, puller } = await runOrThrow(
    runtime,
    Effect.gen(function* () {
      const matches = yield* Matches
      const cursor = yield* matches.startCursor(account, query)
      setStartId(cursor)
      return {
        cursor,
        puller: yield* pullLiveUpdates({ transport: "trpc", account, query: { ...query, cursor }, key })
      }
    }),
    signal
  )
  // Canceling the response would wait for the generator, and so for the next match.
  if (signal?.aborted === true) puller.close()
  else signal?.addEventListener("abort", puller.close, { once: true })
  return trackedUpdates(puller, cursor, dataOf)
}

// ---- helpers ----

async function* trackedUpdates(
  puller: LivePuller,
  start: MatchId,
  dataOf: DataOf
): AsyncGenerator<TrackedEnvelope<Match | MatchEvent>, void, unknown> {
  let last = start
  try {
    for (;;) {
      const next = await new Promise<Exit.Exit<ReadonlyArray<MatchUpdate>, LiveFailure>>(puller.pull)
      if (Exit.isFailure(next)) throw errorOf(next.cause)
      for (const update of next.value) {
        if ("id" in update) last = update.id
        const data = dataOf(update)
        if (data !== undefined) yield tracked(last, data)
      }
    }
  } finally {
    puller.close()
  }
}

const errorOf = (cause: Cause.Cause<LiveFailure>): Error => {
  // If the generator returned instead, the client would take the stream as complete and not reconnect.
  if (Cause.isInterruptedOnly(cause)) return new DOMException("The client closed the connection", "AbortError")
  const failure = Cause.failureOption(cause)
  return Option.isSome(failure) ? toTrpc(failure.value) : wireToTrpc(internal)
}
