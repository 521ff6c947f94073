/** `SqlEventLog` with concurrent writers, trims and readers. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Stream } from "effect"
import * as stores from "../../../adapters/sql/stores.ts"
import { EventLog, type Segment } from "../../../core/backtests/EventLog.ts"
import { postgresClient } from "../../stores.ts"

const layer = Layer.provide(stores.layer, postgresClient)

describe("SqlEventLog", () => {
  it.live("append loses no segment of concurrent writers and keeps the order of each", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const writer = (name: number) =>
        Effect.forEach(Array.from({ length: 25 }), (_, turn) => log.append("x", segmentOf(name, turn, 1 + (turn % 4))))
      yield* Effect.forEach([0, 1, 2, 3, 4, 5], writer, { concurrency: "unbounded" })
      const segments = Chunk.toReadonlyArray(yield* Stream.runCollect(log.recent("x", 100_000)))
      assert.lengthOf(segments, 150)
      for (const name of [0, 1, 2, 3, 4, 5]) {
        const turns = segments.filter(({ missed }) => missed === name).map(({ events }) => events[0]?.receivedAt)
        assert.deepStrictEqual(
          turns,
          Array.from({ length: 25 }, (_, i) => 24 - i)
        )
      }
    }).pipe(Effect.provide(layer))
  )

  it.live("recent reads without gaps while others append and trim", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      for (let turn = 0; turn < 60; turn++) yield* log.append("x", segmentOf(0, turn, 400))
      const keep = { events: 8_000, size: 1_000_000_000 }
      const writing = Effect.forEach(Array.from({ length: 60 }), (_, i) =>
        Effect.zipRight(log.append("x", segmentOf(1, 60 + i, 400)), log.trim("x", keep))
      )
      const reading = Effect.forEach(Array.from({ length: 20 }), () =>
        Effect.map(Stream.runCollect(log.recent("x", 8_000)), (segments) =>
          Chunk.toReadonlyArray(segments).map(({ events }) => events[0]?.receivedAt ?? -1)
        )
      )
      const trimming = Effect.forEach(Array.from({ length: 60 }), () => log.trim("x", keep))
      const [reads] = yield* Effect.all([reading, writing, trimming, trimming], { concurrency: "unbounded" })
      for (const turns of reads) {
        // Segments at the old end may be trimmed during the read.
        assert.isAtLeast(turns.length, 1)
        assert.isAtMost(turns.length, 20)
        const newest = turns[0] ?? 0
        assert.deepStrictEqual(
          turns,
          turns.map((_, i) => newest - i)
        )
      }
      const left = yield* Stream.runCollect(log.recent("x", 100_000))
      assert.strictEqual(Chunk.size(left), 20)
    }).pipe(Effect.provide(layer))
  )
})

// ---- helpers ----

/** `missed` holds the writer, and the time of the events its turn. */
const segmentOf = (writer: number, turn: number, count: number): Segment => ({
  events: Array.from({ length: count }, () => ({ receivedAt: turn, json: '{"data":{}}' })),
  missed: writer
})
