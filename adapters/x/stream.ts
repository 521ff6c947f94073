/** X's filtered stream: reconnects, and asks for the missed posts where the plan has backfill or recovery. */
import { Chunk, Clock, Effect, Option, Queue, type Scope, Stream } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { CurrentFence } from "../../core/ownership/Ownership.ts"
import type { Period, Platform, Signal } from "../../core/platforms/Platform.ts"
import { jsonOf } from "../../core/text/json.ts"
import { lines, type OpenAnswer, read } from "../http/call.ts"
import { Freezes, Freshness } from "../http/Freshness.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import { type Connection, type Ended, supervised } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import type { Api } from "./api.ts"
import { awaitRoom } from "./awaitRoom.ts"
import { backoff } from "./backoff.ts"
import { Connections } from "./connections.ts"
import type { CountPosts } from "./countPosts.ts"
import {
  endedByAnswer,
  endedByNetwork,
  endedSilent,
  endedUnfinished,
  isTooManyConnections,
  LINE_SECONDS,
  SILENCE_SECONDS
} from "./endings.ts"
import { applyRateLimit, callBudget } from "./limits.ts"
import { problemIn } from "./problems.ts"
import { QuietWatch } from "./QuietWatch.ts"
import { type Position, RecordReader } from "./RecordReader.ts"
import { lookAtQuietPeriods, recoverGaps } from "./recoverGaps.ts"
import { Recovery } from "./recovery.ts"

export const makeWatch = (options: {
  readonly upstream: Upstream
  readonly known: KnownRules
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
  readonly countPosts: CountPosts
  readonly usage: Api["usage"]
  /** Of this process, in milliseconds. */
  readonly startedAt: number
}): Platform["watch"] => {
  const { upstream, known, health } = options
  // X allows 50.
  const budget = callBudget(48)
  let hasBackfill = true

  const recovery = new Recovery({ upstream, budget, fields })
  const connections = new Connections(upstream, options.startedAt)

  /** The owner before may still hold the connection: until then we wait for it in short steps. */
  let takingOverUntil = 0

  const watch = ({ from, gaps, quietPeriods, freezes }: Watched) =>
    Stream.suspend(() => {
      const quiet = new QuietWatch({ countPosts: options.countPosts, quietPeriods })
      const reader = new RecordReader({ ...options, quiet, from: Option.flatMap(from, positionOf) })

      const recordsOf = ({ bytes }: OpenAnswer): Stream.Stream<Signal, Ended> => {
        const freshness = new Freshness(freezes)
        const guarded = Stream.timeoutFail(
          Stream.mapError(freshness.observe(bytes), endedByNetwork),
          () => endedSilent,
          `${SILENCE_SECONDS} seconds`
        )
        let lastLineAt: number | undefined
        const limitLine = (batch: Chunk.Chunk<string>) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            if (Chunk.isNonEmpty(batch) || lastLineAt === undefined) lastLineAt = now
            return now - lastLineAt < LINE_SECONDS * 1_000 ? Effect.void : endedUnfinished
          })
        return Stream.tap(Stream.chunks(lines(guarded)), limitLine).pipe(
          // A part of a line is no sign of life: its record may be lost.
          Stream.filter(Chunk.isNonEmpty),
          Stream.mapEffect((batch) => reader.read(batch, freshness.isFresh)),
          // Delivers the posts that came before the end, in one chunk.
          Stream.flatMap(({ signals, ended }) =>
            Stream.concat(
              Stream.fromChunk(signals),
              Option.match(ended, { onNone: () => Stream.empty, onSome: Stream.fail })
            )
          )
        )
      }

      /** At least one minute after an earlier connection, so that the two overlap. */
      const backfillMinutes = (now: number): number =>
        hasBackfill && reader.resumeFrom !== undefined
          ? Math.min(Math.max(Math.ceil((now + CONNECT_MILLIS - reader.resumeFrom) / 60_000), 1), MAX_BACKFILL_MINUTES)
          : 0

      const connect: Effect.Effect<Connection<Signal>, Ended, Scope.Scope> = Effect.gen(function* () {
        const minutes = backfillMinutes(yield* Clock.currentTimeMillis)
        const query = { ...fields, ...(minutes > 0 && { backfill_minutes: String(minutes) }) }
        const answer = yield* upstream.open({ path: "/2/tweets/search/stream", query }).pipe(
          // X did not count this attempt: an outage must not use up the budget.
          Effect.tapError(() => budget.refund),
          Effect.mapError(endedByNetwork)
        )
        yield* applyRateLimit(budget, answer.headers)
        if (answer.status === 200) {
          const at = yield* Clock.currentTimeMillis
          const since = at - minutes * 60_000
          connections.opened(at)
          if (reader.resumeFrom !== undefined) yield* gaps.offer({ from: reader.resumeFrom, to: at })
          reader.connectionOpened(at, minutes > 0 ? since : undefined)
          return { records: recordsOf(answer), openedAt: at, ...(minutes > 0 && { askedSince: since }) }
        }
        // The status is enough when the body cannot be read.
        const { text } = yield* Effect.orElseSucceed(read(answer), () => ({ text: "" }))
        if (answer.status === 400 && minutes > 0) {
          hasBackfill = false
          yield* Effect.logInfo('The app has no backfill on "x": posts are missed while the stream is down')
          yield* budget.wait
          return yield* connect
        }
        if (isTooManyConnections(problemIn(jsonOf(text)))) {
          const killed = yield* connections.clearStuck(recovery.heldSince)
          if (killed > 0 || (yield* Clock.currentTimeMillis) < takingOverUntil) {
            yield* Effect.sleep(killed > 0 ? "100 millis" : "1 second")
            yield* budget.wait
            return yield* connect
          }
        }
        const ended = endedByAnswer({ ...answer, text: upstream.scrubbed(text) }, yield* Clock.currentTimeMillis)
        if (ended.kind === "unruled") known.clear()
        return yield* ended
      })

      const items = supervised({
        platform: "x",
        health,
        budget,
        known,
        lastSignAt: () => reader.watchedUntil,
        connect,
        stableAfterMillis: STABLE_AFTER_MILLIS,
        backoff,
        wake: ({ refusal }) => (refusal === "cap" ? awaitRoom(options.usage) : Effect.never)
      })
      const live = Stream.map(items, (item): Signal => (item._tag === "Record" ? item.record : item))
      const looks = lookAtQuietPeriods(quiet, quietPeriods, gaps)
      return Stream.mergeAll([live, recoverGaps({ recovery, reader }, gaps), looks], { concurrency: "unbounded" })
    })

  return (from) =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (Option.exists(yield* CurrentFence, ({ epoch }) => epoch > 1)) {
          connections.tookOver(now)
          takingOverUntil = now + TAKE_OVER_MILLIS
        }
        const freezes = yield* Freezes
        yield* Effect.forkScoped(freezes.run)
        return watch({
          from,
          gaps: yield* Queue.unbounded<Period>(),
          quietPeriods: yield* Queue.sliding<Period>(MAX_QUIET_PERIODS),
          freezes: freezes.count
        })
      })
    )
}

