/** Polls the feeds, and turns what is new in them into the signals of one stream. */
import { Cause, Chunk, Clock, Data, Effect, Either, FiberSet, Option, Schedule, Stream } from "effect"
import { ownLog } from "../../core/backtests/EventLog.ts"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { FeedStore } from "../../core/feeds/FeedStore.ts"
import { feeds } from "../../core/languages/feeds.ts"
import type { StoreUnavailable } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import type { Signal } from "../../core/platforms/Platform.ts"
import { counted } from "../../core/text/counted.ts"
import { type JsonObject, numberOf } from "../../core/text/json.ts"
import { currentParty, inTurns, yieldRegularly } from "../../core/work/turns.ts"
import type { Addresses } from "../http/addresses.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import type { HeldRules } from "../local/HeldRules.ts"
import type { OwnMatching } from "../local/ownMatching.ts"
import {
  afterDocument,
  afterFailure,
  afterNothingNew,
  afterRedirect,
  type FeedState,
  MAX_INTERVAL,
  recordOf,
  stateOf
} from "./FeedState.ts"
import { type Fetched, fetchFeed, NotFetched } from "./fetch.ts"
import type { FeedItem, ParsedFeed } from "./parse.ts"
import type { Parse } from "./parser.ts"
import { isRead, type Source, Sources } from "./Sources.ts"

export interface WatchOptions {
  /** The feeds of the operator. */
  readonly urls: ReadonlyArray<string>
  readonly addresses: Addresses
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
  readonly store: FeedStore["Type"]
  readonly digest: (text: string) => string
  readonly parse: Parse
  readonly match: HeldRules["match"]
  readonly prepare: OwnMatching["prepare"]
  /** Whether the account may be sent items now, and counts them. */
  readonly mayPoll: (account: AccountId) => Effect.Effect<boolean>
  readonly charge: (account: AccountId, items: number) => Effect.Effect<void>
  readonly load: Effect.Effect<void, StoreUnavailable>
  readonly unload: Effect.Effect<void>
  /** How often the list of feeds is read from the store: other servers change it, too. */
  readonly listMillis: number
}

