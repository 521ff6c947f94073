/** Changes with any fields: one that cannot be read is reported, and the others are delivered. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import fc from "fast-check"
import { wikimedia } from "../../../core/languages/wikimedia.ts"
import { objectOf } from "../../../core/text/json.ts"
import { sized } from "../../long.ts"
import { NOW, settle } from "../../simulator/stage.ts"
import { collect, idsIn, makeAdapter } from "./platform.ts"

const full = (id: string): Record<string, unknown> => ({
  $schema: "/mediawiki/recentchange/1.0.0",
  meta: {
    uri: "https://en.wikipedia.org/wiki/A_cat",
    request_id: "r",
    id,
    dt: new Date(NOW).toISOString(),
    domain: "en.wikipedia.org",
    stream: "mediawiki.recentchange",
    topic: "eqiad.mediawiki.recentchange",
    partition: 0
  },
  id: 7,
  type: "log",
  namespace: 0,
  title: "A cat",
  title_url: "https://en.wikipedia.org/wiki/A_cat",
  comment: "/* History */ [[cat]]",
  timestamp: NOW / 1_000,
  user: "Ada",
  bot: false,
  minor: true,
  length: { old: 1, new: 2 },
  revision: { old: 1, new: 2 },
  log_id: 3,
  log_type: "delete",
  log_action: "delete",
  log_params: { a: [1] },
  log_action_comment: "a cat",
  server_name: "en.wikipedia.org",
  wiki: "enwiki",
  notify_url: "https://en.wikipedia.org/?diff=1"
})

const wrong = fc.constantFrom<unknown>(
  ...[undefined, null, true, 0, -1, 1e300, "", " ", "x", "\ud800", "\u0000", "2026-99-99T", [], [null], {}, [[{}]]],
  ...["9".repeat(500), "[[".repeat(500), { id: {} }]
)
/** Any fields, also within others, are replaced or removed. */
const anyChange = fc.array(fc.tuple(fc.nat(60), wrong), { minLength: 1, maxLength: 6 }).map((replaced) =>
  replaced.reduce<unknown>((record, [place, value]) => {
    let left = place + 1
    return record === undefined
      ? record
      : JSON.parse(JSON.stringify(record), (_, one: unknown) => (left-- === 0 ? value : one))
  }, full("hostile"))
)
const anyRecord = fc.oneof({ weight: 9, arbitrary: anyChange }, { weight: 1, arbitrary: wrong })

const idOf = (at: number) => JSON.stringify([{ topic: "eqiad.mediawiki.recentchange", partition: 0, timestamp: at }])

const FILTERS = [
  "title:cat",
  "cat",
  "wiki:enwiki",
  "user:Ada",
  "bot:false",
  "ns:0",
  "delta:1",
  "log:delete",
  "page_type:log"
]

describe("changes", () => {
  it.scoped(
    "may lack any field or have it with any type: what cannot be read is reported, the others are delivered",
    () =>
      Effect.gen(function* () {
        const records = fc.sample(anyRecord, { numRuns: sized(200, 3_000), seed: 1 })
        const messages = records.flatMap((record, index) => [
          `event: message\nid: ${idOf(NOW + index)}\ndata: ${JSON.stringify(record) ?? "nothing"}\n\n`,
          `event: message\nid: ${idOf(NOW + index)}\ndata: ${JSON.stringify(full(`good-${index}`))}\n\n`
        ])
        let opened = 0
        const adapter = yield* makeAdapter(async () => {
          opened++
          const body = new ReadableStream({
            start: (controller) => {
              const encoder = new TextEncoder()
              for (const message of [":ok\n\n", ...messages]) controller.enqueue(encoder.encode(message))
            }
          })
          return new Response(body, { headers: { "content-type": "text/event-stream" } })
        })
        yield* adapter.register(FILTERS)
        const signals = yield* collect(adapter)
        for (let turn = 0; turn < 1_000 && !idsIn(signals).includes(`good-${records.length - 1}`); turn++) yield* settle
        const delivered = idsIn(signals).filter((id) => id.startsWith("good-"))
        assert.deepStrictEqual(
          delivered,
          records.map((_, index) => `good-${index}`)
        )
        const unreadable = records.filter((record) => Either.isLeft(wikimedia.events.idOf(objectOf(record), String)))
        const lost = signals.filter((signal) => signal._tag === "Lost" && signal.cause === "unreadable")
        assert.lengthOf(lost, unreadable.length)
        assert.isAbove(unreadable.length, 0)
        assert.isFalse(signals.some(({ _tag }) => _tag === "GapStarted"))
        assert.strictEqual(opened, 1)
      })
  )

  it.scoped("that are far longer than real ones are reported and not read, and the others are delivered", () =>
    Effect.gen(function* () {
      const long = { ...full("long"), log_params: Array.from({ length: 50_000 }, () => ({})) }
      const text = [long, full("good")].map((record) => `event: message\ndata: ${JSON.stringify(record)}\n\n`).join("")
      const adapter = yield* makeAdapter(async () => {
        const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) })
        return new Response(body, { headers: { "content-type": "text/event-stream" } })
      })
      yield* adapter.register(FILTERS)
      const signals = yield* collect(adapter)
      for (let turn = 0; turn < 100 && idsIn(signals).length === 0; turn++) yield* settle
      assert.deepStrictEqual(idsIn(signals), ["good"])
      const details = signals.flatMap((signal) => (signal._tag === "Lost" ? [signal.detail] : []))
      assert.deepStrictEqual(details, ["The platform sent a change that cannot be read: Longer than 131072 characters"])
    })
  )
})
