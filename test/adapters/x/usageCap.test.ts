/** A usage cap of X is waited out until its reset, wherever X reports it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { NOW, pass, RULES, STREAM, stage } from "../../simulator/stage.ts"
import { attempts, passInSteps, withSimulator, withX } from "./platform.ts"

const capped = { title: "UsageCapExceeded", detail: "Monthly cap", type: "https://api.x.com/2/problems/usage-capped" }

/** A fake X with the rule "cat" and one response to every stream request. Collects the seconds of the requests. */
const fakeX = (answer: () => Response) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(NOW)
    const clock = yield* Effect.clock
    const times: Array<number> = []
    const send = async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url)
      if (pathname === STREAM) {
        times.push((clock.unsafeCurrentTimeMillis() - NOW) / 1_000)
        return answer()
      }
      if (pathname !== RULES) return new Response("", { status: 404 })
      return Response.json({ data: [{ id: "1", value: "cat", tag: "earshot:memory" }], meta: { result_count: 1 } })
    }
    return { times, send }
  })

/** With backfill, so that a connection needs one attempt. */
const plan = { tier: "enterprise", connection_cap: 1 } as const

const HOUR = 3_600
const DAY = 24 * HOUR

describe("a usage cap", () => {
  for (const { headers, wait } of [
    { headers: { "x-rate-limit-reset": String(NOW / 1_000 + 800) }, wait: 800 },
    { headers: { "x-rate-limit-reset": String(NOW / 1_000 + 5 * HOUR) }, wait: 5 * HOUR },
    { headers: { "x-rate-limit-reset": String(NOW / 1_000 + 12 * DAY) }, wait: DAY },
    { headers: { "retry-after": "1200" }, wait: 1_200 },
    { headers: { "retry-after": new Date(NOW + 2 * HOUR * 1_000).toUTCString() }, wait: 2 * HOUR },
    { headers: {}, wait: 60 }
  ]) {
    it.scoped(`as 429 with ${JSON.stringify(headers)} is waited out for ${wait} s`, () =>
      Effect.gen(function* () {
        const { times, send } = yield* fakeX(() => Response.json(capped, { status: 429, headers }))
        yield* withX(send, ({ platform, watch }) =>
          Effect.gen(function* () {
            yield* platform.inventory
            yield* watch()
            yield* pass(wait - 1)
            assert.deepStrictEqual(times, [0])
            assert.strictEqual((yield* platform.status).state, "refused")
            yield* pass(1)
            assert.deepStrictEqual(times, [0, wait])
          })
        )
      })
    )
  }

  it.scoped("without a reset is checked again at growing intervals, at least every six hours", () =>
    Effect.gen(function* () {
      const { times, send } = yield* fakeX(() => Response.json(capped, { status: 429 }))
      yield* withX(send, ({ platform, watch }) =>
        Effect.gen(function* () {
          yield* platform.inventory
          yield* watch()
          const waits = [60, 120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, 6 * HOUR, 6 * HOUR]
          for (const [index, wait] of waits.entries()) {
            yield* pass(wait - 1)
            assert.lengthOf(times, index + 1)
            yield* pass(1)
            assert.lengthOf(times, index + 2)
          }
        })
      )
    })
  )

  it.scoped("in an open stream ends it, and the reset of the next answer is waited for", () =>
    withSimulator({ x: { ...plan, usage_cap: 1, usage_cap_reset_seconds: 3 * HOUR } }, (on, { platform, watch }) =>
      Effect.gen(function* () {
        yield* platform.register(["cat"])
        const watcher = yield* watch()
        yield* on.post("cat 1", "cat 2")
        yield* passInSteps(3 * HOUR + 30, 30)
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [60, 429],
          [3 * HOUR, 200],
          [3 * HOUR + 10, 200]
        ])
        assert.deepStrictEqual(watcher.texts(), ["cat 1", "cat 2"], "the second by a recovery")
      })
    )
  )

  it.scoped("is not waited out once X reports room", () =>
    withSimulator({ x: { ...plan, usage_cap: 1, usage_cap_reset_seconds: 12 * DAY } }, (on, { platform, watch }) =>
      Effect.gen(function* () {
        yield* platform.register(["cat"])
        const watcher = yield* watch()
        yield* on.post("cat 1", "cat 2")
        yield* passInSteps(120, 30)
        assert.strictEqual((yield* platform.status).state, "refused")
        yield* on.control.patch({ x: { usage_cap: 1_000 } })
        yield* passInSteps(300, 30)
        assert.strictEqual((yield* platform.status).state, "live")
        yield* on.post("cat 3")
        yield* pass(1)
        assert.include(watcher.texts(), "cat 3")
        const { calls } = yield* on.control.state
        assert.isAtMost(calls["x.usage"]?.statuses[200] ?? 0, 4)
      })
    )
  )

  it.scoped("is waited out if X reports the room that it had when it refused", () =>
    Effect.gen(function* () {
      const on = yield* stage({ x: plan })
      let connects = 0
      const send = async (request: Request) => {
        if (new URL(request.url).pathname !== STREAM) return on.handler(request)
        connects++
        return Response.json(capped, { status: 429, headers: { "retry-after": "7200" } })
      }
      yield* withX(send, ({ platform, watch }) =>
        Effect.gen(function* () {
          yield* platform.register(["cat"])
          yield* watch()
          yield* passInSteps(3_600, 180)
          assert.strictEqual(connects, 1)
          assert.isAbove((yield* on.control.state).calls["x.usage"]?.statuses[200] ?? 0, 10)
        })
      )
    })
  )

  it.scoped("is found in the last line of a stream that ends without a newline", () =>
    Effect.gen(function* () {
      const { times, send } = yield* fakeX(() => new Response(`\r\n${JSON.stringify({ errors: [capped] })}`))
      yield* withX(send, ({ platform, watch }) =>
        Effect.gen(function* () {
          yield* platform.inventory
          yield* watch()
          yield* pass(59)
          assert.deepStrictEqual(times, [0])
          const { message } = Option.getOrThrow((yield* platform.status).lastError)
          assert.strictEqual(message, "X ended the stream (UsageCapExceeded: Monthly cap)")
        })
      )
    })
  )
})

describe("a torn record at the end of a stream", () => {
  it.scoped("is reported as unreadable", () =>
    Effect.gen(function* () {
      const { send } = yield* fakeX(() => new Response('\r\n{"data":{"id":"7","te'))
      yield* withX(send, ({ platform, watch, logs }) =>
        Effect.gen(function* () {
          yield* platform.inventory
          const watcher = yield* watch()
          assert.deepStrictEqual(watcher.texts(), [])
          assert.isTrue(logs.some((line) => line.startsWith('Skipped an unreadable record of "x" (1 so far)')))
        })
      )
    })
  )
})
