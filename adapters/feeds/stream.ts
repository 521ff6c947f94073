/** Polls the feeds, and turns what is new in them into the signals of one stream. */
import { Chunk, Clock, Data, Effect, Either, Option, Schedule, Stream } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { feeds } from "../../core/languages/feeds.ts"
import type { StoreUnavailable } from "../../core/model/Errors.ts"
import type { Signal } from "../../core/platforms/Platform.ts"
import { type JsonObject, jsonOf, numberOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { inTurns, yieldRegularly } from "../../core/work/turns.ts"
import type { Addresses } from "../http/addresses.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import type { HeldRules } from "../local/HeldRules.ts"
import { decodeText } from "./decode.ts"
import { afterDocument, afterFailure, afterNothingNew, afterRedirect, type FeedState, newFeed } from "./FeedState.ts"
import { type Fetched, fetchFeed, NotFetched } from "./fetch.ts"
import { type FeedItem, type ParsedFeed, parseFeed } from "./parse.ts"

export interface WatchOptions {
  readonly urls: ReadonlyArray<string>
  readonly addresses: Addresses
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
  readonly digest: (text: string) => string
  readonly match: HeldRules["match"]
  readonly load: Effect.Effect<void, StoreUnavailable>
  readonly unload: Effect.Effect<void>
}

export const watch = (options: WatchOptions, from: Option.Option<string>): Stream.Stream<Signal> =>
  Stream.suspend(() => {
    const { urls, addresses, health, recent, digest, match } = options
    const hash = (text: string) => digest(text).slice(0, 8)
    let states = new Map<string, FeedState>()
    /** Until when the failures of a feed are reported. */
    const reported = new Map<string, number>()
    /** Feeds that are still to be read since the start of the watch. */
    const awaited = new Set<string>()
    /** Feeds that did not answer at all. */
    const silent = new Set<string>()
    let isStarted = false
    let gapSince: number | undefined

    const active = () => [...states.values()].filter(({ isGone }) => isGone !== true)
    const cursor = () => Option.some(JSON.stringify({ feeds: [...states.values()] }))

    const watching = (at: number, since: number): Signal => {
      for (const { url } of active()) awaited.add(url)
      return { _tag: "Watching", at, since: Math.min(since, at) }
    }

    const start = (now: number): ReadonlyArray<Signal> => {
      const stored = storedStates(from)
      states = new Map(urls.map((url) => [url, stored.get(url) ?? newFeed(url, now)]))
      isStarted = true
      const read = [...states.values()].flatMap(({ readAt }) => readAt ?? [])
      return [watching(now, Math.min(now, ...read))]
    }

    /** Items of this feed may be missing. */
    const suspected = ({ url, readAt }: FeedState, to: number, reason: string): ReadonlyArray<Signal> => {
      const since = reported.get(url) ?? readAt
      reported.set(url, to)
      awaited.delete(url)
      return since === undefined ? [] : [{ _tag: "Suspected", from: since, to, detail: `Feed "${url}": ${reason}` }]
    }

    const deliver = (feed: ParsedFeed, url: string, fresh: ReadonlyArray<FeedItem>, receivedAt: number) =>
      Effect.gen(function* () {
        const signals: Array<Signal> = []
        const payloads: Array<JsonObject> = []
        const { title, format, language } = feed
        const about = {
          url,
          ...(title !== undefined && { title }),
          format,
          ...(language !== undefined && { language })
        }
        const yieldIfDue = yield* yieldRegularly
        // The oldest first: feeds begin with the newest item.
        for (const item of [...fresh].reverse()) {
          const payload = { feed: about, item, seen_at: new Date(receivedAt).toISOString() }
          payloads.push(payload)
          const platformPostId = Either.getOrThrow(feeds.events.idOf(payload, digest))
          const event = Either.getOrThrow(feeds.events.read(payload, receivedAt))
          const platformRuleIds = yield* inTurns(match(event), yieldIfDue)
          if (platformRuleIds.length === 0) continue
          signals.push({
            _tag: "Event",
            // The cursor follows once all items of the poll are delivered.
            delivery: { platformPostId, payload, platformRuleIds, cursor: Option.none(), receivedAt, ack: Effect.void }
          })
        }
        if (payloads.length > 0) {
          yield* health.sawEvent
          yield* recent.record(feeds.id, payloads)
        }
        return signals
      })

    const read = (state: FeedState) =>
      Effect.gen(function* () {
        const fetched = yield* fetchFeed(state.movedTo ?? state.url, {
          addresses,
          headers: {
            ...(state.etag !== undefined && { "if-none-match": state.etag }),
            ...(state.modified !== undefined && { "if-modified-since": state.modified })
          }
        })
        silent.delete(state.url)
        const now = yield* Clock.currentTimeMillis
        const minMillis = waitOf(fetched, now)
        const { status, headers } = fetched
        if (status !== 200 && status !== 304) return yield* new Refused({ status, minMillis })
        const redirected = afterRedirect(state, fetched.isMoved ? fetched.url : undefined)
        const { etag, "last-modified": modified } = headers
        const isSame = status === 304 || (etag !== undefined && etag === state.etag)
        const validated = withValidators(redirected, { etag, modified }, status === 304)
        if (isSame) {
          return { state: afterNothingNew(validated, now, minMillis), signals: [], isJump: false }
        }
        const text = decodeText(fetched.body, headers["content-type"] ?? "")
        const feed = yield* Either.mapLeft(
          parseFeed(text, { baseUrl: fetched.url, digest }),
          (reason) => new NotFetched({ reason })
        )
        const ttl = (feed.ttlMinutes ?? 0) * 60_000
        const polled = afterDocument(validated, feed, { now, minMillis: Math.max(minMillis, ttl), hash })
        const signals = yield* deliver(feed, state.url, polled.fresh, now)
        return { state: polled.state, signals, isJump: polled.isJump }
      })

    const poll = (state: FeedState) =>
      read(state).pipe(
        Effect.flatMap((result) =>
          Effect.map(Clock.currentTimeMillis, (now): ReadonlyArray<Signal> => {
            const { url } = state
            states.set(url, result.state)
            const signals = result.isJump ? suspected(state, now, JUMP) : []
            reported.delete(url)
            awaited.delete(url)
            return [...signals, ...result.signals]
          })
        ),
        Effect.catchAll((error) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const reason = error.message
            const isRefused = error._tag === "Refused"
            const isGone = isRefused && error.status === 410
            const minMillis = isRefused ? error.minMillis : 0
            const failed = afterFailure(state, { now, reason, minMillis, isGone })
            states.set(state.url, failed)
            if (!isRefused && error.isNetwork === true) silent.add(state.url)
            else silent.delete(state.url)
            yield* health.sawError(`Feed "${state.url}": ${reason}`)
            if (failed.errors === 1 || isGone) yield* Effect.logWarning(`Feed "${state.url}" cannot be read: ${reason}`)
            // One failure may pass: the next poll shows whether anything was missed.
            return failed.errors > 1 || isGone ? suspected(state, now, reason) : []
          })
        )
      )

    const due = (now: number): ReadonlyArray<FeedState> => {
      const hosts = new Set<string>()
      return active()
        .filter(({ nextAt }) => nextAt <= now)
        .sort((a, b) => a.nextAt - b.nextAt)
        .filter(({ url, movedTo = url }) => {
          const { host } = new URL(movedTo)
          return !hosts.has(host) && hosts.add(host).size <= MAX_AT_ONCE
        })
    }

    /** All feeds are silent: the fault is more likely ours. */
    const outage = (now: number): ReadonlyArray<Signal> => {
      const all = active()
      const isOut = all.length > 0 && all.every(({ url }) => silent.has(url))
      if (isOut && gapSince === undefined) {
        gapSince = Math.max(...all.map(({ readAt }) => readAt ?? 0)) || now
        return [{ _tag: "GapStarted", at: gapSince, cause: "outage", detail: "No feed can be reached" }]
      }
      if (!isOut && gapSince !== undefined) {
        const since = gapSince
        gapSince = undefined
        return [watching(now, since)]
      }
      return []
    }

    const step = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (!isStarted) {
        const signals = start(now)
        yield* health.enter("live", describe([...states.values()]))
        return Chunk.fromIterable(signals)
      }
      const next = due(now)
      if (next.length === 0) {
        const soonest = Math.min(...active().map(({ nextAt }) => nextAt), now + ALIVE_MILLIS)
        yield* Effect.sleep(Math.max(100, soonest - now))
        const at = yield* Clock.currentTimeMillis
        return gapSince === undefined ? Chunk.of<Signal>({ _tag: "Alive", at }) : Chunk.empty()
      }
      const wasAwaited = awaited.size > 0
      const found = yield* Effect.forEach(next, poll, { concurrency: MAX_AT_ONCE })
      const at = yield* Clock.currentTimeMillis
      const changed = outage(at)
      yield* health.enter(gapSince === undefined ? "live" : "waiting", describe([...states.values()]))
      return Chunk.fromIterable<Signal>([
        ...changed,
        ...found.flat(),
        ...(wasAwaited && awaited.size === 0 ? [{ _tag: "CaughtUp" as const, at }] : []),
        { _tag: "Alive", at, cursor: cursor() }
      ])
    })

    const load = Effect.retry(options.load, Schedule.spaced("1 second")).pipe(Effect.orDie)
    return Stream.concat(Stream.drain(Stream.fromEffect(load)), Stream.repeatEffectChunk(step)).pipe(
      Stream.ensuring(options.unload)
    )
  })

