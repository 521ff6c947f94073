/** Idempotency keys over HTTP, tRPC and tools, on every store. */

import type { ServerResponse } from "node:http"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { createTRPCClient, httpLink, TRPCClientError } from "@trpc/client"
import { Effect, Either, Layer, Option } from "effect"
import { changesState } from "../../api/Contract.ts"
import { allContracts } from "../../api/contracts.ts"
import { issuerAt } from "../../core/grants/Grants.ts"
import { ClaimStore } from "../../core/idempotency/ClaimStore.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { startReceiver } from "../adapters/webhooks/receiver.ts"
import { until } from "../eventually.ts"
import { localPlatforms } from "../platforms.ts"
import { memoryStores } from "../stores/memoryStores.ts"
import { pgliteClient, postgresClient, storesOfDoors } from "../stores.ts"
import { type Answer, assertError, call, draft, firehoseUpdate, type Target } from "./client.ts"
import { serve, serveWith, serviceOn, X_LIMIT } from "./inProcess.ts"
import { connect } from "./mcp/session.ts"
import { authorize, connected, KNOWN_CLIENT, KNOWN_REDIRECT, newProof, requestIn } from "./oauth/flow.ts"

const ISSUER = issuerAt("https://earshot.example")

const platforms = () => localPlatforms({ x: X_LIMIT }, { webhooks: 20 })

