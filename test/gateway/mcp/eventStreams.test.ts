/** Polls and streams of events over `/mcp`, with the official client in both revisions of the protocol. */
import { assert, describe, it } from "@effect/vitest"
import type { ClientOptions } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { z } from "zod"
import { Matches } from "../../../core/matches/Matches.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { Unauthenticated } from "../../../core/model/Errors.ts"
import { firstMatchIdAt } from "../../../core/model/Ids.ts"
import { fromDate } from "../../../core/model/Timestamp.ts"
import { eventually } from "../../eventually.ts"
import { call, draft, type Target, xPost } from "../client.ts"
import { serve, service, trimmer } from "../inProcess.ts"
import { rpc } from "./rpc.ts"
import { transportOf } from "./served.ts"
import { connect, MODERN } from "./session.ts"

describe("MCP events without webhooks", () => {
  watched("are a capability in both places, in both revisions of the protocol", async ({ ann }) => {
    const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": initialize.clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {}
    }
    const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" }
    for (const { result, error } of [
      await rpc(ann, "initialize", initialize),
      await rpc(ann, "server/discover", { _meta }, modern)
    ]) {
      const capabilities = result?.["capabilities"] as object | undefined
      assert.deepInclude(
        capabilities,
        { events: {}, extensions: { "io.modelcontextprotocol/events": {} } },
        error?.message
      )
    }
  })

  watched("polls deliver each match once, and say what is missing", async ({ ann, rule_id, other, trim }) => {
    const poll = (args: object, params: object) =>
      rpc(ann, "events/poll", { name: "match.created", arguments: args, ...params })
    const fresh = await poll({ rule_id }, { cursor: null })
    assert.deepInclude(fresh.result, { events: [], truncated: false, hasMore: false })
    const nothing = await poll({ rule_id }, { cursor: fresh.result?.["cursor"], timeoutMs: 0 })
    assert.deepInclude(nothing.result, { events: [], truncated: false, hasMore: false })
    const waiting = poll({ rule_ids: [rule_id] }, { cursor: nothing.result?.["cursor"], timeoutMs: 20_000 })
    await publish(ann, "hail")
    await publish(ann, "storm one")
    const waited = await waiting
    const [event] = eventsOf(waited)
    assert.deepInclude(event, { name: "match.created" })
    assert.deepInclude(event?.data, { match_id: event?.eventId, rule_id })
    await publish(ann, "storm two")
    await publish(ann, "storm three")
    const page = await poll({ rule_id }, { cursor: event?.cursor, maxEvents: 1 })
    assert.deepInclude(page.result, { hasMore: true, truncated: false })
    const rest = await poll({ platform: "x" }, { cursor: page.result?.["cursor"] })
    assert.lengthOf(eventsOf(rest), 1)
    assert.deepInclude(rest.result, { hasMore: false })
    const all = await poll({ rule_ids: [rule_id, other] }, { cursor: event?.cursor })
    assert.lengthOf(eventsOf(all), 2)
    const aged = await poll({ rule_id }, { cursor: event?.cursor, maxAgeMs: 0 })
    assert.deepInclude(aged.result, { events: [], truncated: true })
    await trim()
    const cut = await poll({ rule_id }, { cursor: event?.cursor })
    assert.deepInclude(cut.result, { events: [], truncated: true })
    const after = await poll({ rule_id }, { cursor: cut.result?.["cursor"] })
    assert.deepInclude(after.result, { truncated: false })
  })

  watched("polls refuse bad input with the code of the draft", async ({ ann, rule_id, bob }) => {
    const foreign = String((await call(bob, "/api.CreateRule", draft("other", ["x"]))).body["rule_id"])
    for (const [params, code, data] of [
      [{}, -32_602, { field: "name" }],
      [{ name: "match" }, -32_011, { kind: "event" }],
      [{ name: "match.created", arguments: { rule_id: foreign } }, -32_602, { field: "arguments.rule_id" }],
      [
        { name: "match.created", arguments: { rule_id: foreign }, cursor: firstMatchIdAt(Date.now()) },
        -32_602,
        { field: "arguments.rule_id" }
      ],
      [
        { name: "coverage.gap", arguments: { rule_ids: [rule_id, foreign] } },
        -32_602,
        { field: "arguments.rule_ids.1" }
      ],
      [
        { name: "match.created", arguments: { filters: { x: "cat" }, name: "Cats" } },
        -32_602,
        { field: "arguments.filters" }
      ],
      [{ name: "match.created", cursor: "c_1" }, -32_602, { field: "cursor" }],
      [{ name: "coverage.gap", cursor: "c_1" }, -32_602, { field: "cursor" }],
      [{ name: "match.created", cursor: firstMatchIdAt(Date.now() + 3_600_000) }, -32_602, { field: "cursor" }],
      [{ name: "match.created", timeoutMs: -1 }, -32_602, { field: "timeoutMs" }],
      [{ name: "match.created", maxEvents: 0 }, -32_602, { field: "maxEvents" }]
    ] as const) {
      const { error } = await rpc(ann, "events/poll", params)
      assert.strictEqual(error?.code, code, JSON.stringify(params))
      assert.deepInclude(error?.data, data, JSON.stringify(params))
      const stream = await rpc(ann, "events/poll", params)
      assert.strictEqual(stream.error?.code, code)
    }
  })

  watched("redactions are polled with the id that the other modes give them", async ({ ann, rule_id, redact }) => {
    await publish(ann, "storm to remove")
    const before = await rpc(ann, "events/poll", { name: "match.redacted", arguments: { rule_id } })
    assert.deepStrictEqual(eventsOf(before), [])
    await redact(posts)
    const polled = await rpc(ann, "events/poll", {
      name: "match.redacted",
      arguments: { rule_id },
      cursor: before.result?.["cursor"],
      timeoutMs: 10_000
    })
    const [event] = eventsOf(polled)
    assert.strictEqual(event?.eventId, `${event?.data["match_id"]}_redacted`)
    assert.deepInclude(event?.data, { rule_id, platform: "x" })
  })

  for (const [era, options] of [
    ["2025", {}],
    ["2026", MODERN]
  ] as ReadonlyArray<readonly [string, ClientOptions]>) {
    watched(`streams deliver matches until the client aborts, with protocol ${era}`, async ({ ann, rule_id }) => {
      const { client } = await connect(transportOf(ann), options)
      const told: Array<readonly [what: string, params: Record<string, unknown>]> = []
      for (const what of ["active", "event", "heartbeat", "terminated"]) {
        client.setNotificationHandler(`notifications/events/${what}`, { params: z.looseObject({}) }, (params) => {
          told.push([what, params])
        })
      }
      const abort = new AbortController()
      const params = { name: "match.created", arguments: { rule_id }, cursor: null }
      const streaming = client
        .request({ method: "events/stream", params }, z.looseObject({}), { signal: abort.signal, timeout: 60_000 })
        .catch(String)
      await eventually(() => assert.deepInclude(told[0]?.[1], { truncated: false }))
      await publish(ann, "storm live")
      await publish(ann, "storm again")
      await eventually(() =>
        assert.lengthOf(
          told.filter(([what]) => what === "event"),
          2
        )
      )
      // Without sessions, the earlier revision has no other way to end a request than to disconnect.
      if (era === "2025") await client.close()
      abort.abort()
      await streaming
      await eventually(async () => {
        const limits = [...((await call(ann, "/account")).body["limits"] ?? [])]
        assert.strictEqual(Number(limits.find((one) => String(one["name"]) === "streams")?.["used"]), 0)
      })
      await client.close()
    })
  }

  watched("a stream ends with its rule, with its key, and with the server", async ({ ann, rule_id, stop }) => {
    const key = (await call(ann, "/keys/create", { name: "to be revoked", scope: "read" })).body
    const [active, ended]: [Array<unknown>, Array<unknown>] = [[], []]
    const connected = async (target: Target) => {
      const { client } = await connect(transportOf(target), MODERN)
      const options = { params: z.looseObject({}) }
      client.setNotificationHandler("notifications/events/active", options, (params) => void active.push(params))
      client.setNotificationHandler("notifications/events/terminated", options, ({ error }) => void ended.push(error))
      const open = (args: object) =>
        client.request(
          { method: "events/stream", params: { name: "match.created", arguments: args } },
          z.looseObject({}),
          { timeout: 60_000 }
        )
      return { open, close: () => client.close() }
    }
    const [first, second] = [await connected(ann), await connected({ ...ann, key: String(key["secret"]) })]
    const [ofAll, ofRule, ofKey] = [first.open({}), first.open({ rule_id }), second.open({})]
    await eventually(() => assert.lengthOf(active, 3))
    await call(ann, "/api.DeleteRule", { rule_id })
    await call(ann, "/keys/revoke", { key_id: String(key["key"]?.["id"]) })
    await Promise.all([ofRule, ofKey])
    assert.sameDeepMembers(ended, [
      { code: -32_012, message: `Cannot find rule "${rule_id}"` },
      { code: -32_012, message: new Unauthenticated({ key: "refused" }).message }
    ])
    await stop()
    assert.deepInclude(await ofAll, {})
    assert.lengthOf(ended, 2)
    await first.close()
    await second.close()
  })
})

