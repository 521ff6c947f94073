/** For any response from X, the adapter keeps running, limits its calls and never leaks its token. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Effect, Exit, FastCheck, Option, Stream, TestClock } from "effect"
import { sized } from "../../long.ts"
import { NOW, pass, RULES, STREAM, settle } from "../../simulator/stage.ts"
import { deliveriesOf } from "../deliveries.ts"
import { type Adapter, passInSteps, TOKEN, withX } from "./platform.ts"

interface FakeResponse {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const responseOf = ({ status, body, headers = {} }: FakeResponse): Response =>
  new Response([204, 205, 304].includes(status) ? null : body, { status, headers })

/** A fake X with the rule "cat". `answer` makes the response to a stream request. */
const fakeX = (answer: () => Response | Promise<Response>) => {
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

/** A stream that stays open after the text. */
const open = (text: string): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }))

const everyCall = ({ platform }: Adapter): ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>> => [
  platform.register(["cat", "dog"]),
  platform.register(["cat"]),
  platform.unregister(["1", "2"]),
  platform.inventory,
  platform.verify("cat")
]

/** Values in X's shapes and in others. */
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

const anyAnswer: FastCheck.Arbitrary<FakeResponse> = FastCheck.record({
  status: FastCheck.constantFrom(
    ...[200, 200, 200, 201, 204, 302, 400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503]
  ),
  body: anyBody.map(String),
  headers: FastCheck.dictionary(
    FastCheck.constantFrom("x-rate-limit-reset", "x-rate-limit-remaining", "content-type", "location"),
    FastCheck.constantFrom("0", "-1", "99999999999", "NaN", "", String(NOW / 1_000 + 10), "https://elsewhere.test/")
  )
})

describe("any response", () => {
  it.effect.prop(
    "to a rule call gives an outcome per text or a typed error, with few calls",
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
              assert.isAtMost(calls, 110, "at most the page limit of a list")
            }
            const outcomes = yield* Effect.option(adapter.platform.register(["cat", "dog"]))
            if (Option.isSome(outcomes)) assert.lengthOf(outcomes.value, 2)
          })
        )
      }),
    { fastCheck: { numRuns: sized(25, 200) } }
  )

  it.scoped.prop(
    "to a stream request keeps the stream running, within X's limits",
    [anyAnswer],
    ([response]) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW)
        const { calls, send } = fakeX(() => responseOf(response))
        yield* withX(send, ({ platform, watch }) =>
          Effect.gen(function* () {
            yield* platform.inventory
            const watcher = yield* watch()
            yield* passInSteps(600, 30)
            assert.isTrue(yield* watcher.isRunning)
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
    "of any content keeps the stream running, and the next post is delivered",
    [FastCheck.array(anyBody.map(String), { maxLength: 5 })],
    ([lines]) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW)
        const post = JSON.stringify({ data: { id: "77", text: "cat" }, matching_rules: [{ id: "1" }] })
        let opened = 0
        // Any of the lines may end the first connection; the second stays open.
        const { send } = fakeX(() =>
          opened++ === 0 ? new Response(lines.map((line) => `${line}\r\n`).join("")) : open(`\r\n${post}\r\n`)
        )
        yield* withX(send, ({ platform, watch }) =>
          Effect.gen(function* () {
            yield* platform.inventory
            const watcher = yield* watch()
            yield* passInSteps(66, 33)
            assert.isTrue(yield* watcher.isRunning)
            const ids = watcher.deliveries.map(({ platformPostId }) => platformPostId)
            assert.include(ids, "77")
            assert.lengthOf(new Set(ids), ids.length, "each once")
          })
        )
      }),
    { fastCheck: { numRuns: sized(15, 100) } }
  )
})

describe("a number that a double cannot hold", () => {
  it.scoped("marks the delivery as damaged, with the text of the record", () => {
    const record = (id: string, number: string) =>
      `{"data":{"id":"${id}","text":"cat","n":${number}},"matching_rules":[{"id":"1"}]}`
    const { send } = fakeX(() => open(`${record("1", "1.5")}\r\n${record("2", "12345678901234567890")}\r\n`))
    return withX(send, ({ platform, recorded }) =>
      Effect.gen(function* () {
        yield* platform.inventory
        const deliveries = yield* Stream.runCollect(Stream.take(deliveriesOf(platform), 2))
        const [intact, damaged] = Chunk.toReadonlyArray(deliveries).map((delivery) => delivery.damaged)
        assert.isUndefined(intact)
        assert.strictEqual(damaged?.text, record("2", "12345678901234567890"))
        assert.match(damaged?.reason ?? "", /^The number 12345678901234567890 at "data\.n" has more digits/)
        assert.lengthOf(recorded, 1, "only intact events are kept for backtests")
      })
    )
  })
})

