/** Limits of accounts over HTTP: headers, errors, streams, events, and what the operator changes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Accounts } from "../../core/accounts/Accounts.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { localPlatforms } from "../platforms.ts"
import { earlyInMinute } from "../quotas.ts"
import { assertError, call, draft, firehoseUpdate, type Target } from "./client.ts"
import { serve, serviceOn, X_LIMIT } from "./inProcess.ts"

const limited = (defaults: Parameters<typeof localPlatforms>[1]) => serviceOn(localPlatforms({ x: X_LIMIT }, defaults))

const ask = (target: Target, path: string, body?: unknown) => Effect.promise(() => call(target, path, body))

const changeLimit = (account: string, name: string, value: number) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    return yield* accounts.setLimit(yield* (yield* Keys).account(account), name, Option.some(value))
  })

describe("the limit on requests", () => {
  it.scopedLive("is told with every answer, and ends in 429 with Retry-After, on REST, tRPC and MCP", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* earlyInMinute
      const first = yield* ask(ann, "/api.ListRules")
      assert.strictEqual(first.headers.get("ratelimit-policy"), '"default";q=4;w=60')
      assert.match(first.headers.get("ratelimit") ?? "", /^"default";r=3;t=\d{1,2}$/)
      const wrong = yield* ask(ann, "/matches", { nothing: 1 })
      assert.match(wrong.headers.get("ratelimit") ?? "", /;r=2;/)
      const trpc = yield* ask(ann, "/trpc/rules.list")
      assert.match(trpc.headers.get("ratelimit") ?? "", /;r=1;/)
      yield* ask(ann, "/account")
      for (const [path, body] of [["/api.ListRules"], ["/trpc/rules.list"], ["/mcp", {}]] as const) {
        const refused = yield* ask(ann, path, body)
        assert.strictEqual(refused.status, 429, path)
        assert.match(refused.headers.get("ratelimit") ?? "", /^"default";r=0;t=\d{1,2}$/)
        assert.match(refused.headers.get("retry-after") ?? "", /^\d{1,2}$/)
        assert.match(JSON.stringify(refused.body), /"code":"resource_exhausted".*"name":"requests","limit":4,"used":4/)
      }
      assert.strictEqual((yield* ask(bob, "/api.ListRules")).status, 200)
    }).pipe(Effect.provide(limited({ requests: 4 })))
  )

  it.scopedLive("does not keep GET /account and tRPC account.get from telling the limits", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* earlyInMinute
      yield* ask(ann, "/api.ListRules")
      for (const [path, used] of [
        ["/account", 2],
        ["/trpc/account.get", 3]
      ] as const) {
        const shown = yield* ask(ann, path)
        assert.strictEqual(shown.status, 200, path)
        assert.match(shown.headers.get("ratelimit") ?? "", /^"default";r=0;t=\d{1,2}$/)
        assert.match(JSON.stringify(shown.body), new RegExp(`"name":"requests",[^}]*"limit":1,"used":${used},`))
      }
      assert.strictEqual((yield* ask(ann, "/api.ListRules")).status, 429)
    }).pipe(Effect.provide(limited({ requests: 1 })))
  )

  it.scopedLive("can be changed for one account", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* changeLimit("ann", "requests", 1_000)
      const statuses = yield* Effect.forEach([1, 2, 3], () => ask(ann, "/account"))
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        [200, 200, 200]
      )
    }).pipe(Effect.provide(limited({ requests: 1 })))
  )
})

describe("other limits", () => {
  it.scopedLive("GET /account shows each limit with what is used of it", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* ask(ann, "/api.CreateRule", draft("cat"))
      yield* ask(ann, "/local/events", firehoseUpdate("http://a", "cat"))
      yield* ask(ann, "/webhooks/create", { url: "https://example.com/hook" })
      const { body } = yield* ask(ann, "/account")
      const limits = [...(body["limits"] ?? [])].map((limit) => [limit["name"], [limit["limit"], limit["used"]]])
      const { bytes, ...rest } = Object.fromEntries(limits) as Record<string, ReadonlyArray<number>>
      assert.isAbove(bytes?.[1] ?? 0, 10)
      assert.deepStrictEqual<unknown>(rest, {
        requests: [null, 0],
        checks: [20, 0],
        matching: [null, 0],
        events: [null, 1],
        streams: [5, 0],
        webhooks: [20, 1],
        subscriptions: [null, 0],
        challenges: [null, 0],
        matches: [null, 1],
        "rules.x": [X_LIMIT, 0],
        "rules.firehose": [null, 1]
      })
    }).pipe(Effect.provide(limited({ checks: 20, streams: 5, webhooks: 20 })))
  )

  it.scopedLive("a stream or wait beyond the limit is refused, and a closed one makes room", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const aborting = new AbortController()
      const open = () =>
        fetch(`${ann.url}/matches/stream`, {
          headers: { authorization: `Bearer ${ann.key}` },
          signal: aborting.signal
        })
      const stream = yield* Effect.promise(open)
      yield* Effect.promise(async () => stream.body?.getReader().read())
      assertError(yield* ask(ann, "/matches/stream"), 429, "resource_exhausted", /"streams": 1 of 1/)
      assertError(yield* ask(ann, "/matches/wait", { timeout_seconds: 1 }), 429, "resource_exhausted")
      aborting.abort()
      yield* Effect.sleep("300 millis")
      assert.strictEqual((yield* ask(ann, "/matches/wait", { timeout_seconds: 1 })).status, 200)
    }).pipe(Effect.provide(limited({ streams: 1 })))
  )

  it.scopedLive("events beyond the limit are refused with Retry-After", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const events = [firehoseUpdate("http://a", "cat"), firehoseUpdate("http://b", "cat")]
      assert.strictEqual((yield* ask(ann, "/local/events", events)).status, 200)
      const refused = yield* ask(ann, "/local/events", events)
      assertError(refused, 429, "resource_exhausted", /"events": 2 of 2/)
      assert.isNotNull(refused.headers.get("retry-after"))
    }).pipe(Effect.provide(limited({ events: 2 })))
  )

  it.scopedLive("the operator can raise the limit on rules of one account", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* changeLimit("ann", "rules.x", X_LIMIT + 1)
      const create = (target: Target) => ask(target, "/api.CreateRule", draft("cat", ["x"]))
      for (const target of [ann, bob]) yield* Effect.replicateEffect(create(target), X_LIMIT)
      assert.strictEqual((yield* create(ann)).status, 200)
      assertError(yield* create(ann), 429, "resource_exhausted", /3 of 3/)
      assertError(yield* create(bob), 429, "resource_exhausted", /2 of 2/)
      const error = yield* Effect.flip(changeLimit("ann", "rules.y", 1))
      assert.match(error.message, /There is no limit "rules.y": expected one of requests, .*rules.firehose/)
    }).pipe(Effect.provide(limited({})))
  )
})