// ---- helpers ----

interface Event {
  readonly eventId: string
  readonly name: string
  readonly cursor: string
  readonly data: Readonly<Record<string, unknown>>
}

const eventsOf = ({ result, error }: Awaited<ReturnType<typeof rpc>>): ReadonlyArray<Event> =>
  (result?.["events"] as ReadonlyArray<Event> | undefined) ?? assert.fail(error?.message ?? "no result")

interface Context {
  readonly ann: Target
  readonly bob: Target
  readonly rule_id: string
  readonly other: string
  /** Deletes all matches. */
  readonly trim: () => Promise<unknown>
  /** Removes the payload of a post. */
  readonly redact: (post: number) => Promise<unknown>
  /** Ends all waits, as a server that stops. */
  readonly stop: () => Promise<unknown>
}

function watched(title: string, test: (context: Context) => Promise<void>): void {
  it.scopedLive(
    title,
    () =>
      Effect.gen(function* () {
        const newKey = yield* serve
        const [ann, bob] = [yield* newKey("ann"), yield* newKey("bob")]
        const store = yield* MatchStore
        const trim = yield* trimmer
        const matches = yield* Matches
        const create = async (word: string) =>
          String((await call(ann, "/api.CreateRule", draft(word, ["x"]))).body["rule_id"])
        yield* Effect.promise(async () =>
          test({
            ann,
            bob,
            rule_id: await create("storm"),
            other: await create("hail"),
            trim,
            redact: (post) =>
              Effect.runPromise(
                store.redact({
                  platform: "x",
                  postIds: [String(post)],
                  redacted: { at: fromDate(new Date()), reason: "deleted" },
                  atMost: 10
                })
              ),
            stop: () => Effect.runPromise(matches.stopWaiting)
          })
        )
      }).pipe(Effect.provide(service)),
    240_000
  )
}

let posts = 50_000
const publish = (target: Target, text: string) => call(target, "/local/events", xPost(String(++posts), text))
