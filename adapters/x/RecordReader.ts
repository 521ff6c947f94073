/** Turns lines of X's stream into signals. Dedupe and the watch for a deaf stream carry over to the next connection. */

import { Chunk, Clock, Effect, Option } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { Delivery, Period, Signal } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { instantOf, objectOf, textOf } from "../../core/text/json.ts"
import { numberProblem } from "../../core/text/numbers.ts"
import { truncated } from "../../core/text/truncated.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import type { Ended } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { Delays } from "./Delays.ts"
import { endedInStream } from "./endings.ts"
import { MAX_CHARACTERS } from "./problems.ts"
import type { QuietWatch } from "./QuietWatch.ts"
import { type Line, type PostRecord, readLine, SeenPosts, UnclaimedPosts } from "./records.ts"

export interface ReadResult {
  readonly signals: Chunk.Chunk<Signal>
  /** Set when the lines end the stream. */
  readonly ended: Option.Option<Ended>
}

/** Where a process stopped: a cursor. In milliseconds. */
export interface Position {
  readonly watchedUntil: number
  readonly lastPost: string | undefined
}

export class RecordReader {
  private readonly upstream: Upstream
  private readonly health: StreamHealth
  private readonly recent: RecentEvents["Type"]
  private readonly quiet: QuietWatch
  private readonly seen = new SeenPosts()
  private readonly delays = new Delays()
  private readonly unclaimed: UnclaimedPosts
  /** From the position at which the process before this one stopped. */
  private readonly lastPost: string | undefined
  /** The stream was open at that time, and everything that X had sent was read. In milliseconds. */
  private provedAt: number | undefined
  /** Until there is evidence that it is complete. */
  private replay: Replay | undefined
  private lastReadAt = Number.NEGATIVE_INFINITY
  private skipped = 0

  /** `from`: where the process before this one stopped. */
  constructor(options: {
    readonly upstream: Upstream
    readonly health: StreamHealth
    readonly recent: RecentEvents["Type"]
    readonly quiet: QuietWatch
    readonly known: KnownRules
    readonly from: Option.Option<Position>
  }) {
    this.upstream = options.upstream
    this.health = options.health
    this.recent = options.recent
    this.quiet = options.quiet
    this.unclaimed = new UnclaimedPosts(options.known)
    const from = Option.getOrUndefined(options.from)
    this.lastPost = from?.lastPost
    this.provedAt = from && from.watchedUntil + this.delays.millis
  }

  /** How late posts arrive, in milliseconds. */
  get delay(): number {
    return this.delays.millis
  }

  /** All posts that were made until then have arrived, except in gaps. In milliseconds. */
  get watchedUntil(): number | undefined {
    return this.provedAt === undefined ? undefined : this.provedAt - this.delays.millis
  }

  /** From when on posts may be missing: the next connection asks for them. In milliseconds. */
  get resumeFrom(): number | undefined {
    return this.replay?.from ?? this.watchedUntil
  }

  /** `since`: X was asked for the posts since then. Absent without backfill. In milliseconds. */
  connectionOpened(at: number, since?: number): void {
    const from = this.resumeFrom
    this.quiet.connectionOpened(at, this.provedAt)
    this.replay =
      since === undefined || from === undefined
        ? undefined
        : {
            since,
            from,
            cutAt: this.provedAt ?? from,
            at,
            isOver: false,
            isDamaged: false,
            hasOld: false,
            hasNew: false
          }
    this.provedAt = at
    this.lastReadAt = at
  }

  /** The posts of this period were sent again, all of them. */
  recovered({ from, to }: Period): void {
    const { replay } = this
    if (replay !== undefined && from <= replay.from) replay.from = Math.max(replay.from, Math.min(to, replay.at))
  }

