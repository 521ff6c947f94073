/** Answers requests for feeds: conditional requests, and the faults of publishers. */
import { Effect, Stream } from "effect"
import { type Call, Dropped, jsonReply, type Reply } from "../wire.ts"
import { bombOf, webPage } from "./documents.ts"
import type { Feed, FeedsState } from "./FeedsState.ts"

export const answerFeeds = (state: FeedsState, call: Call): Effect.Effect<Reply, Dropped> =>
  Effect.suspend(() => {
    const [, moved, name] = /^\/feeds\/(moved\/)?([^/]*)$/.exec(call.path) ?? []
    const feed = state.feeds.find((one) => one.name === name)
    if (feed === undefined) {
      const known = state.feeds.map((one) => `/feeds/${one.name}`).join(", ")
      return Effect.succeed(jsonReply(404, { message: `The simulator has the feeds ${known}` }))
    }
    const reply = answer(state, feed, { call, isMoved: moved !== undefined })
    state.world.ledger.recordReply("feeds", feed.name, reply?.status ?? 0, call.now)
    return reply === undefined ? new Dropped({ reason: "refused" }) : Effect.succeed(reply)
  })

// ---- helpers ----

/** Undefined: the connection is dropped. */
const answer = (
  state: FeedsState,
  feed: Feed,
  { call, isMoved }: { readonly call: Call; readonly isMoved: boolean }
): Reply | undefined => {
  const { faults } = state.world
  const { now } = call
  const target = { platform: "feeds", endpoint: feed.name, now } as const
  const empty = (status: number, headers: Readonly<Record<string, string>> = {}): Reply => ({
    status,
    headers,
    body: null
  })
  if (call.method !== "GET") return empty(405)
  if (faults.take("refuse", target) !== undefined) return undefined
  const redirect = isMoved ? undefined : faults.take("redirect", target)
  if (redirect !== undefined) return empty(redirect.status, { location: `/feeds/moved/${feed.name}` })
  if (faults.take("gone", target) !== undefined) return empty(410)
  const failed = faults.take("server-error", target)
  if (failed !== undefined) return empty(failed.status)
  const limited = faults.take("rate-limit", target)
  if (limited !== undefined) {
    const until = new Date(state.world.reportedTime("feeds", now) + limited.reset_seconds * 1_000)
    const wait = limited.date === true ? until.toUTCString() : String(limited.reset_seconds)
    return empty(429, limited.headers ? { "retry-after": wait } : {})
  }
  const damaged =
    faults.take("web-page", target) !== undefined
      ? webPage
      : faults.take("entity-bomb", target) !== undefined
        ? bombOf(feed.format)
        : undefined
  if (damaged !== undefined) return whole(damaged.contentType, damaged.text)
  if (faults.take("window-jump", target) !== undefined) state.jump(feed, now)
  if (faults.take("new-ids", target) !== undefined) feed.rewriteIds(now)
  const headers = validatorsOf(state, feed)
  return isUnchanged(call, headers) ? empty(304, headers) : documentReply(state, feed, { now, headers })
}

const documentReply = (
  state: FeedsState,
  feed: Feed,
  { now, headers }: { readonly now: number; readonly headers: Readonly<Record<string, string>> }
): Reply => {
  const { faults, now: currentTime } = state.world
  const target = { platform: "feeds", endpoint: feed.name, now } as const
  const { contentType, text, sent } = feed.document()
  const half = text.slice(0, Math.ceil(text.length / 2))
  if (faults.take("torn-line", target) !== undefined) return whole(contentType, half)
  if (faults.take("cut", target) !== undefined) {
    const body = Stream.concat(Stream.make(encoder.encode(half)), Stream.fail(new Dropped({ reason: "cut" })))
    return { status: 200, headers: { "content-type": contentType }, body }
  }
  const oversized = faults.take("oversized", target)
  if (oversized !== undefined) {
    const pieces = Stream.take(Stream.repeatValue(PADDING), Math.ceil(oversized.bytes / PADDING.length))
    const body = Stream.concat(Stream.make(encoder.encode(half)), Stream.rechunk(pieces, 1))
    return { status: 200, headers: { "content-type": contentType }, body }
  }
  const isMistyped = faults.take("wrong-charset", target) !== undefined
  const bytes = isMistyped ? Buffer.from(text, "latin1") : encoder.encode(text)
  const slow = faults.take("slow", target)
  const pieces = slow === undefined ? Stream.make(bytes) : inPieces(bytes, slow.bytes, slow.millis)
  const atEnd = Effect.map(currentTime, sent)
  return {
    status: 200,
    // A document with a fault must not be the one that later requests compare with.
    headers: { "content-type": contentType, ...(isMistyped ? {} : headers) },
    body: Stream.concat(pieces, Stream.execute(atEnd))
  }
}

const encoder = new TextEncoder()

const PADDING = new Uint8Array(65_536).fill(32)

const whole = (contentType: string, text: string): Reply => ({
  status: 200,
  headers: { "content-type": contentType },
  body: text
})

const inPieces = (bytes: Uint8Array, atLeast: number, millis: number): Stream.Stream<Uint8Array> => {
  const size = Math.max(1, atLeast, Math.ceil(bytes.length / MAX_PIECES))
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size)
  )
  return Stream.rechunk(Stream.fromIterable(pieces), 1).pipe(Stream.tap(() => Effect.sleep(millis)))
}

const MAX_PIECES = 10_000

const validatorsOf = ({ world }: FeedsState, feed: Feed): Readonly<Record<string, string>> => {
  const { validators } = world.settings.feeds
  const { etag, modified } = feed.validators
  return {
    ...((validators === "both" || validators === "etag") && { etag }),
    ...((validators === "both" || validators === "last-modified") && { "last-modified": modified })
  }
}

/** If-None-Match takes precedence over If-Modified-Since. */
const isUnchanged = ({ headers }: Call, current: Readonly<Record<string, string>>): boolean => {
  const known = headers.get("if-none-match")
  if (known !== null) return known === current["etag"]
  const since = headers.get("if-modified-since")
  return since !== null && since === current["last-modified"]
}