// ---- helpers ----

const ALIVE_MILLIS = 15_000

/** Feeds of different hosts. */
const MAX_AT_ONCE = 8

const JUMP = "it shows no item of the poll before: others may have come and gone in between"

class Refused extends Data.TaggedError("Refused")<{ readonly status: number; readonly minMillis: number }> {
  override get message() {
    return this.status === 410 ? "it is gone (HTTP 410) and is not asked again" : `HTTP ${this.status}`
  }
}

const withValidators = (
  { etag: oldEtag, modified: oldModified, ...state }: FeedState,
  { etag, modified }: { readonly etag: string | undefined; readonly modified: string | undefined },
  isUnchanged: boolean
): FeedState => {
  const newEtag = etag ?? (isUnchanged ? oldEtag : undefined)
  const newModified = modified ?? (isUnchanged ? oldModified : undefined)
  return {
    ...state,
    ...(newEtag !== undefined && { etag: newEtag }),
    ...(newModified !== undefined && { modified: newModified })
  }
}

/** How long the server asks to wait, in milliseconds. */
const waitOf = ({ headers }: Fetched, now: number): number => {
  const { "retry-after": retry, expires, "cache-control": cache = "" } = headers
  const maxAge = numberOf(/max-age=(\d{1,8})/.exec(cache)?.[1]) ?? 0
  const until = (text: string | undefined) => (text === undefined ? 0 : Date.parse(text) - now || 0)
  const seconds = retry === undefined ? undefined : numberOf(retry)
  return Math.max(maxAge * 1_000, seconds === undefined ? until(retry) : seconds * 1_000, until(expires))
}

const describe = (all: ReadonlyArray<FeedState>): string => {
  const failing = all.filter(({ errors }) => errors > 0)
  const [first] = failing
  const count = `${all.length} ${all.length === 1 ? "feed" : "feeds"}`
  return first === undefined
    ? `Reads ${count}`
    : `Reads ${count}; ${failing.length} cannot be read, such as "${first.url}": ${first.error}`
}

const storedStates = (cursor: Option.Option<string>): ReadonlyMap<string, FeedState> => {
  const stored = objectsOf(objectOf(jsonOf(Option.getOrElse(cursor, () => "")))?.["feeds"])
  return new Map(
    stored.flatMap((state) => {
      const url = textOf(state["url"])
      // Written by `cursor`: the platform itself sends none.
      return url === undefined ? [] : [[url, state as unknown as FeedState]]
    })
  )
}