// ---- helpers ----

const TAKE_OVER_MILLIS = 15_000

const STABLE_AFTER_MILLIS = 60_000

const MAX_BACKFILL_MINUTES = 5

const MAX_QUIET_PERIODS = 100

/** Until the response. */
const CONNECT_MILLIS = 5_000

interface Watched {
  readonly from: Option.Option<string>
  readonly gaps: Queue.Queue<Period>
  readonly quietPeriods: Queue.Queue<Period>
  /** How often the process was frozen. */
  readonly freezes: Effect.Effect<number>
}

/** A cursor is the time until which the stream was watched, in milliseconds, and the id of the last post. */
const positionOf = (cursor: string): Option.Option<Position> => {
  const [, millis, lastPost] = /^(\d{1,15})(?: (\S+))?$/.exec(cursor) ?? []
  return millis === undefined ? Option.none() : Option.some({ watchedUntil: Number(millis), lastPost })
}

/** The fields that rules use and that readers of matches want. No fields that only the author may see. */
const fields = {
  "tweet.fields":
    "attachments,author_id,context_annotations,conversation_id,created_at,edit_history_tweet_ids,entities,geo,id," +
    "in_reply_to_user_id,lang,note_tweet,possibly_sensitive,public_metrics,referenced_tweets,reply_settings,source," +
    "text,withheld",
  expansions:
    "attachments.media_keys,author_id,entities.mentions.username,geo.place_id,in_reply_to_user_id," +
    "referenced_tweets.id,referenced_tweets.id.attachments.media_keys,referenced_tweets.id.author_id",
  "user.fields":
    "affiliation,created_at,description,id,location,name,profile_image_url,public_metrics,url,username,verified," +
    "verified_type",
  "place.fields": "country,country_code,full_name,geo,id,name,place_type",
  "media.fields": "alt_text,duration_ms,height,media_key,preview_image_url,public_metrics,type,url,variants,width"
}
