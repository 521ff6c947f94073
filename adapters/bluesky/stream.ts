/** The live stream of Bluesky's posts: the whole of it is read, and matched here. */
import { Chunk, Clock, Effect, Either, Option, Stream } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { bluesky } from "../../core/languages/bluesky.ts"
import type { Delivery, Signal } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { truncated } from "../../core/text/truncated.ts"
import { inTurns, yieldRegularly } from "../../core/work/turns.ts"
import type { Budget } from "../http/Budget.ts"
import type { Unreachable } from "../http/call.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import { noConnection } from "../http/reasons.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import { Ended, exponential, type StreamItem, supervised } from "../http/supervised.ts"
import type { Refused, WebSockets } from "../http/WebSockets.ts"
import type { HeldRules } from "../local/HeldRules.ts"
import { type Frame, frameOf } from "./frames.ts"
import { type Handles, withHandles } from "./Handles.ts"
import type { NamedAccounts } from "./NamedAccounts.ts"
import { type Place, Position } from "./Position.ts"

export interface WatchOptions {
  readonly sockets: WebSockets["Type"]
  readonly baseUrl: string
  readonly budget: Budget
  readonly known: KnownRules
  readonly held: HeldRules
  readonly named: NamedAccounts
  readonly handles: Handles
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
}

