/** Events over `/mcp` with the AI SDK's client: list, subscribe, deliver, refresh, unsubscribe, end. */
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Webhook } from "standardwebhooks"
import { firstMatchIdAt } from "../../../core/model/Ids.ts"
import { startReceiver } from "../../adapters/webhooks/receiver.ts"
import { eventually } from "../../eventually.ts"
import { localPlatforms } from "../../platforms.ts"
import { earlyInMinute } from "../../quotas.ts"
import { call, draft, type Target, xPost } from "../client.ts"
import { serve, service, serviceOn, trimmer } from "../inProcess.ts"
import { type EventClient, eventClient } from "./eventClient.ts"
import { rpc } from "./rpc.ts"

describe("MCP events with the AI SDK", () => {
  subscribed("lists the events with schemas and modes of delivery", async ({ client }) => {
    const { events } = await client.events.list()
    assert.deepStrictEqual(
      events.map(({ name, delivery }) => [name, delivery]),
      ["match.created", "match.redacted", "coverage.gap"].map((name) => [name, ["webhook", "poll", "push"]])
    )
    for (const { inputSchema, payloadSchema } of events) {
      assert.deepInclude(inputSchema, { type: "object", additionalProperties: false })
      assert.notInclude(JSON.stringify(payloadSchema), '"additionalProperties":false')
      assert.notMatch(JSON.stringify([inputSchema, payloadSchema]), /\$ref/)
    }
  })

  subscribed("delivers each match once, signed, until it is unsubscribed", async ({ client, ann, rule_id }) => {
    const subscription = await client.subscribe("match.created", { rule_id }, { ttlMs: 3_600_000 })
    assert.match(subscription.id ?? "", /^sub_[0-9a-f]{32}$/)
    assert.isFalse(subscription.truncated)
    const left = Date.parse(subscription.refreshBefore ?? "") - Date.now()
    assert.isTrue(left > 3_500_000 && left <= 3_600_000, `${left}`)
    await publish(ann, "A storm")
    const [event] = await eventually(() => {
      assert.lengthOf(client.received, 1)
      return client.received
    })
    const [match] = [...((await call(ann, "/matches", { rule_id })).body["matches"] ?? [])]
    const id = String(match?.["id"])
    assert.deepInclude(event, {
      eventId: id,
      name: "match.created",
      timestamp: String(match?.["created_at"]),
      cursor: id
    })
    assert.deepInclude(event?.data, { match_id: id, rule_id, platform: "x" })
    const sent = client.delivered.at(-1)
    assert.deepInclude(sent?.headers, {
      "content-type": "application/json",
      "webhook-id": id,
      "x-mcp-subscription-id": subscription.id ?? ""
    })
    assert.strictEqual(sent?.status, 204)
    assert.notProperty(JSON.parse(sent?.body ?? ""), "type")
    new Webhook(subscription.delivery.secret).verify(sent?.body ?? "", { ...sent?.headers })

    const [listed] = [...((await call(ann, "/webhooks")).body["webhooks"] ?? [])]
    assert.deepInclude(listed as object, {
      kind: "subscription",
      state: "active",
      events: ["match"],
      rule_ids: [rule_id]
    })
    assert.deepInclude(listed?.["subscription"] as object | undefined, {
      id: subscription.id,
      event: "match.created",
      client: "ai-sdk-mcp-client",
      expires_at: subscription.refreshBefore
    })

    const refreshed = await client.events.refresh({ key: subscription.key })
    assert.deepInclude(refreshed, { truncated: false })
    assert.strictEqual(refreshed.id, subscription.id)
    await publish(ann, "Another storm")
    await eventually(() => assert.lengthOf(client.received, 2))
    await client.events.unsubscribe({ key: subscription.key })
    assert.deepStrictEqual([...((await call(ann, "/webhooks")).body["webhooks"] ?? [])], [])
  })

  subscribed("challenges before it stores anything, once per address", async ({ client, ann, rule_id }) => {
    await client.subscribe("match.created", { rule_id })
    await client.subscribe("match.redacted", { rule_id })
    const challenges = client.delivered.filter(({ body }) => body.includes("verification"))
    // The client adds a part of its own to the address.
    assert.lengthOf(new Set(challenges.map(({ headers }) => headers["webhook-id"])), challenges.length)
    for (const { headers, body, status } of challenges) {
      assert.strictEqual(status, 200)
      assert.match(headers["webhook-id"] ?? "", /^msg_verification_/)
      const [sent] = [...client.store.values()].filter(({ id }) => id === headers["x-mcp-subscription-id"])
      new Webhook(sent?.delivery.secret ?? "").verify(body, headers)
    }
    const before = client.delivered.length
    const [first] = [...client.store.values()]
    await client.events.refresh({ key: first?.key ?? "" })
    assert.lengthOf(client.delivered, before, "remembered")
    assert.lengthOf([...((await call(ann, "/webhooks")).body["webhooks"] ?? [])], 2)
  })

  subscribed("filters make a rule that lives as long as the subscription", async ({ client, ann }) => {
    const wanted = { filters: { x: "hurricane" }, name: "Hurricanes" }
    const subscription = await client.subscribe("match.created", wanted)
    const rules = async () =>
      [...((await call(ann, "/api.ListRules")).body["rules"] ?? [])].map((one) => String(one["name"]))
    assert.include(await rules(), "Hurricanes")
    await client.events.refresh({ key: subscription.key })
    assert.lengthOf(
      (await rules()).filter((name) => name === "Hurricanes"),
      1
    )
    await publish(ann, "A hurricane")
    await eventually(() => assert.lengthOf(client.received, 1))
    await client.events.unsubscribe({ key: subscription.key })
    assert.notInclude(await rules(), "Hurricanes")
  })

  subscribed("tells of matches that were deleted before their delivery, and goes on", async (context) => {
    const { client, ann, rule_id, trim } = context
    const { key, delivery } = await client.subscribe("match.created", { rule_id })
    client.refusal = 503
    await publish(ann, "A storm that nobody hears of")
    await eventually(() => assert.strictEqual(client.delivered.at(-1)?.status, 503))
    await trim()
    client.refusal = undefined
    await deliverNow(ann)
    const [cursor = ""] = await eventually(() => {
      assert.lengthOf(client.gaps, 1)
      return client.gaps
    })
    const told = client.delivered.at(-1)
    assert.strictEqual(told?.status, 204)
    assert.deepStrictEqual(JSON.parse(told?.body ?? ""), { type: "gap", cursor })
    assert.match(told?.headers["webhook-id"] ?? "", /^msg_gap_/)
    new Webhook(delivery.secret).verify(told?.body ?? "", { ...told?.headers })
    await eventually(() => assert.deepInclude(client.store.get(key), { cursor, truncated: true }))
    await publish(ann, "A storm")
    await eventually(() => assert.lengthOf(client.received, 1))
    assert.lengthOf(client.gaps, 1)
    const refreshed = await client.events.refresh({ key })
    assert.isFalse(refreshed.truncated, "the client knows it")
  })

  subscribed("ends with its rule and with its key, and tells the client", async ({ client, ann, rule_id }) => {
    const { delivery } = await client.subscribe("match.created", { rule_id })
    await call(ann, "/api.DeleteRule", { rule_id })
    await deliverNow(ann)
    await eventually(() => assert.lengthOf(client.terminated, 1))
    assert.match(client.terminated[0] ?? "", /rule of the subscription was deleted/)
    const told = client.delivered.at(-1)
    assert.deepInclude(JSON.parse(told?.body ?? ""), { type: "terminated" })
    assert.match(told?.headers["webhook-id"] ?? "", /^msg_terminated_/)
    new Webhook(delivery.secret).verify(told?.body ?? "", { ...told?.headers })
    await eventually(() => assert.strictEqual(client.store.size, 0, "the client forgets it"))
    await eventually(async () => assert.lengthOf([...((await call(ann, "/webhooks")).body["webhooks"] ?? [])], 0))
    await client.subscribe("match.created", {})
    const [own] = [...((await call(ann, "/webhooks")).body["webhooks"] ?? [])]
    await call(ann, "/webhooks/delete", { webhook_id: String(own?.["id"]) })
    await eventually(() => assert.lengthOf(client.terminated, 2))
    assert.match(client.terminated[1] ?? "", /deleted by its account/)
    const [admin] = [...((await call(ann, "/keys")).body["keys"] ?? [])]
    const created = await call(ann, "/keys/create", { name: "mine", scope: "admin" })
    await client.subscribe("match.created", {})
    const other = { ...ann, key: String(created.body["secret"]) }
    await call(other, "/keys/revoke", { key_id: String(admin?.["id"]) })
    await deliverNow(other)
    await eventually(() => assert.lengthOf(client.terminated, 3))
    assert.match(client.terminated[2] ?? "", /key or access of the subscription was revoked/)
  })

  subscribed(
    "replays from a cursor after the subscription was lost, and repeats only ids",
    async ({ client, ann, rule_id }) => {
      const first = await client.subscribe("match.created", { rule_id })
      await publish(ann, "storm one")
      // The client stores it after it has handed out the event.
      const cursor = await eventually(() => {
        const stored = client.store.get(first.key)?.cursor ?? ""
        assert.strictEqual(stored, client.received[0]?.cursor)
        return stored
      })
      const [listed] = [...((await call(ann, "/webhooks")).body["webhooks"] ?? [])]
      await call(ann, "/webhooks/delete", { webhook_id: String(listed?.["id"]) })
      await publish(ann, "storm two")
      const again = await client.subscribe("match.created", { rule_id }, { cursor })
      assert.isFalse(again.truncated)
      await eventually(() => assert.lengthOf(client.received, 2))
      const cut = await client.subscribe("match.created", { rule_id }, { cursor, maxAgeMs: 0 })
      assert.isTrue(cut.truncated)
    }
  )

  subscribed("refuses bad input with the code of the draft, names the field, and stores nothing", async (context) => {
    const { ann, bob, client, rule_id } = context
    const silent = `${client.url}?silent`
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
    const good = { name: "match.created", arguments: { rule_id }, delivery: { mode: "webhook", url: silent, secret } }
    const delivery = (change: object) => ({ ...good, delivery: { ...good.delivery, ...change } })
    const foreign = String((await call(bob, "/api.CreateRule", draft("other", ["x"]))).body["rule_id"])
    const unknown = foreign.slice(0, -4) + (foreign.endsWith("0000") ? "1111" : "0000")
    const wrong: ReadonlyArray<readonly [params: unknown, code: number, says: RegExp | object]> = [
      [undefined, -32_602, { field: "name" }],
      [{ ...good, name: "match.create" }, -32_011, /did you mean match\.created/],
      [{ ...good, arguments: { rule_id: foreign } }, -32_602, { field: "arguments.rule_id" }],
      [{ ...good, arguments: { rule_ids: [rule_id, foreign] } }, -32_602, { field: "arguments.rule_ids.1" }],
      [{ ...good, arguments: { rule_id: 7 } }, -32_602, { field: "arguments.rule_id" }],
      [{ ...good, arguments: { rule: rule_id } }, -32_602, { field: "arguments.rule" }],
      [{ ...good, arguments: [] }, -32_602, { field: "arguments" }],
      [{ ...good, arguments: { platform: "mastodon" } }, -32_602, { field: "arguments.platform" }],
      [{ ...good, arguments: { rule_id, rule_ids: [rule_id] } }, -32_602, { field: "arguments.rule_ids" }],
      [{ ...good, arguments: { filters: { x: "cat" } } }, -32_602, { field: "arguments.name" }],
      [
        { ...good, arguments: { filters: { x: "cat lnag:en" }, name: "Cats" } },
        -32_602,
        { field: "arguments.filters.x" }
      ],
      [
        { ...good, arguments: { filters: { x: "cat" }, name: "Cats", rule_id } },
        -32_602,
        { field: "arguments.filters" }
      ],
      [{ ...good, cursor: "newest" }, -32_602, { field: "cursor" }],
      [{ ...good, cursor: firstMatchIdAt(Date.now() + 3_600_000) }, -32_602, { field: "cursor" }],
      [{ ...good, ttlMs: "1h" }, -32_602, { field: "ttlMs" }],
      [delivery({ mode: "poll" }), -32_014, { feature: "deliveryMode", value: "poll" }],
      [delivery({ mode: "pigeon" }), -32_602, { field: "delivery.mode" }],
      [delivery({ secret: "secret" }), -32_602, { field: "delivery.secret" }],
      [delivery({ secret: `whsec_${Buffer.alloc(23).toString("base64")}` }), -32_602, { field: "delivery.secret" }],
      [delivery({ secret: `whsec_${Buffer.alloc(65).toString("base64")}` }), -32_602, { field: "delivery.secret" }],
      [delivery({ url: "ftp://example.com/" }), -32_602, { field: "delivery.url" }],
      [delivery({ url: "https://me:secret@example.com/" }), -32_602, { field: "delivery.url" }],
      [delivery({ url: "https://example.com/#here" }), -32_602, { field: "delivery.url" }],
      [delivery({ url: "http://93.184.216.34/" }), -32_015, { reason: "not_allowed" }],
      [delivery({ url: "https://10.0.0.1/" }), -32_015, { reason: "not_allowed" }],
      [delivery({ url: "https://[::ffff:169.254.169.254]/" }), -32_015, { reason: "not_allowed" }],
      [delivery({ url: silent.replace(/^http:/, "https:") }), -32_015, { reason: "tls_error" }],
      [delivery({ url: "http://127.0.0.1:1999/" }), -32_015, { reason: "connection_refused" }],
      // The webhook of the client knows no such subscription.
      [good, -32_015, { reason: "http_4xx" }]
    ]
    for (const [params, code, says] of wrong) {
      const { error } = await rpc(ann, "events/subscribe", params)
      const about = JSON.stringify(params)
      assert.strictEqual(error?.code, code, `${about}: ${error?.message}`)
      if (says instanceof RegExp) assert.match(error?.message ?? "", says, about)
      else assert.deepInclude(error?.data, says, about)
    }
    const ofUnknown = await rpc(ann, "events/subscribe", { ...good, arguments: { rule_id: unknown } })
    const ofForeign = await rpc(ann, "events/subscribe", { ...good, arguments: { rule_id: foreign } })
    assert.strictEqual(JSON.stringify(ofForeign).replaceAll(foreign, unknown), JSON.stringify(ofUnknown))
    assert.deepStrictEqual([...((await call(ann, "/webhooks")).body["webhooks"] ?? [])], [])
    assert.lengthOf([...((await call(ann, "/api.ListRules")).body["rules"] ?? [])], 1)
    const answered = await rpc(ann, "events/unsubscribe", good)
    assert.deepStrictEqual(answered.result, {}, JSON.stringify(answered.error))
    const reader = {
      ...ann,
      key: String((await call(ann, "/keys/create", { name: "reader", scope: "read" })).body["secret"])
    }
    const denied = await rpc(reader, "events/subscribe", good)
    assert.strictEqual(denied.error?.code, -32_012)
    assert.isDefined((await rpc(reader, "events/list", {})).result)
  })

  subscribed(
    "refuses a receiver that does not echo the challenge, redirects, or is slow",
    async ({ ann, rule_id, answering }) => {
      const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
      for (const [reason, reply] of [
        ["challenge_failed", (response) => void response.end('{"challenge":"another"}')],
        ["challenge_failed", (response) => void response.end("ok")],
        ["http_3xx", (response) => void response.writeHead(307, { location: "http://169.254.169.254/" }).end()],
        ["http_5xx", (response) => void response.writeHead(500).end("our secret")],
        ["timeout", () => {}]
      ] as ReadonlyArray<readonly [string, (response: ServerResponse) => void]>) {
        const delivery = { mode: "webhook", url: await answering(reply), secret }
        const [took, { error }] = await timed(() =>
          rpc(ann, "events/subscribe", { name: "match.created", arguments: { rule_id }, delivery })
        )
        assert.deepInclude(error, { code: -32_015, data: { reason } })
        assert.notInclude(error?.message, "secret")
        assert.isBelow(took, 20_000)
      }
      assert.deepStrictEqual([...((await call(ann, "/webhooks")).body["webhooks"] ?? [])], [])
    }
  )

  it.scopedLive(
    "limits the subscriptions of an account, and its challenges per minute",
    () =>
      Effect.gen(function* () {
        yield* earlyInMinute
        const ann = yield* (yield* serve)("ann")
        const client = yield* eventClient(() => ann)
        yield* Effect.promise(async () => {
          await client.subscribe("match.created", {})
          await client.subscribe("match.redacted", {})
          const full = await client.subscribe("coverage.gap", {}).catch(String)
          assert.match(String(full), /limit "subscriptions": 2 of 2/)
          const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
          const [first] = [...((await call(ann, "/webhooks")).body["webhooks"] ?? [])]
          await call(ann, "/webhooks/delete", { webhook_id: String(first?.["id"]) })
          const answers = await Promise.all(
            [1, 2, 3].map((count) =>
              rpc(ann, "events/subscribe", {
                name: "match.created",
                arguments: { platform: "x" },
                delivery: { mode: "webhook", url: `${client.url}?${count}`, secret }
              })
            )
          )
          const refused = answers.filter(({ error }) => error?.code === -32_013)
          assert.isAtLeast(refused.length, 1)
          assert.deepInclude(refused[0]?.error?.data, { limit: "challenges", max: 4 })
          const limits = [...((await call(ann, "/account")).body["limits"] ?? [])]
          const used = Object.fromEntries(limits.map((one) => [String(one["name"]), Number(one["used"])]))
          assert.deepInclude(used, { subscriptions: 1, challenges: 4, webhooks: 0 })
        })
      }).pipe(Effect.provide(serviceOn(localPlatforms({}, { subscriptions: 2, challenges: 4 })))),
    240_000
  )
})

