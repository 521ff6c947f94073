/** Reads X's stream across its connections: what came before decides on what is new, and on what is too quiet. */
import { Chunk, Clock, Effect, Option } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { Delivery } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import type { Ended } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { endedByWord, tooQuiet } from "./endings.ts"
import { PostRhythm } from "./PostRhythm.ts"
import { shortened } from "./problems.ts"
import { readLine } from "./records.ts"
import { SeenPosts } from "./SeenPosts.ts"

/** What came in some lines, and how the stream ended if it did. */
export interface Received {
  readonly deliveries: Chunk.Chunk<Delivery>
  readonly ended: Option.Option<Ended>
}

export class RecordReader {
  private readonly upstream: Upstream
  private readonly health: StreamHealth
  private readonly recent: RecentEvents["Type"]
  private readonly seen = new SeenPosts()
  private readonly rhythm = new PostRhythm()
  private unreadable = 0

  constructor(options: {
    readonly upstream: Upstream
    readonly health: StreamHealth
    readonly recent: RecentEvents["Type"]
  }) {
    this.upstream = options.upstream
    this.health = options.health
    this.recent = options.recent
  }

  /** A connection was opened. */
  opened(now: number): void {
    this.rhythm.opened(now)
  }

  /** Lines that came together. Keep-alives are among them, so it is asked often enough whether it is too quiet. */
  read(lines: Iterable<string>): Effect.Effect<Received> {
    return Effect.gen(this, function* () {
      const now = yield* Clock.currentTimeMillis
      const deliveries: Array<Delivery> = []
      const posts: Array<unknown> = []
      let ended: Ended | undefined
      for (const line of lines) {
        const found = readLine(line)
        if (found.kind === "unreadable") {
          yield* Metrics.unreadable("x")
          yield* this.leaveOut(line)
        }
        if (found.kind === "end") {
          ended = endedByWord(found.problem, this.upstream.scrubbed(found.reason))
          break
        }
        if (found.kind !== "post") continue
        const { postId, ruleIds, payload } = found
        const news = this.seen.saw(postId, ruleIds)
        if (news === "repeat") continue
        if (news === "new") posts.push(payload)
        this.rhythm.saw(now)
        deliveries.push({
          platformPostId: postId,
          payload,
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
      if (this.rhythm.isTooQuiet(now)) ended ??= tooQuiet(this.rhythm.quietFor(now), now)
      return { deliveries: Chunk.unsafeFromArray(deliveries), ended: Option.fromNullable(ended) }
    })
  }

  private leaveOut(line: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.unreadable++
      // Told once for each power of ten: a stream of nothing else must not fill the log.
      if (!/^10*$/.test(String(this.unreadable))) return Effect.void
      const start = JSON.stringify(shortened(this.upstream.scrubbed(line)))
      return Effect.logWarning(`A record of "x" cannot be read and is left out, ${this.unreadable} so far: ${start}`)
    })
  }
}
