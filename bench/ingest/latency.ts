/** Measures the time from receiving an event to its match being listable, at a steady rate, in turns with bare inserts. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Chunk, Effect, Queue } from "effect"
import type { Signal } from "../../core/platforms/Platform.ts"
import { isSmoke } from "../figures.ts"
import { newPosts, type Post } from "./posts.ts"
import type { AccountRules } from "./setup.ts"
import { insertBare, rowOf, signalOf } from "./writers.ts"

export const EVENTS_PER_SECOND = 1_000
/** After one turn each to warm up. */
const TURNS = isSmoke ? 1 : 5
const SECONDS_PER_TURN = isSmoke ? 0.3 : 2

/** In milliseconds, for every event. */
export interface Latencies {
  readonly pipeline: Array<number>
  readonly bare: Array<number>
}

export const addedLatency = (feed: Queue.Queue<Chunk.Chunk<Signal>>, owned: AccountRules) =>
  Effect.gen(function* () {
    const latencies: Latencies = { pipeline: [], bare: [] }
    yield* throughPipeline(feed, [])
    yield* throughInserts(owned, [])
    for (let turn = 0; turn < TURNS; turn++) {
      yield* throughPipeline(feed, latencies.pipeline)
      yield* throughInserts(owned, latencies.bare)
    }
    return latencies
  })

// ---- helpers ----

const throughPipeline = (feed: Queue.Queue<Chunk.Chunk<Signal>>, millis: Array<number>) =>
  atSteadyRate(millis, (events) => {
    const signals = events.map(({ post, receivedAt }) =>
      signalOf(post, { receivedAt, ack: Effect.sync(() => millis.push(now() - receivedAt)) })
    )
    return Queue.offer(feed, Chunk.unsafeFromArray(signals))
  })

/** One insert at a time, of all events received meanwhile. */
const throughInserts = (owned: AccountRules, millis: Array<number>) =>
  atSteadyRate(millis, (events) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* insertBare(
        sql,
        events.map(({ post }) => rowOf(owned)(post))
      )
      const storedAt = now()
      for (const { receivedAt } of events) millis.push(storedAt - receivedAt)
    })
  )

interface Received {
  readonly post: Post
  /** The scheduled time: a busy process would also be late to read a socket. */
  readonly receivedAt: number
}

/** Ends when every event has added its latency to `millis`. */
const atSteadyRate = <E, R>(
  millis: ReadonlyArray<number>,
  receive: (events: ReadonlyArray<Received>) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    const posts = newPosts(EVENTS_PER_SECOND * SECONDS_PER_TURN)
    const end = millis.length + posts.length
    const start = now()
    let sent = 0
    while (millis.length < end) {
      const due = Math.floor(((now() - start) / 1_000) * EVENTS_PER_SECOND)
      const events = posts.slice(sent, due).map((post, at) => ({
        post,
        receivedAt: start + ((sent + at) / EVENTS_PER_SECOND) * 1_000
      }))
      sent += events.length
      if (events.length > 0) yield* receive(events)
      yield* Effect.sleep("1 millis")
    }
  })

const now = (): number => performance.timeOrigin + performance.now()
