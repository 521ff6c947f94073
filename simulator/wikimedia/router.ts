/** Answers calls to Wikimedia's event streams. */
import { Effect, Either, Predicate } from "effect"
import { byteStream } from "../byteStream.ts"
import { type Call, Dropped, jsonReply, parseJson, type Reply } from "../wire.ts"
import { type Start, WikimediaConnection } from "./WikimediaConnection.ts"
import { TOPICS, type WikimediaState } from "./WikimediaState.ts"

export const answerWikimedia = (state: WikimediaState, call: Call): Effect.Effect<Reply, Dropped> =>
  Effect.suspend(() => {
    const { faults, ledger } = state.world
    const { now } = call
    const target = { platform: "wikimedia", endpoint: "stream", now } as const
    if (faults.take("refuse", target) !== undefined) {
      ledger.recordReply("wikimedia", "stream", 0, now)
      return new Dropped({ reason: "refused" })
    }
    const reply = answer(state, call)
    ledger.recordReply("wikimedia", "stream", reply.status, now)
    return Effect.succeed(reply)
  })

// ---- helpers ----

const answer = (state: WikimediaState, call: Call): Reply => {
  const { faults, settings, ledger } = state.world
  const target = { platform: "wikimedia", endpoint: "stream", now: call.now } as const
  const failure = (status: number, detail: string) => jsonReply(status, { detail })
  if (call.path !== "/v2/stream/recentchange") return failure(404, "The simulator has the stream recentchange only")
  if (call.method !== "GET") return failure(405, "Method not allowed")
  if (!/\([^)]*(?:@|https?:)[^)]*\)/.test(call.headers.get("user-agent") ?? "")) {
    return failure(403, "The User-Agent needs a contact: see the User-Agent policy")
  }
  const serverError = faults.take("server-error", target)
  if (serverError !== undefined) return failure(serverError.status, "Server error")
  const limited = faults.take("rate-limit", target)
  if (limited !== undefined) {
    const headers = limited.headers ? { "retry-after": String(limited.reset_seconds) } : undefined
    return jsonReply(429, { detail: "Too many requests" }, headers)
  }
  const starts = startsOf(call)
  if (Either.isLeft(starts)) return failure(starts.left.status, starts.left.detail)
  if (state.streams.size >= settings.wikimedia.connections) {
    return failure(429, `More than ${settings.wikimedia.connections} connections of one client`)
  }
  const connection = new WikimediaConnection(state, { now: call.now, starts: starts.right })
  state.streams.add(connection)
  ledger.recordOpen("wikimedia", state.streams.size)
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: byteStream(state.world, connection)
  }
}

interface Problem {
  readonly status: number
  readonly detail: string
}

/** Last-Event-ID takes precedence over since. Without any, the stream starts now. */
const startsOf = ({ headers, query }: Call): Either.Either<ReadonlyMap<string, Start>, Problem> => {
  const id = headers.get("last-event-id")
  const since = query.get("since")
  if (id !== null) return startsOfId(id)
  if (since === null) return Either.right(new Map())
  const timestamp = /^\d+$/.test(since) ? Number(since) : Date.parse(since)
  return Number.isNaN(timestamp)
    ? Either.left({ status: 400, detail: `since ${since} is not a timestamp` })
    : Either.right(new Map(TOPICS.map((topic) => [topic, { timestamp }])))
}

const startsOfId = (id: string): Either.Either<ReadonlyMap<string, Start>, Problem> => {
  const entries = parseJson(id)?.value
  if (!Array.isArray(entries)) return Either.left({ status: 400, detail: "Last-Event-ID is not a list" })
  const starts = new Map<string, Start>()
  for (const entry of entries) {
    if (!Predicate.isRecord(entry) || typeof entry["topic"] !== "string" || entry["partition"] !== 0) {
      return Either.left({ status: 400, detail: "An assignment of Last-Event-ID is malformed" })
    }
    const { topic, timestamp, offset } = entry
    if (!TOPICS.some((known) => known === topic)) return Either.left({ status: 404, detail: `No topic ${topic}` })
    if (typeof timestamp === "number") starts.set(topic, { timestamp })
    else if (typeof offset === "number") starts.set(topic, offset < 0 ? "newest" : { offset })
    else return Either.left({ status: 400, detail: "An assignment of Last-Event-ID has no position" })
  }
  return Either.right(starts)
}
