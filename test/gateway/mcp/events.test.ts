/** Events over `/mcp` with the AI SDK's client: list, subscribe, deliver, refresh, unsubscribe, end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Webhook } from "standardwebhooks"
import { eventually } from "../../eventually.ts"
import { call, draft, type Target, xPost } from "../client.ts"
import { serve, service } from "../inProcess.ts"
import { type EventClient, eventClient } from "./eventClient.ts"

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
})

// ---- helpers ----

interface Context {
  readonly ann: Target
  readonly client: EventClient
  readonly rule_id: string
}

function subscribed(title: string, test: (context: Context) => Promise<void>): void {
  it.scopedLive(
    title,
    () =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("ann")
        const client = yield* eventClient(() => ann)
        const created = yield* Effect.promise(() => call(ann, "/api.CreateRule", draft("storm", ["x"])))
        yield* Effect.promise(() => test({ ann, client, rule_id: String(created.body["rule_id"]) }))
      }).pipe(Effect.provide(service)),
    60_000
  )
}

let posts = 0
const publish = (target: Target, text: string) => call(target, "/local/events", xPost(String(++posts), text))
