/** Redaction on every door, with two servers on one Postgres and two accounts. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client"
import { Effect, Exit, Redacted, Scope } from "effect"
import { EventSource } from "eventsource"
import type { Match } from "../../core/matches/Match.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { type Received, startReceiver } from "../adapters/webhooks/receiver.ts"
import { eventually } from "../eventually.ts"
import { KEY, runInProcess, type Served, START_MILLIS, serveInProcess } from "../program.ts"
import { temporaryDatabase } from "../stores.ts"
import { assertError, call, draft, type Json, type Target, xPost } from "./client.ts"
import { connect } from "./mcp/session.ts"
import { type Block, openStream } from "./sse.ts"

const OPERATOR_KEY = "key-of-the-operator-of-this-server"

describe("POST /matches/redact", { timeout: 2 * START_MILLIS }, () => {
  let scope: Scope.CloseableScope
  /** Ann, Bob and events use `far`; the operator redacts on `near`. */
  let near: Served
  let far: Served
  let bobsKey = ""
  let receiver: { readonly received: ReadonlyArray<Received>; readonly url: string }
  let posts = 0

  beforeAll(async () => {
    scope = Effect.runSync(Scope.make())
    const { url } = await Effect.runPromise(Scope.extend(temporaryDatabase, scope))
    receiver = await Effect.runPromise(Scope.extend(startReceiver(), scope))
    const settings = {
      DATABASE_URL: Redacted.value(url),
      EARSHOT_OPERATOR_KEY: OPERATOR_KEY,
      EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8"
    }
    near = await serveInProcess(settings)
    far = await serveInProcess(settings)
    const created = await runInProcess(["keys", "create", "--account", "bob", "--json"], settings)
    bobsKey = JSON.parse(created.stdout).key
  }, 3 * START_MILLIS)
  afterAll(async () => {
    await near.stop()
    await far.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, START_MILLIS)

  const as = (key: string, server = far): Target => ({ ...server, key })
  const ann = () => as(KEY)
  const bob = () => as(bobsKey)
  const operator = () => as(OPERATOR_KEY, near)

  const newRule = async (who: Target, word: string) =>
    String((await call(who, "/api.CreateRule", draft(word, ["x"]))).body["rule_id"])

  /** Publishes a post for the rules of all accounts. Returns its id. */
  const publish = async (word: string) => {
    const id = String(1_000 + ++posts)
    assert.strictEqual((await call(as(OPERATOR_KEY), "/local/events", xPost(id, word))).status, 200)
    return id
  }

  const redact = async (id: string, reason = "deleted") => {
    const request = { platform: "x", platform_post_ids: [id], reason }
    const { status, body } = await call(operator(), "/matches/redact", request)
    assert.strictEqual(status, 200, JSON.stringify(body))
    return Number(body["redacted"])
  }

  const matchesOf = async (who: Target, rule_id: string) =>
    [...((await call(who, "/matches", { rule_id })).body["matches"] ?? [])] as unknown as Array<typeof Match.Encoded>

  const wait = async (who: Target, query: object) => (await call(who, "/matches/wait", query)).body

  it("lists the match without its payload, for the accounts that have it, and changes no other match", async () => {
    const [mine, theirs] = [await newRule(ann(), "quokka"), await newRule(bob(), "quokka")]
    const [gone, kept] = [await publish("quokka"), await publish("quokka")]
    assert.strictEqual(await redact(gone), 2)
    for (const [who, rule] of [
      [ann(), mine],
      [bob(), theirs]
    ] as const) {
      const [second, first] = await matchesOf(who, rule)
      assert.deepInclude(first, { platform_post_id: gone, payload: {} })
      assert.strictEqual(first?.redacted?.reason, "deleted")
      assert.strictEqual(second?.platform_post_id, kept)
      assert.isNotEmpty(second?.payload)
      assert.notProperty(second, "redacted")
    }
    assert.strictEqual(await redact(gone, "operator"), 0)
    assert.strictEqual((await matchesOf(ann(), mine))[1]?.redacted?.reason, "deleted")
    assert.strictEqual((await call(as(OPERATOR_KEY), "/local/events", xPost(gone, "quokka again"))).status, 200)
    assert.deepStrictEqual((await matchesOf(ann(), mine))[1]?.payload, {})
  })

  it("pushes match.redacted on the stream of another server, to the account of the match only", async () => {
    const [mine, theirs] = [await newRule(ann(), "numbat"), await newRule(bob(), "bilby")]
    const [mineOpen, theirsOpen] = await Promise.all([
      openStream(`${far.url}/matches/stream?rule_id=${mine}`, { key: KEY }),
      openStream(`${far.url}/matches/stream`, { key: bobsKey })
    ])
    const id = await publish("numbat")
    const matched = await nextEvent(mineOpen)
    const match = JSON.parse(matched?.data ?? "") as typeof Match.Encoded
    await redact(id, "withheld")
    const event = await nextEvent(mineOpen)
    assert.strictEqual(event?.event, "match.redacted")
    assert.deepStrictEqual(JSON.parse(event?.data ?? ""), {
      id: match.id,
      rule_id: mine,
      platform: "x",
      platform_post_id: id,
      redacted: { at: (await matchesOf(ann(), mine))[0]?.redacted?.at, reason: "withheld" }
    })
    assert.isAbove(Number(event?.id !== undefined && event.id > match.id), 0, "its id is later than the match")

    const other = await publish("bilby")
    const first = await nextEvent(theirsOpen)
    assert.strictEqual(JSON.parse(first?.data ?? "").platform_post_id, other, "Bob got nothing of Ann's")
    assert.strictEqual(JSON.parse(first?.data ?? "").rule_id, theirs)

    // A client that was away, from before the redaction and from after it.
    const resumed = await openStream(`${near.url}/matches/stream?rule_id=${mine}`, { key: KEY, lastId: match.id })
    assert.deepStrictEqual(await nextEvent(resumed), event)
    const later = await openStream(`${near.url}/matches/stream?rule_id=${mine}`, { key: KEY, lastId: event?.id })
    const next = await publish("numbat")
    assert.strictEqual(JSON.parse((await nextEvent(later))?.data ?? "").platform_post_id, next)
    for (const stream of [mineOpen, theirsOpen, resumed, later]) stream.leave()
  })

  it("answers a wait with the redactions since its cursor, also without a new match", async () => {
    const rule_id = await newRule(ann(), "dugong")
    const foreign = await newRule(bob(), "dugong")
    const gone = await publish("dugong")
    const [match] = await matchesOf(ann(), rule_id)
    const waiting = wait(ann(), { rule_id, cursor: match?.id, timeout_seconds: 3 })
    await redact(gone)
    const first = await waiting
    assert.deepStrictEqual(
      [
        [...(first["redacted"] ?? [])].map(({ id }) => id),
        [...(first["matches"] ?? [])],
        first["timed_out"]
      ] as unknown,
      [[match?.id], [], true]
    )
    const second = await wait(ann(), { rule_id, cursor: first["cursor"], timeout_seconds: 1 })
    assert.notProperty(second, "redacted")
    const next = await publish("dugong")
    const both = await wait(ann(), { rule_id, cursor: match?.id, timeout_seconds: 5 })
    assert.deepStrictEqual([...(both["redacted"] ?? [])], [...(first["redacted"] ?? [])])
    assert.deepStrictEqual(
      [...(both["matches"] ?? [])].map((one) => String(one["platform_post_id"])),
      [next]
    )
    const theirs = await wait(bob(), { rule_id: foreign, cursor: match?.id, timeout_seconds: 1 })
    const ids = [...(theirs["redacted"] ?? [])].map((one) => String(one["rule_id"]))
    assert.deepStrictEqual(ids, [foreign], "each account learns of its own match")
  })

  it("sends the match again without its payload to a tRPC subscription", async () => {
    const rule_id = await newRule(ann(), "potoroo")
    const client = createTRPCClient<AppRouter>({
      links: [
        httpSubscriptionLink({
          url: `${far.url}/trpc`,
          EventSource,
          connectionParams: { authorization: `Bearer ${KEY}` }
        })
      ]
    })
    const seen: Array<{
      readonly id: string
      readonly data: { readonly id: string; readonly payload: object; readonly redacted?: { readonly reason: string } }
    }> = []
    const subscription = client.matches.watch.subscribe({ rule_id }, { onData: (item) => void seen.push(item) })
    await eventually(async () => {
      if (seen.length === 0) await publish("potoroo")
      assert.isNotEmpty(seen)
    })
    const first = (await matchesOf(ann(), rule_id)).find(({ id }) => id === seen[0]?.data.id)
    await redact(first?.platform_post_id ?? "", "edited")
    const again = () => seen.find(({ data }) => data.redacted !== undefined)
    await eventually(() => assert.isDefined(again()))
    subscription.unsubscribe()
    assert.strictEqual(again()?.data.id, seen[0]?.data.id)
    assert.notStrictEqual(again()?.id, seen[0]?.id)
    assert.deepStrictEqual([again()?.data.payload, again()?.data.redacted?.reason], [{}, "edited"])
  })

  it("delivers match.redacted to webhooks, after the match, once", async () => {
    const rule_id = await newRule(ann(), "wombat")
    await newRule(bob(), "wombat")
    const url = `${receiver.url}/wombat`
    const { webhook } = (await call(ann(), "/webhooks/create", { url, rule_ids: [rule_id] })).body
    const id = await publish("wombat")
    const messages = () =>
      receiver.received.filter(({ path }) => path === "/wombat").map(({ body }) => JSON.parse(body))
    await eventually(() => assert.lengthOf(messages(), 1))
    await redact(id)
    await eventually(() => assert.lengthOf(messages(), 2))
    await publish("wombat")
    await eventually(() => assert.lengthOf(messages(), 3))
    const [created, redacted, next] = messages()
    assert.deepStrictEqual(
      [created.type, redacted.type, next.type],
      ["match.created", "match.redacted", "match.created"]
    )
    assert.deepStrictEqual(redacted, {
      type: "match.redacted",
      timestamp: redacted.data.redacted.at,
      data: {
        id: created.data.id,
        rule_id,
        platform: "x",
        platform_post_id: id,
        redacted: { at: redacted.timestamp, reason: "deleted" }
      }
    })
    const replayed = await call(ann(), "/webhooks/replay", { webhook_id: webhook?.["id"], match_id: created.data.id })
    assert.strictEqual(replayed.status, 200)
    const again = messages().at(-1)
    assert.deepInclude(again, { type: "match.created" })
    assert.deepInclude(again.data, { id: created.data.id, payload: {} })
  })

  it("tells agents what was removed, in both tools", async () => {
    const rule_id = await newRule(ann(), "echidna")
    const id = await publish("echidna")
    const [match] = await matchesOf(ann(), rule_id)
    await redact(id)
    const headers = { authorization: `Bearer ${KEY}` }
    const agent = await connect(
      new StreamableHTTPClientTransport(new URL(`${far.url}/mcp`), { requestInit: { headers } })
    )
    const waited = await agent.call("wait_for_matches", { rule_id, cursor: match?.id, timeout_seconds: 1 })
    assert.deepStrictEqual(
      [...(waited.structured["redacted"] ?? [])].map((one) => String(one["id"])),
      [String(match?.id)]
    )
    assert.include(waited.text, `do not use or repeat what these said: ${match?.id} (deleted)`)
    const listed = await agent.call("list_matches", { rule_id })
    const [removed] = [...(listed.structured["matches"] ?? [])]
    assert.hasAllKeys(removed, ["id", "platform", "time", "redacted"])
    const full = await agent.call("list_matches", { rule_id, full: true })
    assert.deepInclude([...(full.structured["matches"] ?? [])][0] as object, { payload: {} })
    for (const { text } of [listed, full]) assert.notInclude(text, "echidna")
  })

  it("removes the post from the samples of backtests", async () => {
    const id = await publish("thylacine")
    const check = async () => {
      const request = { overrides: { x: "thylacine" }, backtest: { samples: 5 } }
      const { body } = await call(ann(), "/rules/check", request)
      return Number((body["platforms"] as Json)?.["x"]?.["backtest"]?.["matched"])
    }
    assert.strictEqual(await check(), 1)
    assert.strictEqual(await redact(id), 0, "no rule matched it")
    assert.strictEqual(await check(), 0)
  })

  it("answers a repeated request with the same idempotency key as the first one, on every server", async () => {
    await newRule(ann(), "dunnart")
    const body = { platform: "x", platform_post_ids: [await publish("dunnart")] }
    const keyed = { headers: { "idempotency-key": "redact once" } }
    const first = await call(operator(), "/matches/redact", body, keyed)
    assert.deepStrictEqual<unknown>([first.status, first.body], [200, { redacted: 1 }])
    for (const server of [near, far]) {
      const again = await call(as(OPERATOR_KEY, server), "/matches/redact", body, keyed)
      assert.deepStrictEqual<unknown>(again.body, { redacted: 1 })
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
    }
  })

  it("is for the operator only", async () => {
    const rule_id = await newRule(ann(), "possum")
    const id = await publish("possum")
    const request = { platform: "x", platform_post_ids: [id] }
    for (const who of [ann(), bob()]) {
      const refused = await call(who, "/matches/redact", request)
      assertError(refused, 403, "permission_denied", /is for the operator of the server.*socket.*EARSHOT_OPERATOR_KEY/)
      assert.deepStrictEqual(refused.body["details"] as unknown, { needed: "operator" })
    }
    assertError(await call(as(`${OPERATOR_KEY}.`), "/matches/redact", request), 401, "unauthenticated")
    assert.isNotEmpty((await matchesOf(ann(), rule_id))[0]?.payload)
    assert.strictEqual((await call(operator(), "/matches/redact")).status, 405)
    assertError(await call(operator(), "/matches", {}), 401, "unauthenticated")
  })

  it("refuses a wrong request by field", async () => {
    const wrong: ReadonlyArray<readonly [request: unknown, says: RegExp]> = [
      [{ platform: "x" }, /platform_post_ids/],
      [{ platform: "x", platform_post_ids: [] }, /platform_post_ids: Is empty: name at least one post/],
      [{ platform: "x", platform_post_ids: Array.from({ length: 1_001 }, String) }, /at most 1000 are allowed/],
      [{ platform: "y", platform_post_ids: ["1"] }, /platform: /],
      [{ platform: "x", platform_post_ids: ["1"], reason: "spam" }, /reason: /],
      [{ platform: "x", platform_post_ids: ["1"], rule_id: "r" }, /"rule_id": Is not a known field/]
    ]
    for (const [request, says] of wrong) {
      const { status, body } = await call(operator(), "/matches/redact", request)
      assert.strictEqual(status, 400)
      const issues = [...(body["details"]?.["issues"] ?? [])].map((issue) => `${issue["path"]}: ${issue["message"]}`)
      assert.match([String(body["message"]), ...issues].join("\n"), says)
    }
  })
})

// ---- helpers ----

/** Skips comments and heartbeats. */
const nextEvent = async (stream: { readonly next: () => Promise<Block | undefined> }): Promise<Block | undefined> => {
  for (;;) {
    const block = await stream.next()
    if (block === undefined || block.event !== undefined) return block
  }
}
