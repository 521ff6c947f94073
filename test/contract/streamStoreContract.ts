/** The contract of `StreamStore`, alone and together with `MatchStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { type Gap, type Ledger, newLedger } from "../../core/coverage/Coverage.ts"
import { type StreamProgress, type StreamRecord, StreamStore } from "../../core/coverage/StreamStore.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { newAccount, newMatch, visibleRule } from "./samples.ts"

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1)

const ledger = (minutes: number, overrides: Partial<Ledger> = {}): Ledger => ({
  ...newLedger,
  watchedSince: Option.some(START),
  watchedUntil: START + minutes * MINUTE,
  ...overrides
})

const gap = (from: number, to: number, overrides: Partial<Gap> = {}): Gap => ({
  from: START + from * MINUTE,
  to: START + to * MINUTE,
  cause: "outage",
  detail: 'It said "no" \u{1F525}',
  isRecovered: false,
  isSuspected: false,
  ...overrides
})

const progress = (minutes: number, overrides: Partial<StreamProgress> = {}): StreamProgress => ({
  platform: "x",
  ledger: ledger(minutes),
  gaps: [],
  recovered: [],
  cursor: Option.none(),
  batch: 1,
  ...overrides
})

/** For comparison: `deepStrictEqual` does not tell a none from a some. */
const plain = (record: Option.Option<StreamRecord>) => {
  const { cursor, ledger } = Option.getOrThrow(record)
  const { watchedSince, watchedUntil, openGap, replayingSince } = ledger
  const options: ReadonlyArray<Option.Option<unknown>> = [cursor, watchedSince, openGap, replayingSince]
  return [watchedUntil, ...options.map(Option.getOrNull)]
}

const all = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, limit: 100 }

