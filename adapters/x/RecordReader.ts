/** Turns lines of X's stream into signals. Dedupe and the watch for a deaf stream carry over to the next connection. */

import { Chunk, Clock, Effect, Option } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { Delivery, Signal } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { instantOf, objectOf, textOf } from "../../core/text/json.ts"
import { numberProblem } from "../../core/text/numbers.ts"
import { truncated } from "../../core/text/truncated.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import type { Ended } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { endedInStream } from "./endings.ts"
import { MAX_CHARACTERS } from "./problems.ts"
import type { QuietWatch } from "./QuietWatch.ts"
import { type PostRecord, readLine } from "./records.ts"
import { SeenPosts } from "./SeenPosts.ts"

export interface ReadResult {
  readonly signals: Chunk.Chunk<Signal>
  /** Set when the lines end the stream. */
  readonly ended: Option.Option<Ended>
}

/** X was asked at `at` for the posts since `since`. The stream had been cut at `cutAt`. In milliseconds. */
export interface Backfill {
  readonly since: number
  readonly cutAt: number
  readonly at: number
}

export class RecordReader {
  /** When the last complete line came, or the connection was opened. In milliseconds. */
  lastLineAt: number | undefined
  private readonly upstream: Upstream
  private readonly health: StreamHealth
  private readonly recent: RecentEvents["Type"]
  private readonly quiet: QuietWatch
  private readonly seen = new SeenPosts()
  /** Until there is evidence of it. */
  private backfill: Backfill | undefined
  /** While the first posts of a connection may come from its backfill: when the connection before it was cut. */
  private replayedFrom: number | undefined
  private skipped = 0

  constructor(options: {
    readonly upstream: Upstream
    readonly health: StreamHealth
    readonly recent: RecentEvents["Type"]
    readonly quiet: QuietWatch
    readonly lastLineAt: number | undefined
  }) {
    this.upstream = options.upstream
    this.health = options.health
    this.recent = options.recent
    this.quiet = options.quiet
    this.lastLineAt = options.lastLineAt
  }

  connectionOpened(now: number, backfill: Backfill | undefined): void {
    this.quiet.connectionOpened(now, this.lastLineAt)
    this.lastLineAt = now
    this.backfill = backfill
    this.replayedFrom = backfill?.cutAt
  }

  /** Also looks whether the stream is deaf: keep-alive lines make that frequent enough. */
  read(lines: Iterable<string>): Effect.Effect<ReadResult> {
    return Effect.gen(this, function* () {
      const now = yield* Clock.currentTimeMillis
      if (now - (this.lastLineAt ?? now) >= REPLAY_PAUSE_MILLIS) this.replayedFrom = undefined
      const lostFrom = this.replayedFrom ?? this.lastLineAt ?? now
      const signals: Array<Signal> = []
      const posts: Array<unknown> = []
      let ended: Ended | undefined
      for (const line of lines) {
        const record = readLine(line)
        if (record.kind === "unreadable") {
          const detail = "X sent a record that cannot be read"
          signals.push({ _tag: "Lost", from: lostFrom, to: now, cause: "unreadable", detail })
          yield* Metrics.unreadable("x")
          yield* this.skip(line)
        }
        if (record.kind === "end") {
          ended = endedInStream(record.problem, this.upstream.scrubbed(record.reason))
          break
        }
        if (record.kind !== "post") continue
        const { postId, ruleIds, payload } = record
        const novelty = this.seen.add(postId, ruleIds)
        if (this.backfill !== undefined && (novelty === "repeat" || isOlder(record, this.backfill))) {
          signals.push({ _tag: "Replayed", from: this.backfill.since, to: this.backfill.at })
          this.backfill = undefined
        }
        if (novelty === "repeat") continue
        const delivery = deliveryOf(record, { line, now, cursor: Option.some(String(now)) })
        if (novelty === "new post" && delivery.damaged === undefined) posts.push(payload)
        this.quiet.postReceived(now)
        this.quiet.remember(createdAtOf(record) ?? now, ruleIds)
        signals.push({ _tag: "Event", delivery })
      }
      this.lastLineAt = now
      if (posts.length > 0) {
        yield* this.health.sawEvent
        yield* this.recent.record("x", posts)
      }
      const verdict = ended === undefined ? yield* this.quiet.check(now) : {}
      if (verdict.suspected !== undefined) signals.push(verdict.suspected)
      if (verdict.ended?.silentSince !== undefined) this.lastLineAt = verdict.ended.silentSince
      ended ??= verdict.ended
      if (ended === undefined) signals.push({ _tag: "Alive", at: now })
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
      const isComplete = records.every(({ record }) => record.kind !== "unreadable")
      return { events: Chunk.unsafeFromArray(events), isComplete }
    })
  }

  private skip(line: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.skipped++
      // Logged once per power of ten, so that a broken stream does not fill the log.
      if (!/^10*$/.test(String(this.skipped))) return Effect.void
      const start = JSON.stringify(truncated(this.upstream.scrubbed(line), MAX_CHARACTERS))
      return Effect.logWarning(`Skipped an unreadable record of "x" (${this.skipped} so far): ${start}`)
    })
  }
}

// ---- helpers ----

/** Posts come up to some seconds late: only an older one shows that X replays. */
const MAX_LATENESS_MILLIS = 15_000

/** A backfill comes without pauses. */
const REPLAY_PAUSE_MILLIS = 10_000

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
    ack: Effect.void
  }
}

const createdAtOf = ({ payload }: PostRecord): number | undefined =>
  instantOf(textOf(objectOf(payload["data"])?.["created_at"]) ?? "")

const isOlder = (record: PostRecord, { cutAt }: Backfill): boolean => {
  const createdAt = createdAtOf(record)
  return createdAt !== undefined && createdAt < cutAt - MAX_LATENESS_MILLIS
}