// ---- helpers ----

interface Context {
  readonly ann: Target
  readonly bob: Target
  /** Starts a receiver and returns its address. */
  readonly answering: (reply: (response: ServerResponse) => void) => Promise<string>
  readonly client: EventClient
  readonly rule_id: string
  readonly trim: () => Promise<unknown>
}

function subscribed(title: string, test: (context: Context) => Promise<void>): void {
  it.scopedLive(
    title,
    () =>
      Effect.gen(function* () {
        const newKey = yield* serve
        const [ann, bob] = [yield* newKey("ann"), yield* newKey("bob")]
        const client = yield* eventClient(() => ann)
        const created = yield* Effect.promise(() => call(ann, "/api.CreateRule", draft("storm", ["x"])))
        let reply: (response: ServerResponse) => void = () => {}
        const { url } = yield* startReceiver((_, response) => reply(response))
        const answering = async (next: typeof reply) => {
          reply = next
          return `${url}/${++posts}`
        }
        const trim = yield* trimmer
        const context = { ann, bob, client, answering, trim, rule_id: String(created.body["rule_id"]) }
        yield* Effect.promise(() => test(context))
      }).pipe(Effect.provide(service)),
    240_000
  )
}

let posts = 0
const publish = (target: Target, text: string) => call(target, "/local/events", xPost(String(++posts), text))

/** Otherwise a retry, and what has ended, waits up to five seconds. */
const deliverNow = async (target: Target) => {
  for (const { id } of (await call(target, "/webhooks")).body["webhooks"] ?? []) {
    await call(target, "/webhooks/enable", { webhook_id: id })
  }
}

const timed = async <A>(run: () => Promise<A>): Promise<readonly [number, A]> => {
  const start = Date.now()
  const result = await run()
  return [Date.now() - start, result]
}