for (const [store, stores] of storesOfDoors) {
  // The same client as that of the stores.
  const client = store === "PGlite" ? pgliteClient : store === "Postgres" ? postgresClient : Layer.empty
  const service = Layer.merge(serviceOn(platforms(), stores, Option.some(ISSUER)), client)
  // Every test has its own accounts.
  withLayer(service, { excludeTestServices: true, timeout: "240 seconds" })(`Idempotency-Key on ${store}`, (it) => {
    it.scoped("runs a request once, and gives the first answer again", () =>
      Effect.gen(function* () {
        const as = yield* serve
        const [ann, bob] = [yield* as("ann"), yield* as("bob")]
        const rule = draft("once")
        const [first, second] = [yield* send(ann, CREATE, rule, "key"), yield* send(ann, CREATE, rule, "key")]
        assertReplay(first, second)
        assert.strictEqual(yield* rulesOf(ann), 1)

        const reordered = Object.fromEntries(Object.entries(rule).reverse())
        assertReplay(first, yield* send(ann, CREATE, reordered, "key"))
        const other = yield* send(ann, CREATE, { ...rule, name: "Other" }, "key")
        assertError(other, 422, "invalid_argument", /"key" was used before with another request/)
        assert.isNull(other.headers.get(REPLAYED))

        assertFirst(yield* send(ann, CREATE, rule, "another key"))
        assertFirst(yield* send(bob, CREATE, rule, "key"))
        assertFirst(yield* send(ann, "/api.DeleteRule", { rule_id: first.body["rule_id"] }, "key"))
        assertFirst(yield* send(ann, CREATE, rule))
        assert.deepStrictEqual([yield* rulesOf(ann), yield* rulesOf(bob)], [2, 1])
      })
    )

    it.scoped("gives the answer of every operation that changes something again", () =>
      Effect.gen(function* () {
        const ann = yield* (yield* serveWith({ signIn: Either.right(ISSUER) }))("cat")
        const { url, received } = yield* startReceiver()
        const used = new Set<string>()
        const twice = (path: string, body: unknown) =>
          Effect.gen(function* () {
            used.add(path)
            const first = yield* send(ann, path, body, "the key")
            assertFirst(first)
            assertReplay(first, yield* send(ann, path, body, "the key"))
            return first.body
          })

        const rule_id = (yield* twice(CREATE, draft("storm")))["rule_id"]
        const update = { rule_id, name: "Changed", overrides: { firehose: "storm OR gale" }, expected_version: 1 }
        assert.strictEqual(Number((yield* twice("/api.UpdateRule", update))["rule"]?.["version"]), 2)
        yield* twice("/api.PauseRule", { rule_id })
        assert.strictEqual(Number((yield* twice("/api.ResumeRule", { rule_id }))["rule"]?.["version"]), 4)
        const shadow = { rule_id, overrides: { firehose: "storm" } }
        yield* twice("/api.ShadowRule", shadow)
        assert.strictEqual(Number((yield* twice("/api.PromoteRule", { rule_id }))["rule"]?.["version"]), 5)
        yield* send(ann, "/api.ShadowRule", shadow)
        yield* twice("/api.DropShadow", { rule_id })
        const webhook_id = (yield* twice("/webhooks/create", { url }))["webhook"]?.["id"]
        const events = yield* twice("/local/events", firehoseUpdate("http://a", "a storm"))
        assert.deepStrictEqual<unknown>(events, { accepted: { firehose: 1 }, matches: 1 })
        const [match] = (yield* send(ann, "/matches", {})).body["matches"] ?? []
        yield* twice("/rules/reapply", { rule_id })
        yield* twice("/webhooks/test", { webhook_id })
        yield* twice("/webhooks/rotate-secret", { webhook_id })
        yield* twice("/webhooks/enable", { webhook_id })
        yield* twice("/webhooks/replay", { webhook_id, match_id: match?.["id"] })
        yield* twice("/webhooks/delete", { webhook_id })
        const key_id = (yield* twice("/keys/create", { name: "second", scope: "read" }))["key"]?.["id"]
        const { secret } = yield* twice("/keys/rotate", { key_id, overlap_seconds: 0 })
        assert.strictEqual((yield* send({ ...ann, key: String(secret) }, "/account")).status, 200)
        yield* twice("/keys/revoke", { key_id })
        assert.strictEqual((yield* send({ ...ann, key: String(secret) }, "/account")).status, 401)
        yield* twice("/api.DeleteRule", { rule_id })
        const made = yield* Effect.forEach(["one", "two", "three"], (word) => send(ann, CREATE, draft(word)))
        const rule_ids = made.map(({ body }) => String(body["rule_id"]))
        const deleted = yield* twice("/api.DeleteRules", { rule_ids })
        assert.deepStrictEqual<unknown>(
          [...(deleted["rules"] ?? [])].map((rule) => rule["rule_id"]),
          rule_ids
        )
        assert.strictEqual(yield* rulesOf(ann), 0)
        const asked = { client_id: KNOWN_CLIENT, redirect_uri: KNOWN_REDIRECT, code_challenge: newProof().challenge }
        const request = requestIn(yield* Effect.promise(() => authorize(ann, asked)))
        yield* twice("/grants/decide", { request, decision: "read" })
        const { access } = yield* Effect.promise(() => connected(ann, "read"))
        const [grant] = (yield* send(ann, "/grants")).body["grants"] ?? []
        yield* twice("/grants/revoke", { grant_id: grant?.["id"] })
        assert.strictEqual((yield* send({ ...ann, key: access }, "/account")).status, 401)

        const messages = received.map(({ body }) => String(JSON.parse(body).type))
        assert.lengthOf(
          messages.filter((type) => type === "webhook.test"),
          1
        )
        assert.sameMembers([...used], [...allContracts.filter(changesState).map(({ path }) => path), "/local/events"])
      })
    )

    it.scoped("does not keep a failure", () =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("dan")
        const [first] = [yield* send(ann, CREATE, draft("one", ["x"])), yield* send(ann, CREATE, draft("two", ["x"]))]
        const third = draft("three", ["x"])
        for (let attempt = 0; attempt < 2; attempt++) {
          const refused = yield* send(ann, CREATE, third, "key")
          assertError(refused, 429, "resource_exhausted")
          assert.isNull(refused.headers.get(REPLAYED))
        }
        yield* send(ann, "/api.DeleteRule", { rule_id: first.body["rule_id"] })
        const made = yield* send(ann, CREATE, third, "key")
        assertFirst(made)
        assertReplay(made, yield* send(ann, CREATE, third, "key"))
        assertError(yield* send(ann, "/webhooks/delete", { webhook_id: "none" }, "key"), 404, "not_found")
        assertError(yield* send(ann, "/keys/revoke", { key_id: "none" }, "key"), 404, "not_found")
      })
    )

    it.scoped("answers 409 while the first request runs, which ends though its client has left", () =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("eve")
        const held: Array<ServerResponse> = []
        const { url, received } = yield* startReceiver((_, response) => void held.push(response))
        const webhook_id = (yield* send(ann, "/webhooks/create", { url })).body["webhook"]?.["id"]
        const leaving = new AbortController()
        const left = Effect.promise(() =>
          call(ann, "/webhooks/test", { webhook_id }, { ...keyed("key"), signal: leaving.signal }).catch(() => "left")
        )
        const leaver = yield* Effect.fork(left)
        yield* Effect.promise(() => until("a request is held", () => held.length === 1))
        const busy = yield* send(ann, "/webhooks/test", { webhook_id }, "key")
        assertError(busy, 409, "aborted", /"key" is still running/)
        assert.strictEqual(busy.headers.get("retry-after"), "1")
        const other = yield* send(ann, "/webhooks/test", { webhook_id: "other" }, "key")
        assertError(other, 422, "invalid_argument")
        leaving.abort()
        assert.strictEqual(yield* leaver, "left")
        for (const response of held) response.writeHead(204).end()
        const last = yield* Effect.repeat(
          Effect.delay(send(ann, "/webhooks/test", { webhook_id }, "key"), "20 millis"),
          { until: ({ status }) => status !== 409, times: 200 }
        )
        assert.deepStrictEqual([last.status, last.headers.get(REPLAYED)], [200, "true"], JSON.stringify(last.body))
        assert.lengthOf(received, 1)
      })
    )

    it.scoped("keeps no secret in readable form", () =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("fay")
        const key = "a random idempotency key"
        const { secret } = (yield* send(ann, "/keys/create", { name: "second", scope: "read" }, key)).body
        yield* send(ann, "/webhooks/create", { url: "https://example.com/hook" }, key)
        const sql = yield* Effect.serviceOption(SqlClient)
        if (Option.isNone(sql)) return
        const rows = yield* sql.value<{ readonly answer: string }>`select * from idempotency_keys`
        assert.isAtLeast(rows.length, 2)
        const plain = rows.map(({ answer }) => Buffer.from(answer, "base64").toString("latin1")).join()
        for (const text of [String(secret), "whsec_", "secret", key]) {
          assert.notInclude(JSON.stringify(rows), text)
          assert.notInclude(plain, text)
        }
      })
    )
  })
}