/** What is known of the feeds lies in the store: the stream has no cursor. */
export const watch = (options: WatchOptions): Stream.Stream<Signal> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      yield* Effect.addFinalizer(() => options.unload)
      const { urls, addresses, health, recent, store, digest, parse, match, prepare, mayPoll, charge } = options
      const runs = yield* FiberSet.make<void>()
      /** Opens when a poll is done. */
      const wake = yield* Effect.makeLatch()
      const finished: Array<{ readonly source: Source; readonly signals: ReadonlyArray<Signal> }> = []
      let sources = new Sources([], new Map(), 0)
      let version = -1
      let listAt = 0
      let aliveAt = 0
      /** Until when the failures of a feed are reported. */
      const reported = new Map<string, number>()
      /** Feeds that are still to be read since the start of the watch. */
      const awaited = new Set<string>()
      let isCatchingUp = false
      /** Feeds of the operator that did not answer at all. */
      const silent = new Set<string>()
      let gapSince: number | undefined
      let startedAt = 0

      const active = () => sources.shared.map(({ state }) => state).filter(({ isGone }) => isGone !== true)

      const watching = (at: number, since: number): Signal => {
        for (const { url } of active()) awaited.add(url)
        isCatchingUp = true
        return { _tag: "Watching", at, since: Math.min(since, at) }
      }

      const readList = (known: ReadonlyMap<string, FeedState>) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          listAt = now + options.listMillis
          const changed = yield* store.changed(version)
          if (Option.isNone(changed)) return
          version = changed.value.version
          sources.setAdded(changed.value.feeds, known, now)
          for (const url of awaited) if (!sources.has(url)) awaited.delete(url)
          yield* store.prune(urls)
        })

      const start = Effect.gen(function* () {
        yield* options.load
        const known = new Map((yield* store.records).map((record) => [record.url, stateOf(record)]))
        const now = yield* Clock.currentTimeMillis
        sources = new Sources(urls, known, now)
        version = -1
        yield* readList(known)
        // What others have missed since then shows at their next poll, as at any other.
        const overdue = sources.added.flatMap(({ state }) =>
          state.nextAt <= now && state.errors === 0 && state.isGone !== true ? [state] : []
        )
        const read = [...active(), ...overdue].flatMap(({ readAt }) => readAt ?? [])
        const signal = watching(now, Math.min(now, ...read))
        for (const { url } of overdue) awaited.add(url)
        startedAt = now
        yield* health.enter("live", describe(sources))
        return Chunk.of(signal)
      }).pipe(Effect.retry(Schedule.spaced("1 second")), Effect.orDie)

      /** Items of this feed may be missing. The coverage of all accounts names feeds of the operator only. */
      const suspected = (source: Source, to: number, reason: string): ReadonlyArray<Signal> => {
        const { url, readAt } = source.state
        const since = reported.get(url) ?? readAt
        awaited.delete(url)
        if (!source.isShared) return []
        reported.set(url, to)
        return since === undefined ? [] : [{ _tag: "Suspected", from: since, to, detail: `Feed "${url}": ${reason}` }]
      }

      /** Feeds that are not asked again stay reported, as often as those that fail for long. */
      const stillGone = (now: number): ReadonlyArray<Signal> =>
        sources.shared.flatMap((source) => {
          const { url, isGone, error = "" } = source.state
          return isGone === true && now - (reported.get(url) ?? 0) >= MAX_INTERVAL ? suspected(source, now, error) : []
        })

      /** `sender`: undefined for the items of a feed of the operator. */
      const deliver = (
        payloads: ReadonlyArray<JsonObject>,
        sender: AccountId | undefined,
        receivedAt: number
      ): Effect.Effect<ReadonlyArray<Signal>> =>
        Effect.gen(function* () {
          const log = sender === undefined ? feeds.id : ownLog(feeds.id, sender)
          if (sender !== undefined) yield* charge(sender, payloads.length)
          const matching =
            sender === undefined
              ? match
              : yield* Effect.orDie(Effect.retry(prepare(sender), Schedule.spaced("1 second")))
          const signals: Array<Signal> = []
          const yieldIfDue = yield* yieldRegularly
          for (const [index, payload] of payloads.entries()) {
            yield* yieldIfDue
            if (index % RECORD_SIZE === 0) yield* recent.record(log, payloads.slice(index, index + RECORD_SIZE))
            const platformPostId = Either.getOrThrow(feeds.events.idOf(payload, digest))
            const event = Either.getOrThrow(feeds.events.read(payload, receivedAt))
            const platformRuleIds = yield* inTurns(matching(event), yieldIfDue)
            if (platformRuleIds.length === 0) continue
            const about = { platformPostId, payload, platformRuleIds, ...(sender !== undefined && { sender }) }
            // What is known of the feed is stored once all items of the poll are durable.
            const delivery = { ...about, cursor: Option.none(), receivedAt, ack: Effect.void }
            signals.push({ _tag: "Event", delivery })
          }
          if (payloads.length > 0 && sender === undefined) yield* health.sawEvent
          return signals
        }).pipe(Effect.locally(currentParty, sender ?? ""))

      const read = ({ state, isShared }: Source) =>
        Effect.gen(function* () {
          const { maxBytes, maxItems } = isShared ? LIMITS.shared : LIMITS.added
          const fetched = yield* fetchFeed(state.movedTo ?? state.url, {
            addresses,
            headers: {
              ...(state.etag !== undefined && { "if-none-match": state.etag }),
              ...(state.modified !== undefined && { "if-modified-since": state.modified })
            },
            maxBytes
          })
          const answeredAt = yield* Clock.currentTimeMillis
          const minMillis = waitOf(fetched, answeredAt)
          const { status, headers, body } = fetched
          if (status !== 200 && status !== 304) return yield* new Refused({ status, minMillis })
          const redirected = afterRedirect(state, fetched.isMoved ? fetched.url : undefined)
          const { etag, "last-modified": modified } = headers
          const isSame = status === 304 || (etag !== undefined && etag === state.etag)
          const validated = withValidators(redirected, { etag, modified }, status === 304)
          if (isSame) return { state: afterNothingNew(validated, answeredAt, minMillis), payloads: [], isJump: false }
          const feed = yield* parse({
            body,
            contentType: headers["content-type"] ?? "",
            baseUrl: fetched.url,
            maxItems
          })
          const now = yield* Clock.currentTimeMillis
          const ttl = (feed.ttlMinutes ?? 0) * 60_000
          const polled = afterDocument(validated, feed, { now, minMillis: Math.max(minMillis, ttl) })
          return {
            state: polled.state,
            payloads: payloadsOf(feed, polled.fresh, state.url, now),
            isJump: polled.isJump
          }
        })

      const poll = (source: Source): Effect.Effect<ReadonlyArray<Signal>> =>
        read(source).pipe(
          Effect.flatMap(({ state, payloads, isJump }) =>
            Effect.gen(function* () {
              const now = yield* Clock.currentTimeMillis
              const { url, readAt } = source.state
              const jump = isJump ? suspected(source, now, JUMP) : []
              silent.delete(url)
              reported.delete(url)
              awaited.delete(url)
              source.state = state
              // Whoever has added the feed since the poll before gets what appears from now on.
              const readers = source.isShared
                ? [undefined]
                : [...source.owners].flatMap(([account, at]) => (readAt !== undefined && readAt >= at ? [account] : []))
              const delivered = yield* Effect.forEach(readers, (reader) => deliver(payloads, reader, now))
              return [...jump, ...delivered.flat()]
            })
          ),
          // One feed must not stop the others.
          Effect.catchAllDefect((defect) =>
            Effect.zipRight(
              Effect.logError(`Feed "${source.state.url}" cannot be read`, Cause.die(defect)),
              new NotFetched({ reason: "it cannot be read: the log of the server has the defect" })
            )
          ),
          Effect.catchAll((error) => failed(source, error))
        )

      const failed = (source: Source, error: NotFetched | Refused) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const { url } = source.state
          const reason = error.message
          const isRefused = error._tag === "Refused"
          const isGone = isRefused && error.status === 410
          const minMillis = isRefused ? error.minMillis : 0
          const before = source.state
          source.state = afterFailure(before, { now, reason, minMillis, isGone })
          const isFirst = source.state.errors === 1 || isGone
          if (!source.isShared) {
            if (isFirst) yield* Effect.logDebug(`Feed "${url}" of an account cannot be read: ${reason}`)
            awaited.delete(url)
            return []
          }
          if (!isRefused && error.isNetwork === true) silent.add(url)
          else silent.delete(url)
          yield* health.sawError(`Feed "${url}": ${reason}`)
          if (isFirst) yield* Effect.logWarning(`Feed "${url}" cannot be read: ${reason}`)
          // One failure may pass: the next poll shows whether anything was missed.
          return source.state.errors > 1 || isGone ? suspected(source, now, reason) : []
        })

      /** All feeds of the operator are silent: the fault is more likely ours. */
      const outage = (now: number): ReadonlyArray<Signal> => {
        const all = active()
        const isOut = all.length > 0 && all.every(({ url }) => silent.has(url))
        if (isOut && gapSince === undefined) {
          gapSince = Math.max(...all.map(({ readAt }) => readAt ?? 0)) || startedAt
          return [{ _tag: "GapStarted", at: gapSince, cause: "outage", detail: OUTAGE }]
        }
        if (!isOut && gapSince !== undefined) {
          const since = gapSince
          gapSince = undefined
          return [watching(now, since)]
        }
        return []
      }

      const startPolls = (now: number) =>
        Effect.gen(function* () {
          const refused = yield* Effect.filter(sources.waiting(now), (account) => Effect.negate(mayPoll(account)))
          for (const source of sources.take(now, new Set(refused))) {
            yield* FiberSet.run(
              runs,
              Effect.flatMap(poll(source), (signals) =>
                Effect.suspend(() => {
                  finished.push({ source, signals })
                  return wake.open
                })
              )
            )
          }
        })

      const save = (polled: ReadonlyArray<Source>) => {
        const states = polled.map(({ state }) => state)
        return Effect.suspend(() => {
          const left = states.filter((_, index) => polled[index] !== undefined && isRead(polled[index]))
          return store.save(left.map(recordOf))
        }).pipe(Effect.retry(Schedule.spaced("1 second")), Effect.orDie)
      }

      const step = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (now >= listAt) {
          yield* Effect.catchAll(readList(new Map()), ({ cause }) =>
            Effect.logDebug("Cannot read the list of feeds", cause)
          )
        }
        yield* startPolls(now)
        const until = Math.min(listAt, now + ALIVE_MILLIS, sources.nextAt(now))
        yield* Effect.raceFirst(wake.await, Effect.sleep(Math.max(0, until - now)))
        yield* wake.close
        const at = yield* Clock.currentTimeMillis
        const done = finished.splice(0)
        for (const { source } of done) sources.done(source)
        if (done.length === 0 && at < aliveAt) return Chunk.empty<Signal>()
        const changed = [...outage(at), ...stillGone(at)]
        aliveAt = at + ALIVE_MILLIS
        const about = describe(sources)
        yield* gapSince === undefined ? health.enter("live", about) : health.enter("waiting", `${about}. ${OUTAGE}`)
        if (done.length === 0) {
          return Chunk.fromIterable<Signal>([
            ...changed,
            ...(gapSince === undefined ? [{ _tag: "Alive" as const, at }] : [])
          ])
        }
        const hasCaughtUp = isCatchingUp && awaited.size === 0
        if (hasCaughtUp) isCatchingUp = false
        return Chunk.fromIterable<Signal>([
          ...changed,
          ...done.flatMap(({ signals }) => signals),
          ...(hasCaughtUp ? [{ _tag: "CaughtUp" as const, at }] : []),
          { _tag: "Alive", at, ack: save(done.map(({ source }) => source)) }
        ])
      })

      return Stream.concat(Stream.fromIterableEffect(start), Stream.repeatEffectChunk(step))
    })
  )

