/** Whatever X answers, the adapter never breaks, never calls too often, and never tells its token. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Effect, Exit, FastCheck, Option, Stream, TestClock } from "effect"
import { sized } from "../../long.ts"
import { deliveriesOf } from "../deliveries.ts"
import { NOW, pass, RULES, STREAM, settle } from "../simulator/stage.ts"
import { type Adapter, passSlowly, TOKEN, withX } from "./platform.ts"

interface Given {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const responseOf = ({ status, body, headers = {} }: Given): Response =>
  new Response([204, 205, 304].includes(status) ? null : body, { status, headers })

/** X that holds the rule "cat", and answers a call for the stream as given. */
const streaming = (answer: () => Response | Promise<Response>) => {
  const calls = { stream: 0 }
  const send = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === STREAM) {
      calls.stream++
      return answer()
    }
    if (pathname !== RULES) return new Response("", { status: 404 })
    const data = [{ id: "1", value: "cat", tag: "earshot:memory" }]
    return Response.json({ data, meta: { result_count: 1 } }, { status: request.method === "POST" ? 201 : 200 })
  }
  return { calls, send }
}

/** A stream on which nothing more comes. */
const open = (text: string): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }))

const everyCall = ({ platform }: Adapter): ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>> => [
  platform.register(["cat", "dog"]),
  platform.register(["cat"]),
  platform.unregister(["1", "2"]),
  platform.inventory,
  platform.verify("cat")
]

/** Values in the shapes that X uses, and others. */
const { anyBody } = FastCheck.letrec((tie) => ({
  word: FastCheck.constantFrom(
    "cat",
    "dog",
    "1",
    "DuplicateRule",
    "RulesCapExceeded",
    "UsageCapExceeded",
    "TooManyConnections",
    "RuleConfigurationIssue",
    "https://api.x.com/2/problems/duplicate-rules",
    "https://api.x.com/2/problems/rule-cap",
    "/",
    "",
    "\u0000"
  ),
  leaf: FastCheck.oneof(
    tie("word"),
    FastCheck.constantFrom(null, true, 0, -1, 0.5, 1e300),
    FastCheck.string({ maxLength: 5 })
  ),
  object: FastCheck.dictionary(
    FastCheck.constantFrom(
      ...["data", "errors", "meta", "id", "value", "tag", "title", "type", "detail", "details", "status", "message"],
      ...["summary", "next_token", "result_count", "cap_per_client_app", "cap_per_project", "project_cap"],
      ...["project_usage", "connection_issue", "disconnect_type", "matching_rules", "includes", "__proto__"]
    ),
    tie("value"),
    { maxKeys: 5 }
  ),
  value: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    FastCheck.array(tie("value"), { maxLength: 3 }),
    tie("object")
  ),
  anyBody: FastCheck.oneof(
    tie("value").map((value) => JSON.stringify(value)),
    tie("object").map((value) => JSON.stringify(value)),
    FastCheck.constantFrom("", "{", "null", "[]", "<html>busy</html>", "\uFFFD", "[".repeat(20_000)),
    FastCheck.string()
  )
}))

const anyAnswer: FastCheck.Arbitrary<Given> = FastCheck.record({
  status: FastCheck.constantFrom(
    ...[200, 200, 200, 201, 204, 302, 400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503]
  ),
  body: anyBody.map(String),
  headers: FastCheck.dictionary(
    FastCheck.constantFrom("x-rate-limit-reset", "x-rate-limit-remaining", "content-type", "location"),
    FastCheck.constantFrom("0", "-1", "99999999999", "NaN", "", String(NOW / 1_000 + 10), "https://elsewhere.test/")
  )
})

