/** Parsing of server-sent events, with the bytes split at any position. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import fc from "fast-check"
import { lines } from "../../../adapters/http/call.ts"
import { type SseEvent, sseEvents } from "../../../adapters/http/sse.ts"

const eventsOf = (...parts: ReadonlyArray<Uint8Array>) =>
  Effect.map(Stream.runCollect(sseEvents(lines(Stream.fromIterable(parts)))), Chunk.toReadonlyArray)

const bytes = (text: string) => new TextEncoder().encode(text)

const cases: ReadonlyArray<readonly [title: string, text: string, events: ReadonlyArray<SseEvent>]> = [
  ["an update", 'id: 0-1\nevent: update\ndata: {"a":1}\n\n', [{ id: "0-1", name: "update", data: '{"a":1}' }]],
  ["no space after the colon", "id:1\ndata:x\n\n", [{ id: "1", name: "", data: "x" }]],
  ["the second of two spaces as data", "data:  x\n\n", [{ name: "", data: " x" }]],
  ["data over several lines", "data: a\ndata\ndata: b\n\n", [{ name: "", data: "a\n\nb" }]],
  ["carriage returns", "event: end\r\ndata: {}\r\n\r\n", [{ name: "end", data: "{}" }]],
  [
    "comments, retry and unknown fields",
    ": hi\nretry: 5\nfoo: bar\nevent: end\n\n: bye\n\n",
    [{ name: "end", data: "" }]
  ],
  ["the last of two event names", "event: a\nevent: b\n\n", [{ name: "b", data: "" }]],
  ["empty lines", "\n\n\n", []],
  ["nothing of an unterminated event", "event: end\ndata: {}\n", []],
  [
    "no id that a header cannot carry",
    "id: a b\ndata: x\n\nid: é\ndata: y\n\n",
    [
      { name: "", data: "x" },
      { name: "", data: "y" }
    ]
  ],
  [
    "an id for its own event only",
    "id: 1\ndata: a\n\ndata: b\n\n",
    [
      { id: "1", name: "", data: "a" },
      { name: "", data: "b" }
    ]
  ],
  ["an id alone", "id: 7\n\n", [{ id: "7", name: "", data: "" }]]
]

describe("sseEvents", () => {
  for (const [title, text, events] of cases) {
    it.effect(`reads ${title}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* eventsOf(bytes(text)), events)
      })
    )
  }

  it.effect("keeps the id of an event and drops its data when the data is too long", () =>
    Effect.gen(function* () {
      const line = bytes(`data: ${"x".repeat(1024 * 1024)}\n`)
      const parts = [bytes("id: 1\nevent: update\n"), ...Array<Uint8Array>(17).fill(line), bytes("\ndata: next\n\n")]
      assert.deepStrictEqual(yield* eventsOf(...parts), [
        { id: "1", name: "update", data: "" },
        { name: "", data: "next" }
      ])
    })
  )

  const text = fc.string({ unit: fc.constantFrom("a", " ", ":", "é", "🐈", "{"), maxLength: 8 })
  const event = fc.record({ id: fc.stringMatching(/^[!-~]{1,8}$/), name: text, data: fc.array(text, { minLength: 1 }) })

  it.effect.prop(
    "round-trips events, wherever the bytes are split",
    { events: fc.array(event), cuts: fc.array(fc.nat(200)) },
    ({ events, cuts }) =>
      Effect.gen(function* () {
        const whole = bytes(
          events
            .map(
              ({ id, name, data }) => `id: ${id}\nevent: ${name}\n${data.map((line) => `data: ${line}\n`).join("")}\n`
            )
            .join("")
        )
        const offsets = [0, ...cuts.toSorted((a, b) => a - b), whole.length]
        const parts = offsets.slice(1).map((end, at) => whole.subarray(offsets[at], end))
        assert.deepStrictEqual(
          yield* eventsOf(...parts),
          events.map(({ id, name, data }) => ({ id, name, data: data.join("\n") }))
        )
      })
  )
})