describe("records in one chunk", () => {
  it.scoped("are delivered in one chunk, also before a disconnect message", () => {
    const ids = Array.from({ length: 50 }, (_, at) => String(at + 100))
    const posts = ids.map((id) => JSON.stringify({ data: { id, text: "cat" }, matching_rules: [{ id: "1" }] }))
    const disconnect = JSON.stringify({
      errors: [{ title: "operational-disconnect", disconnect_type: "ForceDisconnect" }]
    })
    const { send } = fakeX(() => open(`${[...posts, disconnect].join("\r\n")}\r\n`))
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

describe("a response that never starts or never ends", () => {
  const never = new Promise<Response>(() => {})
  const endless = (status: number, bytes: number) => () => {
    const chunk = new TextEncoder().encode(" ".repeat(bytes))
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }), { status })
  }
  const hanging = (status: number) => () => new Response(new ReadableStream({}), { status })

  for (const [name, send] of [
    ["no response", () => never],
    ["a success that never ends", async () => hanging(200)()],
    ["an error that never ends", async () => hanging(503)()]
  ] as const) {
    it.scoped(`fails with PlatformUnavailable after the timeout for ${name}`, () =>
      withX(send, ({ platform }) =>
        Effect.gen(function* () {
          const failing = yield* Effect.fork(Effect.flip(platform.register(["cat"])))
          yield* settle
          yield* passInSteps(61)
          assert.strictEqual((yield* failing)._tag, "PlatformUnavailable")
        })
      )
    )

    it.scoped(`makes the stream reconnect after the timeout for ${name}`, () => {
      const { calls, send: stream } = fakeX(send)
      return withX(stream, ({ platform, watch }) =>
        Effect.gen(function* () {
          yield* platform.inventory
          const watcher = yield* watch()
          yield* passInSteps(300)
          assert.isTrue(yield* watcher.isRunning)
          assert.isAtLeast(calls.stream, 3)
          assert.isAtMost(calls.stream, 11)
        })
      )
    })
  }

  it.scoped("fails with PlatformUnavailable for a body that is too large", () =>
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
  const echoes: ReadonlyArray<FakeResponse> = [200, 201, 302, 400, 401, 402, 403, 409, 422, 429, 500].flatMap(
    (status) =>
      [
        TOKEN,
        JSON.stringify({ title: "Echo", detail: `You sent Bearer ${TOKEN}`, type: `https://api.x.com/${TOKEN}` }),
        JSON.stringify({ errors: [{ value: "cat", title: TOKEN, details: [`Bearer ${TOKEN}`], message: TOKEN }] }),
        JSON.stringify({ title: "RulesCapExceeded", detail: TOKEN, disconnect_type: TOKEN })
      ].map((body) => ({ status, body }))
  )

  for (const response of echoes) {
    it.scoped(
      `is in no log, error or status when X answers ${response.status} with ${response.body.replaceAll(TOKEN, "it")}`,
      () => {
        const { send } = fakeX(() => responseOf({ ...response, body: `${response.body}\r\n` }))
        return Effect.gen(function* () {
          const output: Array<string> = []
          yield* withX(
            async () => responseOf(response),
            (adapter) =>
              Effect.gen(function* () {
                for (const call of everyCall(adapter)) {
                  const exit = yield* Effect.exit(call)
                  output.push(JSON.stringify(exit), Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
                }
                output.push(...adapter.logs)
              })
          )
          yield* withX(send, ({ platform, logs, watch }) =>
            Effect.gen(function* () {
              yield* platform.inventory
              yield* watch()
              yield* passInSteps(120, 30)
              const { detail, lastError } = yield* platform.status
              output.push(detail, JSON.stringify(lastError), ...logs)
              assert.isNotEmpty(logs)
            })
          )
          assert.deepStrictEqual(
            output.filter((text) => text.includes(TOKEN)),
            []
          )
        })
      }
    )
  }

  it.scoped("is not in the error when the token or the base URL is malformed", () =>
    Effect.gen(function* () {
      for (const options of [{ token: "se\ncret" }, { token: "se\u{1F511}cret" }, { baseUrl: "not a URL" }]) {
        yield* withX(
          async () => assert.fail("sent a request"),
          ({ platform, watch, logs }) =>
            Effect.gen(function* () {
              const error = yield* Effect.flip(platform.inventory)
              assert.deepStrictEqual(
                [error._tag, error.reason],
                ["PlatformUnavailable", "its URL or token is not valid"]
              )
              const watcher = yield* watch()
              yield* pass(60)
              assert.isTrue(yield* watcher.isRunning)
              assert.notInclude(logs.join("\n"), "cret")
            }),
          options
        )
      }
    })
  )
})
