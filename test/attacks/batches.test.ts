/** Batches: each call counts as a request, and a batch has at most 20. */
import { assert, describe, it } from "@effect/vitest"
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, TRPCClientError } from "@trpc/client"
import { Effect } from "effect"
import { Keys } from "../../core/keys/Keys.ts"
import { Rules } from "../../core/rules/Rules.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { call, draft, type Target } from "../gateway/client.ts"
import { serve, serviceOn } from "../gateway/inProcess.ts"
import { localPlatforms } from "../platforms.ts"
import { earlyInMinute } from "../quotas.ts"

const LIMIT = 10

const limited = serviceOn(localPlatforms({}, { requests: LIMIT }))

const rulesOf = (account: string) =>
  Effect.gen(function* () {
    const { rules } = yield* (yield* Rules).list(yield* (yield* Keys).account(account), {})
    return rules.length
  })

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

const callTools = (target: Target, count: number) =>
  Effect.promise(() =>
    call(
      target,
      "/mcp",
      numbers(count).map((id) => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "create_rule", arguments: draft() }
      })),
      { headers: { accept: "application/json, text/event-stream" } }
    )
  )

describe("a batch", () => {
  it.scopedLive("of MCP calls counts each of them, and the calls beyond the limit fail", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* earlyInMinute
      const { status, body } = yield* callTools(ann, LIMIT + 2)
      assert.strictEqual(status, 200)
      const results = [...body].map((answer) => JSON.stringify(answer["result"]))
      assert.lengthOf(results, LIMIT + 2)
      const refused = results.filter((result) => /resource_exhausted.*requests/.test(result))
      assert.lengthOf(refused, 2)
      assert.strictEqual(yield* rulesOf("ann"), LIMIT)
    }).pipe(Effect.provide(limited))
  )

  it.scopedLive("of tRPC calls counts each of them, also in a stream, and the calls beyond the limit fail", () =>
    Effect.gen(function* () {
      const as = yield* serve
      for (const [account, link] of [
        ["ann", httpBatchLink],
        ["bob", httpBatchStreamLink]
      ] as const) {
        const { url, key } = yield* as(account)
        const { rules } = createTRPCClient<AppRouter>({
          links: [link({ url: `${url}/trpc`, headers: { authorization: `Bearer ${key}` } })]
        })
        yield* earlyInMinute
        const made = yield* Effect.promise(() =>
          Promise.allSettled(numbers(LIMIT + 2).map(() => rules.create.mutate(draft())))
        )
        const codes = made.flatMap((one) => (one.status === "rejected" ? [codeOf(one.reason)] : []))
        assert.deepStrictEqual(codes, ["resource_exhausted", "resource_exhausted"], account)
        assert.strictEqual(yield* rulesOf(account), LIMIT)
      }
    }).pipe(Effect.provide(limited))
  )

  it.scopedLive("of more than 20 calls is refused as a whole", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const message = /A batch has at most 20 calls, this one has 21: send several requests$/
      const tools = yield* callTools(ann, 21)
      assert.strictEqual(tools.status, 400)
      assert.deepStrictEqual<unknown>(tools.body, {
        jsonrpc: "2.0",
        id: null,
        error: {
          code: -32_600,
          message: "Request is not valid: A batch has at most 20 calls, this one has 21: send several requests"
        }
      })
      const path = numbers(21).map(() => "rules.create")
      const inputs = Object.fromEntries(numbers(21).map((i) => [i, draft()]))
      for (const comma of [",", "%2C", "%2c"]) {
        const { status, body } = yield* Effect.promise(() => call(ann, `/trpc/${path.join(comma)}?batch=1`, inputs))
        assert.strictEqual(status, 400)
        assert.strictEqual(String(body["error"]?.["data"]?.["code"]), "invalid_argument")
        assert.match(String(body["error"]?.["message"]), message)
      }
      assert.strictEqual(yield* rulesOf("ann"), 0)
    }).pipe(Effect.provide(limited))
  )

  it.scopedLive("of one call, and a call alone, count once", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const remaining = () =>
        Effect.promise(async () => {
          const { headers } = await call(ann, "/api.ListRules")
          return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1])
        })
      yield* earlyInMinute
      yield* callTools(ann, 1)
      yield* Effect.promise(() => call(ann, "/trpc/rules.create", draft()))
      yield* Effect.promise(() => call(ann, "/trpc/rules.create?batch=1", { 0: draft() }))
      assert.strictEqual(yield* remaining(), LIMIT - 4)
    }).pipe(Effect.provide(limited))
  )
})

const codeOf = (error: unknown): unknown => (error instanceof TRPCClientError ? error.data?.code : error)
