/** For any response from Firehose, there is no defect and no busy loop, and every failure is typed. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Either } from "effect"
import fc from "fast-check"
import { isLong, sized } from "../../long.ts"
import { collect, makeAdapter, passInSteps } from "./platform.ts"

const bodies: ReadonlyArray<string> = [
  "",
  "null",
  "[]",
  "{}",
  "0",
  '"text"',
  "<html><body>Bad gateway</body></html>",
  "{",
  '{"data":null}',
  '{"data":{}}',
  '{"data":[null]}',
  '{"data":[{"id":7,"value":"cat"}]}',
  '{"data":[{"id":"\\ud800","value":"cat"}]}',
  '{"data":{"id":"","value":""}}',
  '{"data":[],"meta":null}',
  '{"data":[],"meta":{"count":"many"}}',
  '{"message":null,"errors":null,"error":null}',
  '{"message":{"a":1},"errors":{"value":[[1],null,{"message":3}]},"error":[1]}',
  '{"errors":[{"message":"One"},"two",3]}',
  `{"message":"${"long ".repeat(100_000)}"}`,
  `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  "\u0000\uFFFD"
]

const statuses = [
  200, 201, 202, 204, 301, 302, 400, 401, 402, 403, 404, 405, 409, 413, 418, 422, 429, 500, 502, 503, 599
]

const headerOf = (body: string) => body.slice(0, 5).replace(/[^!-~]/g, "")

const answer = (status: number, body: string) =>
  new Response([204].includes(status) ? null : body, { status, headers: { "retry-after": headerOf(body) } })

describe("any response", () => {
  for (const [row, status] of statuses.entries()) {
    // In the short form every body comes with a third of the statuses.
    const tried = bodies.filter((_, column) => isLong || (row + column) % 3 === 0)
    it.scoped(`with status ${status} gives every call an outcome or a typed failure`, () =>
      Effect.gen(function* () {
        for (const body of tried) {
          const { platform } = yield* makeAdapter(async (request) => {
            if (request.method !== "POST" && request.url.endsWith("/rules") && body.length % 2 === 0) {
              return Response.json({ data: [{ id: "1", value: "dog", tag: "earshot:memory" }] })
            }
            return answer(status, body)
          })
          const outcomes = [
            yield* Effect.exit(platform.register(["cat"])),
            yield* Effect.exit(platform.unregister(["1"])),
            yield* Effect.exit(platform.inventory),
            yield* Effect.exit(platform.verify("cat"))
          ]
          for (const outcome of outcomes) {
            if (outcome._tag === "Failure") assert.strictEqual(outcome.cause._tag, "Fail", Cause.pretty(outcome.cause))
            const shown = JSON.stringify(outcome)
            assert.isBelow(shown.length, 20_000)
          }
        }
      })
    )
  }

  for (const status of [200, 204, 302, 401, 422, 429, 503]) {
    it.effect(`with status ${status} on the stream makes it reconnect with backoff`, () =>
      Effect.forEach(
        bodies.filter((_, at) => at % 4 === 0),
        (body) => survives(() => answer(status, body), 8),
        { discard: true }
      )
    )
  }

  it.effect("that changes every time stays within the connection limit", () => {
    let count = 0
    const answers = [
      () => new Response("event: end\ndata: {}\n\n"),
      () => new Response("", { status: 503 }),
      () => new Response("id: 7\n\n"),
      () => new Response("", { status: 422 }),
      () => new Response("", { status: 429, headers: { "retry-after": "0" } })
    ]
    return survives(() => answers[count++ % answers.length]?.() ?? Response.error(), 29)
  })

  it.scoped("that never ends times out", () =>
    Effect.gen(function* () {
      const endless = () => new Response(new ReadableStream({}))
      const { platform } = yield* makeAdapter(async () => endless())
      const listing = yield* Effect.fork(Effect.either(platform.inventory))
      yield* passInSteps(31)
      assert.isTrue(Either.isLeft(yield* listing))
    })
  )
})

describe("any bytes on the stream", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "",
      "event: update",
      "event: end",
      "event: error",
      "event",
      "id",
      "data",
      "data: {}",
      ": hi",
      "retry: 0"
    ),
    fc.constantFrom('data: {"message":"No rules configured"}', 'data: {"query_id":"1","document":{"url":"u"}}'),
    fc.json().map((json) => `data: ${json}`),
    fc.string().map((id) => `id: ${id}`),
    fc.string({ unit: "binary" })
  )
  const body = fc.oneof(
    fc.array(line).map((all) => new TextEncoder().encode(`${all.join("\n")}\n\n`)),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Uint8Array.from(bytes))
  )

  it.effect("make it reconnect with backoff", () =>
    Effect.forEach(fc.sample(body, sized(8, 40)), (bytes) => survives(() => new Response(bytes), 8), { discard: true })
  )
})

// ---- helpers ----

const rules = () => Response.json({ data: [{ id: "1", value: "cat", tag: "earshot:memory" }], meta: { count: 1 } })

/** Runs the stream for a minute with these responses. */
const survives = (answer: () => Response, maxAttempts: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      let attempts = 0
      const { platform } = yield* makeAdapter(async (request) => {
        if (request.url.endsWith("/rules")) return rules()
        attempts++
        return answer()
      })
      yield* platform.inventory
      const { isRunning } = yield* collect(platform, "0-1")
      yield* passInSteps(60)
      assert.isTrue(yield* isRunning)
      assert.isAtLeast(attempts, 1)
      assert.isAtMost(attempts, maxAttempts)
    })
  )
