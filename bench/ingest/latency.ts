/** Measures the time from receiving an event to its match being listable, at a steady rate. */
import { Chunk, Effect, Queue } from "effect"
import type { Signal } from "../../core/platforms/Platform.ts"
import { isSmoke } from "../figures.ts"
import { newPosts } from "./posts.ts"
import { signalOf } from "./writers.ts"

export const EVENTS_PER_SECOND = 1_000
const SECONDS = isSmoke ? 0.3 : 10

/** In milliseconds, for every event. */
export const addedLatency = (feed: Queue.Queue<Chunk.Chunk<Signal>>) =>
  Effect.gen(function* () {
    const posts = newPosts(EVENTS_PER_SECOND * SECONDS)
    const latencies: Array<number> = []
    const start = now()
    let sent = 0
    while (latencies.length < posts.length) {
      const due = Math.floor(((now() - start) / 1_000) * EVENTS_PER_SECOND)
      const signals = posts.slice(sent, due).map((post, at) => {
        // The scheduled time, not the time of the offer: a busy process would also be late to read a socket.
        const receivedAt = start + ((sent + at) / EVENTS_PER_SECOND) * 1_000
        return signalOf(post, { receivedAt, ack: Effect.sync(() => latencies.push(now() - receivedAt)) })
      })
      sent += signals.length
      if (signals.length > 0) yield* Queue.offer(feed, Chunk.unsafeFromArray(signals))
      yield* Effect.sleep("1 millis")
    }
    return latencies
  })

// ---- helpers ----

const now = (): number => performance.timeOrigin + performance.now()