  /**
   * Also looks whether the stream is deaf: keep-alive lines make that frequent enough. Lines that are not `isFresh` lay in a
   * buffer: they prove nothing but that the stream was open when their posts were made.
   */
  read(lines: Iterable<string>, isFresh: boolean): Effect.Effect<ReadResult> {
    return Effect.gen(this, function* () {
      const now = yield* Clock.currentTimeMillis
      const { replay } = this
      if (replay !== undefined && isFresh && now - this.lastReadAt >= REPLAY_SILENCE_MILLIS) replay.isOver = true
      this.lastReadAt = now
      const isOfReplay = replay !== undefined && !replay.isOver
      const lostFrom = (isOfReplay ? Math.max(replay.from, replay.since) : this.watchedUntil) ?? now
      const signals: Array<Signal> = []
      const posts: Array<unknown> = []
      const lost = (period: Period, detail: string) => {
        signals.push({ _tag: "Lost", ...period, cause: "unreadable", detail })
        if (replay !== undefined) replay.isDamaged = true
      }
      let ended: Ended | undefined
      for (const line of lines) {
        const record = readLine(line)
        if (record.kind === "unreadable") {
          lost({ from: lostFrom, to: now }, "X sent a record that cannot be read")
          yield* this.skip(line, "an unreadable record")
        }
        if (record.kind === "end") {
          ended = endedInStream(record.problem, this.upstream.scrubbed(record.reason))
          break
        }
        if (record.kind !== "post") continue
        const { postId, ruleIds, payload } = record
        const createdAt = createdAtOf(record)
        const novelty = this.seen.add(postId, ruleIds)
        if (replay !== undefined) this.observe(replay, { postId, createdAt, isRepeat: novelty === "repeat" })
        const isReplaying = replay !== undefined && !replay.isOver
        if (createdAt !== undefined && isFresh && !isReplaying && novelty !== "repeat") this.delays.add(createdAt, now)
        if (createdAt !== undefined && !isFresh && !isReplaying) this.prove(Math.min(createdAt, now))
        if (ruleIds.length === 0) {
          lost(createdAt === undefined ? { from: lostFrom, to: now } : secondOf(createdAt), NO_RULES)
          yield* this.skip(line, "a post without its rules")
        }
        if (novelty === "repeat") continue
        if (this.unclaimed.isUnclaimed(ruleIds)) {
          if (replay !== undefined) replay.isDamaged = true
          this.unclaimed.add({
            line,
            ruleIds,
            period: createdAt === undefined ? { from: lostFrom, to: now } : secondOf(createdAt)
          })
        }
        // Not before all of the replay is read: the next process asks from the start of the gap, too.
        const cursor = replay === undefined ? Option.some(`${this.watchedUntil ?? now} ${postId}`) : Option.none()
        const delivery = deliveryOf(record, { line, now, cursor })
        if (novelty === "new post" && delivery.damaged === undefined) posts.push(payload)
        if (!isReplaying) this.quiet.postReceived(now)
        this.quiet.remember(createdAt ?? now, ruleIds)
        signals.push({ _tag: "Event", delivery })
      }
      for (const { line, period } of this.unclaimed.takeUnknown()) {
        lost(period, UNKNOWN_RULES)
        yield* this.skip(line, "a post with unknown rules")
      }
      const isReplaying = replay !== undefined && !replay.isOver
      if (isFresh && !isReplaying) this.prove(now)
      if (posts.length > 0) {
        yield* this.health.sawEvent
        yield* this.recent.record("x", posts)
      }
      if (replay?.hasNew === true && now >= replay.at + this.delays.millis) {
        if (replay.hasOld && !replay.isDamaged) signals.push({ _tag: "Replayed", from: replay.since, to: replay.at })
        this.replay = undefined
      }
      const verdict = ended === undefined ? yield* this.quiet.check(now) : {}
      if (verdict.suspected !== undefined) signals.push(verdict.suspected)
      if (verdict.ended?.silentSince !== undefined) this.provedAt = verdict.ended.silentSince
      ended ??= verdict.ended
      if (ended === undefined && !isReplaying && this.watchedUntil !== undefined) {
        signals.push({ _tag: "Alive", at: this.watchedUntil })
      }
      return { signals: Chunk.unsafeFromArray(signals), ended: Option.fromNullable(ended) }
    })
  }