describe("Idempotency-Key", () => {
  it.scopedLive("has 1 to 255 printable characters, and is ignored where nothing changes", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      for (const key of ["", "k".repeat(256), "k\u00e9y"]) {
        for (const path of [CREATE, "/local/events", "/webhooks/create"]) {
          const refused = yield* send(ann, path, {}, key)
          assertError(refused, 400, "invalid_argument", /"Idempotency-Key": Expected 1 to 255 printable/)
        }
        assert.strictEqual((yield* send(ann, "/matches", {}, key)).status, 200)
      }
      assertFirst(yield* send(ann, CREATE, draft(), "k".repeat(255)))
      const [first, second] = [yield* send(ann, "/matches", {}, "key"), yield* send(ann, "/matches", {}, "key")]
      assert.deepStrictEqual(
        [first, second].map(({ headers }) => headers.get(REPLAYED)),
        [null, null]
      )
    }).pipe(Effect.provide(serviceOn(platforms())))
  )

  it.scopedLive("costs nothing without a key: the store of the keys is not asked", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      assert.strictEqual((yield* send(ann, CREATE, draft())).status, 200)
      assert.strictEqual((yield* send(ann, "/local/events", firehoseUpdate("http://a", "a"))).status, 200)
      assert.strictEqual((yield* send(ann, "/keys/create", { name: "second", scope: "read" })).status, 200)
    }).pipe(
      Effect.provide(
        serviceOn(platforms(), Layer.merge(memoryStores, Layer.mock(ClaimStore, { releaseAll: Effect.void })))
      )
    )
  )

  it.scopedLive("is a field in tRPC and in tools, and the same for all interfaces", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const authorization = `Bearer ${ann.key}`
      const replayed: Array<string | null> = []
      const client = createTRPCClient<AppRouter>({
        links: [
          httpLink({
            url: `${ann.url}/trpc`,
            headers: { authorization },
            fetch: async (url, init) => {
              const response = await fetch(url, init as RequestInit)
              replayed.push(response.headers.get(REPLAYED))
              return response
            }
          })
        ]
      })
      const rule = draft("fields")
      const request = { ...rule, idempotency_key: "key" }
      const first = yield* Effect.promise(() => client.rules.create.mutate(request))
      const second = yield* Effect.promise(() => client.rules.create.mutate(request))
      assert.deepStrictEqual(second, first)
      const error = yield* Effect.promise(() =>
        client.rules.create.mutate({ ...request, name: "Other" }).catch((cause: unknown) => cause)
      )
      assert.instanceOf(error, TRPCClientError)
      assert.deepInclude((error as TRPCClientError<AppRouter>).data as object, {
        code: "invalid_argument",
        httpStatus: 422
      })
      assert.deepStrictEqual(replayed, [null, "true", null])

      const agent = yield* Effect.promise(() =>
        connect(
          new StreamableHTTPClientTransport(new URL(`${ann.url}/mcp`), { requestInit: { headers: { authorization } } })
        )
      )
      const byTool = yield* Effect.promise(() => agent.call("create_rule", request))
      assert.isFalse(byTool.isError, byTool.text)
      assert.strictEqual(String(byTool.structured["rule_id"]), first.rule_id)
      const reused = yield* Effect.promise(() => agent.call("create_rule", { ...request, name: "Other" }))
      assert.match(reused.text, /was used before with another request/)

      const byRest = yield* send(ann, CREATE, rule, "key")
      assert.deepStrictEqual<unknown>([byRest.headers.get(REPLAYED), byRest.body], ["true", first])
      const inBody = yield* send(ann, CREATE, request)
      assertError(inBody, 400, "invalid_argument", /"idempotency_key": Is not a known field/)
      assert.strictEqual(yield* rulesOf(ann), 1)
    }).pipe(Effect.provide(serviceOn(platforms())))
  )
})

// ---- helpers ----

const CREATE = "/api.CreateRule"

const REPLAYED = "idempotent-replayed"

const keyed = (key: string): RequestInit => ({ headers: { "idempotency-key": key } })

const send = (target: Target, path: string, body?: unknown, key?: string) =>
  Effect.promise(() => call(target, path, body, key === undefined ? {} : keyed(key)))

const rulesOf = (target: Target) =>
  Effect.map(send(target, "/api.ListRules"), ({ body }) => [...(body["rules"] ?? [])].length)

const assertFirst = ({ status, headers, body }: Answer) => {
  assert.strictEqual(status, 200, JSON.stringify(body))
  assert.isNull(headers.get(REPLAYED))
}

const assertReplay = (first: Answer, second: Answer) => {
  assert.deepStrictEqual([second.status, second.body], [first.status, first.body])
  assert.strictEqual(second.headers.get(REPLAYED), "true")
}