export const watch = (options: WatchOptions, from: Option.Option<string>): Stream.Stream<Signal> =>
  Stream.suspend(() => {
    const { sockets, baseUrl, budget, known, held, named, handles, health, recent } = options
    const position = new Position(URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl, from)
    /** In the time of events, as gaps are. */
    let lastFrameAt: number | undefined
    let isNew = false
    let openedAt = 0
    let isReplaying = false
    /** Messages up to this number were read on an earlier connection. */
    let readBefore = Number.NEGATIVE_INFINITY
    let lastAliveAt = 0
    let skipped = 0
    /** Sent together: to find what is stored takes a query. */
    let withdrawn: { readonly first: Place; readonly since: number; readonly signals: Array<Signal> } | undefined

    const refused = ({ status, text }: Refused) => {
      const isCursor =
        status === 400 && position.resume?.after !== undefined && /CursorTooOld|FutureCursor|^\s*$/.test(text)
      const isReset = isCursor && position.reset()
      const reason = isReset
        ? text.includes("FutureCursor")
          ? COUNTS_ANEW
          : "The platform no longer has the events since the last one"
        : `The platform refused the connection with status ${status}${text === "" ? "" : `: ${truncated(text, 200)}`}`
      return new Ended({ kind: status === 429 ? "limited" : "failed", reason, ...(isReset && { waitMillis: SECOND }) })
    }
    const cut = ({ reason }: Unreachable) => new Ended({ kind: "cut", reason: `The connection failed: ${reason}` })

    const connect = Effect.gen(function* () {
      openedAt = yield* Clock.currentTimeMillis
      const resume = position.resume
      const messages = yield* sockets
        .open(urlOf(baseUrl, resume?.cursor))
        .pipe(
          Effect.mapError((error) =>
            error._tag === "Refused"
              ? refused(error)
              : new Ended({ kind: "cut", reason: noConnection(baseUrl, error.reason) })
          )
        )
      readBefore = resume?.after ?? Number.NEGATIVE_INFINITY
      isReplaying = resume !== undefined
      if (resume === undefined) lastFrameAt = yield* Clock.currentTimeMillis
      const yieldIfDue = yield* yieldRegularly
      const received = Stream.mapError(messages, cut).pipe(
        Stream.timeoutFail(() => new Ended({ kind: "stalled", reason: "No event came for 30 seconds" }), SILENCE),
        Stream.mapEffect((text) =>
          Effect.gen(function* () {
            yield* yieldIfDue
            const frame = frameOf(text)
            // An error, or a message that is cut off, does not show that all events before it came.
            if (Either.isRight(frame) && frame.right !== undefined && "seq" in frame.right) {
              lastFrameAt = Math.min(yield* Clock.currentTimeMillis, frame.right.at)
              isNew = true
            }
            return { text, frame }
          })
        )
      )
      const ticking = (records: Stream.Stream<Received, Ended>) =>
        Stream.merge(records, Stream.as(Stream.tick(TICK), undefined), { haltStrategy: "left" })
      if (resume === undefined) return { records: ticking(received) }
      const pull = yield* Stream.toPull(received)
      const { first, seq, at } = yield* firstEventOf(pull)
      if (resume.after !== undefined && seq < resume.after && position.reset()) {
        return yield* new Ended({ kind: "failed", reason: COUNTS_ANEW, waitMillis: SECOND })
      }
      const records = Stream.concat(Stream.fromChunk(first), Stream.fromPull(Effect.succeed(pull)))
      // By number, the platform has all since then, unless it counts anew and has passed our number. By time, it may begin
      // later. Its first event shows when.
      const isComplete = at - resume.at <= (resume.after === undefined ? 0 : MAX_PAUSE_MILLIS)
      return { records: ticking(records), since: isComplete ? resume.at : at }
    })

    const deliveryOf = (post: Frame & { readonly _tag: "Post" }, receivedAt: number, yieldIfDue: Effect.Effect<void>) =>
      Effect.gen(function* () {
        const payload = withHandles(post.payload, named.handlesOf(post.payload))
        const event = bluesky.events.read(payload, receivedAt)
        if (Either.isLeft(event)) return undefined
        const platformRuleIds = yield* inTurns(held.match(event.right), yieldIfDue)
        if (platformRuleIds.length === 0) return undefined
        return {
          platformPostId: post.uri,
          payload: handles.forReaders(payload, post.did),
          ...(post.damaged !== undefined && { damaged: post.damaged }),
          platformRuleIds,
          author: post.did,
          receivedAt,
          isSignOfLife: false as const,
          ack: Effect.void
        }
      })

    const withdraw = (place: Place, receivedAt: number, signal: Signal) => {
      withdrawn ??= { first: place, since: receivedAt, signals: [] }
      withdrawn.signals.push(signal)
    }

    const signalsOf = (items: Chunk.Chunk<StreamItem<Received | undefined>>) =>
      Effect.gen(function* () {
        const receivedAt = yield* Clock.currentTimeMillis
        const yieldIfDue = yield* yieldRegularly
        const signals: Array<Signal> = []
        const matched: Array<Delivery> = []
        const unreadable: Array<string> = []
        for (const item of items) {
          if (item._tag !== "Record") {
            signals.push(item)
            if (item._tag === "Watching" && item.since < item.at && named.hasIncomplete()) {
              // Their own gaps begin at the last comparison, but the replay may begin before.
              signals.push({ _tag: "Suspected", from: item.since, to: item.at, detail: INCOMPLETE })
            }
            continue
          }
          if (item.record === undefined) continue
          const { frame: read, text } = item.record
          if (Either.isLeft(read)) {
            const detail = `The platform sent an event that cannot be read: ${read.left}`
            const from = Math.min(position.resume?.at ?? receivedAt, receivedAt)
            signals.push({ _tag: "Lost", from, to: receivedAt, cause: "unreadable", detail })
            unreadable.push(`${read.left}: "${truncated(text, 300)}"`)
            continue
          }
          const frame = read.right
          if (frame?._tag === "Failed") yield* Effect.logWarning(`"bluesky" ends the connection: ${frame.reason}`)
          if (frame === undefined || !("seq" in frame) || frame.seq <= readBefore) continue
          position.advance(frame)
          switch (frame._tag) {
            case "Post": {
              const found = yield* deliveryOf(frame, receivedAt, yieldIfDue)
              if (found === undefined) break
              // A match shows that everything before it came: withdrawals, too.
              if (withdrawn !== undefined) signals.push(...withdrawn.signals)
              withdrawn = undefined
              const delivery = { ...found, cursor: Option.fromNullable(position.cursor()) }
              matched.push(delivery)
              signals.push({ _tag: "Event", delivery })
              break
            }
            case "Deleted":
              withdraw(frame, receivedAt, { _tag: "Withdrawn", reason: "deleted", what: { postId: frame.uri } })
              break
            case "Account":
              if (!frame.isActive) {
                const what = { author: frame.did, until: frame.at }
                const reason = frame.isDeleted ? "deleted" : "withheld"
                withdraw(frame, receivedAt, { _tag: "Withdrawn", reason, what })
              }
              break
            case "Identity":
              handles.forget(frame.did)
              named.recheck(frame.did, frame.handle)
          }
          yield* yieldIfDue
          if (isReplaying && frame.at >= openedAt) {
            isReplaying = false
            signals.push({ _tag: "CaughtUp", at: receivedAt })
          }
        }
        if (withdrawn !== undefined && receivedAt - withdrawn.since >= WITHDRAW_MILLIS) {
          signals.push(...withdrawn.signals)
          withdrawn = undefined
        }
        // With matches, as their cursor is stored.
        const isDue = matched.length > 0 || receivedAt - lastAliveAt >= ALIVE_MILLIS
        if (lastFrameAt !== undefined && isNew && isDue) {
          lastAliveAt = receivedAt
          isNew = false
          const cursor = position.cursor(withdrawn?.first)
          // Everything up to then came and is obeyed: after a stop, a gap begins there.
          const at = Math.min(lastFrameAt, withdrawn?.first.at ?? position.resume?.at ?? lastFrameAt)
          signals.push({ _tag: "Alive", at, cursor: Option.fromNullable(cursor) })
        }
        if (unreadable.length > 0) {
          skipped += unreadable.length
          yield* Metrics.unreadable(bluesky.id, unreadable.length)
          yield* Effect.logWarning(
            `Skipped ${unreadable.length} unreadable events of "bluesky" (${skipped} so far). The first: ${unreadable[0]}`
          )
        }
        if (matched.length > 0) {
          yield* health.sawEvent
          yield* recent.record(
            bluesky.id,
            matched.flatMap(({ damaged, payload }) => (damaged === undefined ? [payload] : []))
          )
        }
        return Chunk.unsafeFromArray(signals)
      })

    const items = supervised({
      platform: bluesky.id,
      health,
      budget,
      known,
      lastSignAt: () => lastFrameAt,
      connect,
      stableAfterMillis: 10 * SECOND,
      backoff
    })
    return Stream.chunks(items).pipe(Stream.mapEffect(signalsOf), Stream.filter(Chunk.isNonEmpty), Stream.flattenChunks)
  })