  /** The posts of a past gap. `isComplete`: all lines could be read. */
  readReplay(
    lines: Iterable<string>
  ): Effect.Effect<{ readonly events: Chunk.Chunk<Signal>; readonly isComplete: boolean }> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const records = [...lines].map((line) => ({ line, record: readLine(line) }))
      const events = records.flatMap(({ line, record }): ReadonlyArray<Signal> => {
        if (record.kind !== "post" || this.seen.add(record.postId, record.ruleIds) === "repeat") return []
        this.quiet.remember(createdAtOf(record) ?? now, record.ruleIds)
        return [{ _tag: "Event", delivery: deliveryOf(record, { line, now, cursor: Option.none() }) }]
      })
      const isReadable = ({ record }: { readonly record: Line }) =>
        record.kind === "post"
          ? record.ruleIds.length > 0 && !this.unclaimed.isUnclaimed(record.ruleIds)
          : record.kind !== "unreadable"
      return { events: Chunk.unsafeFromArray(events), isComplete: records.every(isReadable) }
    })
  }

  private prove(at: number): void {
    this.provedAt = Math.max(this.provedAt ?? at, at)
  }

  private observe(replay: Replay, post: ReplayedPost): void {
    const { createdAt } = post
    // X sends some posts twice, also live.
    const isAgain = post.isRepeat && (createdAt ?? 0) <= replay.cutAt
    const isOlder = createdAt !== undefined && createdAt < replay.from - MAX_LATENESS_MILLIS
    if (isAgain || isOlder || post.postId === this.lastPost) replay.hasOld = true
    if (createdAt !== undefined && createdAt > replay.at) {
      replay.hasNew = true
      replay.isOver = true
    }
  }

  private skip(line: string, what: string): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      yield* Metrics.unreadable("x")
      this.skipped++
      // Logged once per power of ten, so that a broken stream does not fill the log.
      if (!/^10*$/.test(String(this.skipped))) return
      const start = JSON.stringify(truncated(this.upstream.scrubbed(line), MAX_CHARACTERS))
      yield* Effect.logWarning(`Skipped ${what} of "x" (${this.skipped} so far): ${start}`)
    })
  }
}

// ---- helpers ----

/** The backfill of a connection. In milliseconds. */
interface Replay {
  /** X was asked for the posts since then. */
  readonly since: number
  /** Posts may be missing since then. */
  from: number
  /** The connection before was last known to be open. */
  readonly cutAt: number
  /** The connection was opened. */
  readonly at: number
  /** The posts of the past are read: what comes now is live. */
  isOver: boolean
  /** Some of its posts are lost. */
  isDamaged: boolean
  /** A post from before the gap came again: X replays from there on. */
  hasOld: boolean
  /** A post from after the start of the connection came: X has sent the replay. */
  hasNew: boolean
}

interface ReplayedPost {
  readonly postId: string
  readonly createdAt: number | undefined
  readonly isRepeat: boolean
}

const NO_RULES = "X sent a post without the rules that it meets"
const UNKNOWN_RULES = "X sent a post for rules that it does not list"

/** Posts come up to some seconds late: only an older one shows that X replays. */
const MAX_LATENESS_MILLIS = 15_000

/** A backfill comes without breaks. */
const REPLAY_SILENCE_MILLIS = 10_000

/** The times of X have no milliseconds. */
const secondOf = (createdAt: number): Period => ({ from: createdAt, to: createdAt + 1_000 })

const deliveryOf = (
  { postId, ruleIds, payload }: PostRecord,
  { line, now, cursor }: { readonly line: string; readonly now: number; readonly cursor: Delivery["cursor"] }
): Delivery => {
  const reason = numberProblem(line)
  return {
    platformPostId: postId,
    payload,
    ...(reason !== undefined && { damaged: { reason, text: line } }),
    platformRuleIds: ruleIds,
    cursor,
    receivedAt: now,
    isSignOfLife: false,
    ack: Effect.void
  }
}

const createdAtOf = ({ payload }: PostRecord): number | undefined =>
  instantOf(textOf(objectOf(payload["data"])?.["created_at"]) ?? "")