describe("any answer", () => {
  it.effect.prop(
    "to a call about rules gives an outcome for each text or a typed error, with few calls",
    [FastCheck.array(anyAnswer, { minLength: 1, maxLength: 4 })],
    ([answers]) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW)
        let calls = 0
        const send = async () => responseOf(answers[calls++ % answers.length] ?? { status: 500, body: "" })
        yield* withX(send, (adapter) =>
          Effect.gen(function* () {
            for (const call of everyCall(adapter)) {
              calls = 0
              const exit = yield* Effect.exit(call)
              assert.isFalse(
                Exit.isFailure(exit) && Cause.isDie(exit.cause),
                Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""
              )
              assert.isAtMost(calls, 110, "no more than pages of a list that does not end")
            }
            const outcomes = yield* Effect.option(adapter.platform.register(["cat", "dog"]))
            if (Option.isSome(outcomes)) assert.lengthOf(outcomes.value, 2)
          })
        )
      }),
    { fastCheck: { numRuns: sized(25, 200) } }
  )

  it.scoped.prop(
    "to a call for the stream leaves the stream running, within X's manners",
    [anyAnswer],
    ([given]) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW)
        const { calls, send } = streaming(() => responseOf(given))
        yield* withX(send, ({ platform, watch }) =>
          Effect.gen(function* () {
            yield* platform.inventory
            const watching = yield* watch()
            yield* passSlowly(600, 30)
            assert.isTrue(yield* watching.isRunning)
            assert.isAtLeast(calls.stream, 1)
            assert.isAtMost(calls.stream, 48)
          })
        )
      }),
    { fastCheck: { numRuns: sized(5, 30) } }
  )
})

describe("a line of the stream", () => {
  it.scoped.prop(
    "of any kind leaves the stream running and the next post is delivered",
    [FastCheck.array(anyBody.map(String), { maxLength: 5 })],
    ([lines]) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW)
        const post = JSON.stringify({ data: { id: "77", text: "cat" }, matching_rules: [{ id: "1" }] })
        let opened = 0
        // The first connection has the lines, and any of them may be the last word on it; the next one stays open.
        const { send } = streaming(() =>
          opened++ === 0 ? new Response(lines.map((line) => `${line}\r\n`).join("")) : open(`\r\n${post}\r\n`)
        )
        yield* withX(send, ({ platform, watch }) =>
          Effect.gen(function* () {
            yield* platform.inventory
            const watching = yield* watch()
            yield* passSlowly(66, 33)
            assert.isTrue(yield* watching.isRunning)
            const ids = watching.deliveries.map(({ platformPostId }) => platformPostId)
            assert.include(ids, "77")
            assert.lengthOf(new Set(ids), ids.length, "each once")
          })
        )
      }),
    { fastCheck: { numRuns: sized(15, 100) } }
  )
})

describe("records that come together", () => {
  it.scoped("are handed on together, those before the last word of X too", () => {
    const ids = Array.from({ length: 50 }, (_, at) => String(at + 100))
    const posts = ids.map((id) => JSON.stringify({ data: { id, text: "cat" }, matching_rules: [{ id: "1" }] }))
    const word = JSON.stringify({ errors: [{ title: "operational-disconnect", disconnect_type: "ForceDisconnect" }] })
    const { send } = streaming(() => open(`${[...posts, word].join("\r\n")}\r\n`))
    return withX(send, ({ platform }) =>
      Effect.gen(function* () {
        yield* platform.inventory
        const first = yield* Stream.runHead(Stream.chunks(deliveriesOf(platform)))
        assert.deepStrictEqual(
          Chunk.toReadonlyArray(Option.getOrThrow(first)).map(({ platformPostId }) => platformPostId),
          ids
        )
      })
    )
  })
})