// ---- helpers ----

interface Received {
  readonly text: string
  readonly frame: ReturnType<typeof frameOf>
}

const SECOND = 1_000

const COUNTS_ANEW = "The platform counts its events anew"

/** Posts never pause, but connections fall silent. */
const SILENCE = "30 seconds"
const MAX_PAUSE_MILLIS = 60 * SECOND

const TICK = "1 second"

const INCOMPLETE = "Handles that rules name could not be looked up yet: posts of these accounts may be missing"

/** How long what is withdrawn waits for more. */
const WITHDRAW_MILLIS = SECOND

/** Between two signs of life, each of which stores the cursor. */
const ALIVE_MILLIS = 5 * SECOND

const urlOf = (baseUrl: string, cursor: number | undefined): string => {
  // Without `kinds`: the states of accounts must come, too.
  const query = new URLSearchParams({
    collections: "app.bsky.feed.post",
    ...(cursor !== undefined && { cursor: String(cursor) })
  })
  const base = baseUrl.replace(/^http/, "ws").replace(/\/+$/, "")
  return `${base}/xrpc/network.bsky.jetstream.subscribeEvents?${query}`
}

/** Reads until there is an event with a time. */
const firstEventOf = (pull: Effect.Effect<Chunk.Chunk<Received>, Option.Option<Ended>>) =>
  Effect.gen(function* () {
    let first = Chunk.empty<Received>()
    for (;;) {
      const more = yield* Effect.mapError(
        pull,
        Option.getOrElse(() => new Ended({ kind: "cut", reason: "The platform closed the connection" }))
      )
      first = Chunk.appendAll(first, more)
      for (const { frame } of more) {
        const read = Option.getOrUndefined(Either.getRight(frame))
        if (read?._tag === "Failed") {
          return yield* new Ended({ kind: "failed", reason: `The platform ended the connection: ${read.reason}` })
        }
        if (read !== undefined && "seq" in read) return { first, seq: read.seq, at: read.at }
      }
    }
  })

const backoff = ({ kind, waitMillis }: Ended, inARow: number): number =>
  waitMillis ?? exponential(SECOND, inARow, kind === "limited" ? 300 * SECOND : 30 * SECOND)
