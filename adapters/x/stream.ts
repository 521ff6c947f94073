/** X's filtered stream: connections one after the other, with what was missed in between where X gives it. */
import { Clock, Effect, Option, type Scope, Stream } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { Delivery, Platform, Signal } from "../../core/platforms/Platform.ts"
import { type OpenAnswer, read } from "../http/call.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import { lines } from "../http/lines.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import { type Connection, type Ended, supervised } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { endedByAnswer, endedByNetwork, SILENCE_SECONDS, silent } from "./endings.ts"
import { budgetOf, keepLimit } from "./limits.ts"
import { pause } from "./manners.ts"
import { RecordReader } from "./RecordReader.ts"

export const makeWatch = (options: {
  readonly upstream: Upstream
  readonly known: KnownRules
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
}): Platform["watch"] => {
  const { upstream, known, health } = options
  // X allows 50.
  const budget = budgetOf(48)
  let hasBackfill = true

  return (from) =>
    Stream.suspend(() => {
      const reader = new RecordReader(options)
      let lastByteAt = Option.getOrUndefined(Option.flatMap(from, timeOf))

      const recordsOf = ({ bytes }: OpenAnswer): Stream.Stream<Delivery, Ended> => {
        const noted = Stream.tap(bytes, () =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            lastByteAt = now
          })
        )
        const watched = Stream.timeoutFail(
          Stream.mapError(noted, endedByNetwork),
          () => silent(lastByteAt ?? 0),
          `${SILENCE_SECONDS} seconds`
        )
        return Stream.chunks(lines(watched)).pipe(
          Stream.mapEffect((received) => reader.read(received)),
          // What came before the end is delivered, all of it at once.
          Stream.flatMap(({ deliveries, ended }) =>
            Stream.concat(
              Stream.fromChunk(deliveries),
              Option.match(ended, { onNone: () => Stream.empty, onSome: Stream.fail })
            )
          )
        )
      }

      /** Minutes to ask for again: at least one after a connection, so that nothing falls between the two. */
      const minutesMissed = (now: number): number =>
        hasBackfill && lastByteAt !== undefined
          ? Math.min(Math.max(Math.ceil((now - lastByteAt) / 60_000), 1), MOST_BACKFILL_MINUTES)
          : 0

      const connect: Effect.Effect<Connection<Delivery>, Ended, Scope.Scope> = Effect.gen(function* () {
        const minutes = minutesMissed(yield* Clock.currentTimeMillis)
        const query = { ...FIELDS, ...(minutes > 0 && { backfill_minutes: String(minutes) }) }
        const answer = yield* upstream.open({ path: "/2/tweets/search/stream", query }).pipe(
          // X has not seen it: an outage must not use up the connections that are wanted after it.
          Effect.tapError(() => budget.refund),
          Effect.mapError(endedByNetwork)
        )
        yield* keepLimit(budget, answer.headers)
        if (answer.status === 200) {
          lastByteAt = yield* Clock.currentTimeMillis
          reader.opened(lastByteAt)
          return { records: recordsOf(answer), ...(minutes > 0 && { since: lastByteAt - minutes * 60_000 }) }
        }
        // The status says enough when the rest cannot be read.
        const { text } = yield* Effect.orElseSucceed(read(answer), () => ({ text: "" }))
        if (answer.status === 400 && minutes > 0) {
          hasBackfill = false
          yield* Effect.logInfo('The app has no backfill on "x": what is posted while the stream is down is missed')
          yield* budget.wait
          return yield* connect
        }
        const ended = endedByAnswer({ ...answer, text: upstream.scrubbed(text) }, yield* Clock.currentTimeMillis)
        if (ended.kind === "unruled") known.clear()
        return yield* ended
      })

      const sightings = supervised({
        platform: "x",
        health,
        budget,
        known,
        connect,
        stableAfterMillis: GOOD_AFTER_MILLIS,
        pause
      })
      return Stream.map(
        sightings,
        (sighting): Signal => (sighting._tag === "Record" ? { _tag: "Event", delivery: sighting.record } : sighting)
      )
    })
}

// ---- helpers ----

const GOOD_AFTER_MILLIS = 60_000

const MOST_BACKFILL_MINUTES = 5

/** A cursor is the time at which a record came, in milliseconds. */
const timeOf = (cursor: string): Option.Option<number> =>
  /^\d{1,15}$/.test(cursor) ? Option.some(Number(cursor)) : Option.none()

/** All that rules can ask for, and what a reader of a match wants; nothing that only the author may see. */
const FIELDS = {
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