/** The tests share one store, and partly the platform. */
export const streamStoreContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`StreamStore on ${name}`, (it) => {
    it.effect("load returns the saved ledger and cursor, and save without a cursor keeps the old one", () =>
      Effect.gen(function* () {
        const streams = yield* StreamStore
        assert.isTrue(Option.isNone(yield* streams.load("firehose")))
        const openGap = Option.some({ since: START + 5, cause: "credit" as const, detail: "Nothing left \0 \uD800" })
        const first = ledger(1, { watchedSince: Option.none(), openGap, replayingSince: Option.some(START + 3) })
        yield* streams.save(progress(1, { platform: "firehose", ledger: first, cursor: Option.some("0-1") }))
        const stored = Option.getOrThrow(yield* streams.load("firehose"))
        assert.deepStrictEqual(Option.getOrNull(stored.cursor), "0-1")
        assert.isTrue(Option.isNone(stored.ledger.watchedSince))
        assert.strictEqual(stored.ledger.watchedUntil, START + MINUTE)
        assert.deepInclude(Option.getOrThrow(stored.ledger.openGap), { since: START + 5, cause: "credit" })
        assert.strictEqual(Option.getOrNull(stored.ledger.replayingSince), START + 3)
        yield* streams.save(progress(2, { platform: "firehose" }))
        assert.deepStrictEqual(plain(yield* streams.load("firehose")), [START + 2 * MINUTE, "0-1", START, null, null])
      })
    )

    it.effect("gaps returns the gaps in a time range, newest first", () =>
      Effect.gen(function* () {
        const streams = yield* StreamStore
        const [first, second, third] = [gap(10, 20), gap(30, 40, { cause: "stall" }), gap(50, 60)]
        yield* streams.save(progress(45, { gaps: [first, second] }))
        yield* streams.save(progress(65, { gaps: [third] }))
        assert.deepStrictEqual(yield* streams.gaps("x", all), [third, second, first])
        assert.deepStrictEqual(yield* streams.gaps("x", { ...all, limit: 2 }), [third, second])
        const within = { from: START + 15 * MINUTE, to: START + 50 * MINUTE, limit: 10 }
        assert.deepStrictEqual(yield* streams.gaps("x", within), [second, first])
        assert.deepStrictEqual(yield* streams.gaps("x", { ...within, from: START + 20 * MINUTE }), [second])
        assert.deepStrictEqual(yield* streams.gaps("firehose", all), [])
      })
    )

    it.effect("save marks the gaps within a period as recovered, and no others", () =>
      Effect.gen(function* () {
        const streams = yield* StreamStore
        const periods = [
          { from: START + 105 * MINUTE, to: START + 130 * MINUTE },
          { from: START + 140 * MINUTE, to: START + 144 * MINUTE }
        ]
        const suspected = gap(150, 160, { isSuspected: true })
        yield* streams.save(progress(100, { gaps: [gap(100, 110), gap(110, 120), gap(140, 145), suspected] }))
        yield* streams.save(progress(170, { gaps: [gap(165, 170)], recovered: periods }))
        const found = yield* streams.gaps("x", { ...all, from: START + 95 * MINUTE })
        assert.deepStrictEqual(found, [
          gap(165, 170),
          suspected,
          gap(140, 145),
          gap(110, 120, { isRecovered: true }),
          gap(100, 110)
        ])
      })
    )

    it.effect("insert stores the progress with its matches, also when all of them are duplicates", () =>
      Effect.gen(function* () {
        const streams = yield* StreamStore
        const matches = yield* MatchStore
        const rule = yield* visibleRule(yield* newAccount)
        const match = newMatch(rule.id)
        assert.strictEqual(yield* matches.insert([match], progress(200, { cursor: Option.some("a") })), 1)
        assert.strictEqual(
          yield* matches.insert([match], progress(201, { cursor: Option.some("b"), gaps: [gap(200, 201)] })),
          0
        )
        assert.deepStrictEqual(plain(yield* streams.load("x")), [START + 201 * MINUTE, "b", START, null, null])
        yield* matches.insert([], progress(202, { cursor: Option.some("c") }))
        assert.deepStrictEqual(Option.getOrNull(Option.getOrThrow(yield* streams.load("x")).cursor), "c")
        assert.deepStrictEqual((yield* streams.gaps("x", all))[0], gap(200, 201))
      })
    )

    it.effect("insertNext stores nothing before the batch before, and a retry does not move the stream back", () =>
      Effect.gen(function* () {
        const streams = yield* StreamStore
        const matches = yield* MatchStore
        const rule = yield* visibleRule(yield* newAccount)
        const [first, second] = [newMatch(rule.id), newMatch(rule.id)]
        const at = (batch: number) => progress(batch, { platform: "ordered", cursor: Option.some(`${batch}`), batch })
        assert.isTrue(Option.isNone(yield* matches.insertNext([second], at(2))))
        assert.isTrue(Option.isNone(yield* streams.load("ordered")))
        assert.deepStrictEqual(Option.getOrNull(yield* matches.insertNext([first], at(1))), 1)
        assert.deepStrictEqual(
          Option.getOrNull(yield* matches.insertNext([second], at(2))),
          1,
          "it was not stored before"
        )
        assert.strictEqual(yield* matches.insert([first], at(1)), 0)
        const { batch, cursor } = Option.getOrThrow(yield* streams.load("ordered"))
        assert.deepStrictEqual([batch, Option.getOrNull(cursor)], [2, "2"])
      })
    )

    it.effect("dead letters are listed newest first, with any content", () =>
      Effect.gen(function* () {
        const streams = yield* StreamStore
        const event = { platform: "x", platformPostId: "1", at: START, reason: "odd", payload: "{}" } as const
        yield* streams.addDeadLetter(event)
        yield* streams.addDeadLetter({ ...event, platformPostId: "2 \0", payload: "\uD800 \0" })
        const [newest, ...others] = yield* streams.deadLetters(10)
        assert.match(newest?.platformPostId ?? "", /^2 /)
        assert.deepStrictEqual(others, [event])
        assert.lengthOf(yield* streams.deadLetters(1), 1)
      })
    )
  })
