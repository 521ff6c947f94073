/** Turns lines of X's stream into deliveries. Dedupe and stall detection carry over from one connection to the next. */

import { Chunk, Clock, Effect, Option } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { Delivery } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { numberProblem } from "../../core/text/numbers.ts"
import { truncated } from "../../core/text/truncated.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import type { Ended } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { endedInStream, endedTooQuiet } from "./endings.ts"
import { PostRate } from "./PostRate.ts"
import { MAX_CHARACTERS } from "./problems.ts"
import { readLine } from "./records.ts"
import { SeenPosts } from "./SeenPosts.ts"

export interface ReadResult {
  readonly deliveries: Chunk.Chunk<Delivery>
  /** Set when the lines end the stream. */
  readonly ended: Option.Option<Ended>
}

export class RecordReader {
  private readonly upstream: Upstream
  private readonly health: StreamHealth
  private readonly recent: RecentEvents["Type"]
  private readonly seen = new SeenPosts()
  private readonly rate = new PostRate()
  private skipped = 0

  constructor(options: {
    readonly upstream: Upstream
    readonly health: StreamHealth
    readonly recent: RecentEvents["Type"]
  }) {
    this.upstream = options.upstream
    this.health = options.health
    this.recent = options.recent
  }

  connectionOpened(now: number): void {
    this.rate.connectionOpened(now)
  }

  /** Also checks for a stall: keep-alive lines make that frequent enough. */
  read(lines: Iterable<string>): Effect.Effect<ReadResult> {
    return Effect.gen(this, function* () {
      const now = yield* Clock.currentTimeMillis
      const deliveries: Array<Delivery> = []
      const posts: Array<unknown> = []
      let ended: Ended | undefined
      for (const line of lines) {
        const record = readLine(line)
        if (record.kind === "unreadable") {
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
        if (novelty === "repeat") continue
        const reason = numberProblem(line)
        if (novelty === "new post" && reason === undefined) posts.push(payload)
        this.rate.postReceived(now)
        deliveries.push({
          platformPostId: postId,
          payload,
          ...(reason !== undefined && { damaged: { reason, text: line } }),
          platformRuleIds: ruleIds,
          cursor: Option.some(String(now)),
          receivedAt: now,
          ack: Effect.void
        })
      }
      if (posts.length > 0) {
        yield* this.health.sawEvent
        yield* this.recent.record("x", posts)
      }
      if (this.rate.isTooQuiet(now)) ended ??= endedTooQuiet(this.rate.quietFor(now), now)
      return { deliveries: Chunk.unsafeFromArray(deliveries), ended: Option.fromNullable(ended) }
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
