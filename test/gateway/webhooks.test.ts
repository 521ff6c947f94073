/** The webhook endpoints with real receivers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Webhook } from "standardwebhooks"
import { type Received, startReceiver } from "../adapters/webhooks/receiver.ts"
import { eventually } from "../eventually.ts"
import { type Answer, assertError, call, draft, firehoseUpdate, type Json, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"
import { exchange, requestText } from "./raw.ts"

describe("webhooks", () => {
  it.scopedLive("delivers a signed match as it is listed, and lists the attempt", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const { received, url } = yield* startReceiver((_, response) => void response.writeHead(200).end("thanks"))
      yield* ask(ann, "/api.CreateRule", draft("storm"))
      const created = yield* ask(ann, "/webhooks/create", { url: `${url}/hook`, description: "mine" })
      assert.strictEqual(created.status, 200)
      const { secret, webhook } = created.body
      yield* ask(ann, "/local/events", firehoseUpdate("http://a", "storm"))
      yield* eventual(() => assert.lengthOf(received, 1))
      const [match] = listOf((yield* ask(ann, "/matches", {})).body["matches"])
      const message = new Webhook(String(secret)).verify(received[0]?.body ?? "", received[0]?.headers ?? {})
      assert.deepStrictEqual(message as unknown, {
        type: "match.created",
        timestamp: match?.["created_at"],
        data: match
      })
      assert.strictEqual(received[0]?.headers["webhook-id"], String(match?.["id"]))
      const answer = yield* eventual(async () => {
        const page = await call(ann, "/webhooks/attempts", { webhook_id: webhook?.["id"] })
        assert.lengthOf(listOf(page.body["attempts"]), 1)
        return page
      })
      const [attempt] = listOf(answer.body["attempts"])
      assert.deepInclude(attempt as object, { kind: "delivery", outcome: "delivered", status: 200, response: "thanks" })
      const [listed] = listOf((yield* ask(ann, "/webhooks")).body["webhooks"])
      assert.deepInclude(listed as object, { state: "active", description: "mine", url: `${url}/hook` })
      assert.deepStrictEqual(listed?.["last_attempt"], attempt)
      assert.notInclude(JSON.stringify(listed), String(secret), "the secret is shown once")
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("test sends a signed message at once and returns the attempt", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const statuses = [204, 500, 302]
      const { received, url } = yield* startReceiver((_, response) => {
        response.writeHead(statuses.shift() ?? 200, { location: "http://127.0.0.1/" }).end()
      })
      const { body } = yield* ask(ann, "/webhooks/create", { url })
      const webhook_id = body["webhook"]?.["id"]
      const test = Effect.map(ask(ann, "/webhooks/test", { webhook_id }), (answer) => answer.body["attempt"] as object)
      assert.deepInclude(yield* test, { kind: "test", outcome: "delivered", status: 204 })
      assert.deepInclude(yield* test, { outcome: "failed", status: 500, error: "Answered 500" })
      assert.deepInclude(yield* test, { outcome: "failed", status: 302 })
      const [first] = received
      const message = verified(String(body["secret"]), first)
      assert.deepInclude(message, { type: "webhook.test", data: { webhook_id: String(webhook_id) } })
      const paged = yield* ask(ann, "/webhooks/attempts", { webhook_id, limit: 2 })
      assert.lengthOf(listOf(paged.body["attempts"]), 2)
      const rest = yield* ask(ann, "/webhooks/attempts", { webhook_id, cursor: paged.body["next_cursor"] })
      assert.lengthOf(listOf(rest.body["attempts"]), 1)
      assert.notProperty(rest.body, "next_cursor")
      const [listed] = listOf((yield* ask(ann, "/webhooks")).body["webhooks"])
      assert.strictEqual(String(listed?.["state"]), "active", "a test does not change the state")
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("both secrets verify after rotation; replay sends again; delete stops delivery", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const { received, url } = yield* startReceiver()
      yield* ask(ann, "/api.CreateRule", draft("storm"))
      const created = yield* ask(ann, "/webhooks/create", { url })
      const webhook_id = created.body["webhook"]?.["id"]
      const rotated = yield* ask(ann, "/webhooks/rotate-secret", { webhook_id })
      assert.notStrictEqual(String(rotated.body["secret"]), String(created.body["secret"]))
      for (const page of ["a", "b", "c"]) yield* ask(ann, "/local/events", firehoseUpdate(`http://${page}`, "storm"))
      yield* eventual(() => assert.lengthOf(received, 3))
      for (const { body } of [created, rotated]) verified(String(body["secret"]), received[0])
      const ids = received.map(({ headers }) => headers["webhook-id"])

      const one = yield* ask(ann, "/webhooks/replay", { webhook_id, match_id: ids[0] })
      assert.deepInclude(one.body["attempt"] as object, { kind: "replay", outcome: "delivered", match_id: ids[0] })
      yield* ask(ann, "/webhooks/replay", { webhook_id, after: ids[0] })
      yield* eventual(() => assert.lengthOf(received, 6))
      const all = received.map(({ headers }) => headers["webhook-id"])
      assert.deepStrictEqual(all, [...ids, ids[0], ids[1], ids[2]])

      assert.deepStrictEqual((yield* ask(ann, "/webhooks/delete", { webhook_id })).body as unknown, { webhook_id })
      assert.strictEqual((yield* ask(ann, "/webhooks/delete", { webhook_id })).status, 404)
      yield* ask(ann, "/local/events", firehoseUpdate("http://d", "storm"))
      assert.lengthOf(listOf((yield* ask(ann, "/webhooks")).body["webhooks"]), 0)
      assert.lengthOf(received, 6)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("invalid requests are refused and create nothing", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const url = "https://example.com/"
      const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
        [{}, /"url": Is missing/],
        [
          { url: "example.com" },
          /"url": Expected a URL like https.*, which starts with https:\/\/ or http:\/\/ and a host/
        ],
        [{ url: "localhost:8080/hooks" }, /which starts with https:\/\/ or http:\/\/ and a host/],
        [{ url: "ftp://example.com/" }, /got the scheme "ftp": only https and http are allowed/],
        [{ url: "javascript:alert(1)" }, /got the scheme "javascript": only https and http are allowed/],
        [{ url: "https://" }, /"url": Expected a URL like https.*, got no host/],
        [{ url: "http://:8080/hooks" }, /got no host/],
        [{ url: "https:///hooks" }, /got no host/],
        [{ url: "https://example.com:70000/" }, /got the port 70000, above 65535: webhooks may use 80, 443, and/],
        [{ url: `https://example.com/${"a".repeat(2_000)}` }, /"url": Is too long: 2020 characters/],
        [{ url: "https://ann:secret@example.com/" }, /"url": Contains a user name or password/],
        [
          { url: "https://example.com/hooks#frag" },
          /"url": Has a fragment \("#…"\), which HTTP does not send: remove it/
        ],
        [{ url: "http://169.254.169.254/latest" }, /"url": Not allowed: "169\.254\.169\.254" is a link-local/],
        [{ url: "http://[::ffff:10.0.0.1]/" }, /"url": Not allowed: .*EARSHOT_WEBHOOK_ALLOW/],
        [{ url: "http://0xA000001/" }, /"url": Not allowed: "10\.0\.0\.1" is a private address/],
        [{ url, platforms: [] }, /"platforms": Is empty/],
        [{ url, platforms: ["y"] }, /"platforms\.0": Expected one of/],
        [{ url, rule_ids: [] }, /"rule_ids": Is empty/],
        [{ url, rule_ids: "all" }, /"rule_ids": Expected an array/],
        [{ url, description: "" }, /"description": Is empty/],
        [{ url, secret: "mine" }, /"secret": Is not a known field/]
      ]
      for (const [body, message] of cases) {
        assertError(yield* ask(ann, "/webhooks/create", body), 400, "invalid_argument", message)
      }
      const unknown = { url, rule_ids: [`rule_${"0".repeat(26)}`] }
      assertError(yield* ask(ann, "/webhooks/create", unknown), 404, "not_found", /Cannot find rule/)
      assert.lengthOf(listOf((yield* ask(ann, "/webhooks")).body["webhooks"]), 0)

      const webhook_id = (yield* ask(ann, "/webhooks/create", { url })).body["webhook"]?.["id"]
      for (const body of [{ webhook_id }, { webhook_id, match_id: "a", after: "b" }]) {
        const says =
          /either "match_id", to send .* or "after", to continue the delivery after that match, and not both$/
        assertError(yield* ask(ann, "/webhooks/replay", body), 400, "invalid_argument", says)
      }
      for (let i = 1; i < 20; i++) yield* ask(ann, "/webhooks/create", { url })
      const full = yield* ask(ann, "/webhooks/create", { url })
      assertError(full, 429, "resource_exhausted", /20 of 20 are used/)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("a foreign webhook, match or rule gets the same response as an unknown one, byte for byte", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      const { received, url } = yield* startReceiver()
      const rule = String((yield* ask(ann, "/api.CreateRule", draft("secret"))).body["rule_id"])
      const hookOf = (who: Target) =>
        Effect.map(ask(who, "/webhooks/create", { url }), ({ body }) => String(body["webhook"]?.["id"]))
      const [annsHook, bobsHook] = [yield* hookOf(ann), yield* hookOf(bob)]
      yield* ask(ann, "/local/events", firehoseUpdate("http://a", "secret"))
      yield* eventual(() => assert.lengthOf(received, 1))
      const match = String(received[0]?.headers["webhook-id"])

      const requests: ReadonlyArray<readonly [string, string, (id: string) => unknown]> = [
        ...["delete", "test", "rotate-secret", "enable", "attempts"].map(
          (name) => [`/webhooks/${name}`, annsHook, (id: string) => ({ webhook_id: id })] as const
        ),
        ["/webhooks/replay", annsHook, (id) => ({ webhook_id: id, match_id: match })],
        ["/webhooks/replay", annsHook, (id) => ({ webhook_id: id, after: match })],
        ["/webhooks/replay", match, (id) => ({ webhook_id: bobsHook, match_id: id })],
        ["/webhooks/replay", match, (id) => ({ webhook_id: bobsHook, after: id })],
        ["/webhooks/create", rule, (id) => ({ url, rule_ids: [id] })],
        ["/trpc/webhooks.delete", annsHook, (id) => ({ webhook_id: id })]
      ]
      for (const [path, foreign, body] of requests) {
        const unknown = foreign.slice(0, -4) + (foreign.endsWith("0000") ? "1111" : "0000")
        const bytes = (id: string) => Effect.promise(() => bytesOf(bob, path, body(id), id))
        const [toForeign, toUnknown] = [yield* bytes(foreign), yield* bytes(unknown)]
        assert.match(toForeign, /"status":404/, path)
        assert.strictEqual(toForeign, toUnknown, path)
      }
      assert.lengthOf(received, 1, "nothing was sent")
      const mine = listOf((yield* ask(bob, "/webhooks")).body["webhooks"]).map((one) => String(one["id"]))
      assert.deepStrictEqual(mine, [bobsHook])
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

const ask = (target: Target, path: string, body?: unknown): Effect.Effect<Answer> =>
  Effect.promise(() => call(target, path, body))

const listOf = (found: Json | undefined): ReadonlyArray<Json> => [...(found ?? [])]

const eventual = <A>(check: () => A | Promise<A>) => Effect.promise(() => eventually(check))

const verified = (secret: string, received: Received | undefined): object =>
  new Webhook(secret).verify(received?.body ?? "", received?.headers ?? {}) as object

/** The whole response, with the date and the caller's id masked. */
const bytesOf = async (target: Target, path: string, body: unknown, id: string): Promise<string> => {
  const headers = { authorization: `Bearer ${target.key}`, "content-type": "application/json", "x-request-id": "same" }
  const answer = await exchange(target, requestText("POST", path, headers, JSON.stringify(body)))
  return JSON.stringify({ ...answer, headers: { ...answer?.headers, date: "" } }).replaceAll(id, "ID")
}