describe("an answer that does not come, or does not end", () => {
  const never = new Promise<Response>(() => {})
  const endless = (status: number, bytes: number) => () => {
    const chunk = new TextEncoder().encode(" ".repeat(bytes))
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }), { status })
  }
  const hanging = (status: number) => () => new Response(new ReadableStream({}), { status })

  for (const [name, send] of [
    ["no answer", () => never],
    ["no end of the answer", async () => hanging(200)()],
    ["no end of an error", async () => hanging(503)()]
  ] as const) {
    it.scoped(`fails with PlatformUnavailable after a while for ${name}`, () =>
      withX(send, ({ platform }) =>
        Effect.gen(function* () {
          const failing = yield* Effect.fork(Effect.flip(platform.register(["cat"])))
          yield* settle
          yield* passSlowly(61)
          assert.strictEqual((yield* failing)._tag, "PlatformUnavailable")
        })
      )
    )

    it.scoped(`is waited for and then asked for again on the stream, for ${name}`, () => {
      const { calls, send: stream } = streaming(send)
      return withX(stream, ({ platform, watch }) =>
        Effect.gen(function* () {
          yield* platform.inventory
          const watching = yield* watch()
          yield* passSlowly(300)
          assert.isTrue(yield* watching.isRunning)
          assert.isAtLeast(calls.stream, 3)
          assert.isAtMost(calls.stream, 11)
        })
      )
    })
  }

  it.scoped("fails with PlatformUnavailable for a body that is too large to be one", () =>
    withX(
      async () => endless(200, 4 * 1024 * 1024)(),
      ({ platform }) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(platform.inventory)
          assert.deepStrictEqual([error._tag, /exceeds/.test(error.reason)], ["PlatformUnavailable", true])
        })
    )
  )
})

describe("the token", () => {
  const echoes: ReadonlyArray<Given> = [200, 201, 302, 400, 401, 402, 403, 409, 422, 429, 500].flatMap((status) =>
    [
      TOKEN,
      JSON.stringify({ title: "Echo", detail: `You sent Bearer ${TOKEN}`, type: `https://api.x.com/${TOKEN}` }),
      JSON.stringify({ errors: [{ value: "cat", title: TOKEN, details: [`Bearer ${TOKEN}`], message: TOKEN }] }),
      JSON.stringify({ title: "RulesCapExceeded", detail: TOKEN, disconnect_type: TOKEN })
    ].map((body) => ({ status, body }))
  )

  for (const given of echoes) {
    it.scoped(
      `is in no log, error or status though X answers ${given.status} with ${given.body.replaceAll(TOKEN, "it")}`,
      () => {
        const { send } = streaming(() => responseOf({ ...given, body: `${given.body}\r\n` }))
        return Effect.gen(function* () {
          const told: Array<string> = []
          yield* withX(
            async () => responseOf(given),
            (adapter) =>
              Effect.gen(function* () {
                for (const call of everyCall(adapter)) {
                  const exit = yield* Effect.exit(call)
                  told.push(JSON.stringify(exit), Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
                }
                told.push(...adapter.logs)
              })
          )
          yield* withX(send, ({ platform, logs, watch }) =>
            Effect.gen(function* () {
              yield* platform.inventory
              yield* watch()
              yield* passSlowly(120, 30)
              const { detail, lastError } = yield* platform.status
              told.push(detail, JSON.stringify(lastError), ...logs)
              assert.isNotEmpty(logs)
            })
          )
          assert.deepStrictEqual(
            told.filter((text) => text.includes(TOKEN)),
            []
          )
        })
      }
    )
  }

  it.scoped("that cannot be sent, or an address that is none, is an error that does not quote it", () =>
    Effect.gen(function* () {
      for (const options of [{ token: "se\ncret" }, { token: "se\u{1F511}cret" }, { baseUrl: "not an address" }]) {
        yield* withX(
          async () => assert.fail("nothing can be sent"),
          ({ platform, watch, logs }) =>
            Effect.gen(function* () {
              const error = yield* Effect.flip(platform.inventory)
              assert.deepStrictEqual(
                [error._tag, error.reason],
                ["PlatformUnavailable", "its URL or token is not valid"]
              )
              const watching = yield* watch()
              yield* pass(60)
              assert.isTrue(yield* watching.isRunning)
              assert.notInclude(logs.join("\n"), "cret")
            }),
          options
        )
      }
    })
  )
})