// ---- helpers ----

const ALIVE_MILLIS = 15_000

/** Of a document. Accounts are not trusted with as much as the operator. */
const LIMITS = {
  shared: { maxBytes: 5 * 1024 * 1024, maxItems: 2_000 },
  added: { maxBytes: 1024 * 1024, maxItems: 1_000 }
}

const OUTAGE = "No feed of the operator can be reached: this server may have no network"

/** Items recorded at a time: all of a poll would take too long. */
const RECORD_SIZE = 100

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
  const newEtag = short(etag) ?? (isUnchanged ? oldEtag : undefined)
  const newModified = short(modified) ?? (isUnchanged ? oldModified : undefined)
  return {
    ...state,
    ...(newEtag !== undefined && { etag: newEtag }),
    ...(newModified !== undefined && { modified: newModified })
  }
}

/** Longer ones are not kept. */
const short = (validator: string | undefined): string | undefined =>
  validator !== undefined && validator.length <= 500 ? validator : undefined

/** How long the server asks to wait, in milliseconds. */
const waitOf = ({ headers }: Fetched, now: number): number => {
  const { "retry-after": retry, expires, "cache-control": cache = "" } = headers
  const maxAge = numberOf(/max-age=(\d{1,8})/.exec(cache)?.[1]) ?? 0
  const until = (text: string | undefined) => (text === undefined ? 0 : Date.parse(text) - now || 0)
  const seconds = retry === undefined ? undefined : numberOf(retry)
  return Math.max(maxAge * 1_000, seconds === undefined ? until(retry) : seconds * 1_000, until(expires))
}

/** The oldest first: feeds begin with the newest item. */
const payloadsOf = (
  { title, format, language }: ParsedFeed,
  fresh: ReadonlyArray<FeedItem>,
  url: string,
  now: number
): ReadonlyArray<JsonObject> => {
  const feed = { url, ...(title !== undefined && { title }), format, ...(language !== undefined && { language }) }
  return [...fresh].reverse().map((item) => ({ feed, item, seen_at: new Date(now).toISOString() }))
}

/** For all accounts: names feeds of the operator only. */
const describe = ({ shared, added }: Sources): string => {
  const ofAccounts = added.length === 0 ? [] : [`${counted(added.length, "feed")} of accounts`]
  if (shared.length === 0) return `Reads ${ofAccounts[0] ?? "no feed yet: accounts add feeds"}`
  const failing = shared.map(({ state }) => state).filter(({ errors }) => errors > 0)
  const [first] = failing
  const all = [counted(shared.length, "feed"), ...ofAccounts].join(" and ")
  return first === undefined
    ? `Reads ${all}`
    : `Reads ${all}; ${failing.length} cannot be read, such as "${first.url}": ${first.error}`
}
