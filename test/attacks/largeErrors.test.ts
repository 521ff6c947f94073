/** Requests with very many or very long mistakes: the error stays small, and finding it costs little. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpuMillisOfAsync } from "../cpuMillis.ts"
import { assertError, call, type Target } from "../gateway/client.ts"
import { serve, service } from "../gateway/inProcess.ts"

const MANY = 100_000
const MAX_ERROR_BYTES = 20_000
const names = Array.from({ length: MANY }, (_, i) => `r${i.toString(36)}`)
const manyFields = Object.fromEntries(names.map((name) => [name, 1]))
const long = "x".repeat(300_000)

const bodies: Readonly<Record<string, readonly [path: string, body: unknown]>> = {
  "100,000 unknown fields": ["/matches", manyFields],
  "999 unknown fields": ["/matches", Object.fromEntries(names.slice(0, 999).map((name) => [name, 1]))],
  "100,000 unknown platforms": ["/rules/check", { overrides: manyFields }],
  "100,000 wrong elements": ["/platforms/syntax", { platforms: names }],
  "900 wrong elements": ["/platforms/syntax", { platforms: names.slice(0, 900) }],
  "100,000 rule ids": ["/webhooks/create", { url: "https://a.example", rule_ids: names }],
  "a very long field name": ["/matches", { [long]: 1 }],
  "a very long value": ["/matches", { cursor: long, platform: long, limit: long }],
  "a very long URL": ["/webhooks/create", { url: `http://${long}` }],
  "a very long filter": ["/api.CreateRule", { name: long, intent: long, platforms: ["x"], overrides: { x: "" } }],
  "an array instead of an object": ["/matches", names]
}

describe("large errors", () => {
  for (const [name, [path, body]] of Object.entries(bodies)) {
    it.scopedLive(name, () =>
      withTarget(async (target) => {
        const text = JSON.stringify(body)
        const parsing = await cpuMillisOfAsync(async () => void JSON.parse(text))
        const cpu = await cpuMillisOfAsync(async () => assertSmall(await call(target, path, body)))
        assert.isBelow(cpu, 20 * parsing + 500, "of the client too")
      })
    )
  }

  it.scopedLive("ids of any length are repeated in part", () =>
    withTarget(async (target) => {
      for (const [path, field] of [
        ["/api.DeleteRule", "rule_id"],
        ["/webhooks/delete", "webhook_id"]
      ] as const) {
        const answer = await call(target, path, { [field]: long })
        assertError(answer, 404, "not_found")
        assert.isBelow(JSON.stringify(answer.body).length, MAX_ERROR_BYTES)
      }
    })
  )

  it.scopedLive("many query parameters", () =>
    withTarget(async (target) => {
      const query = names.slice(0, 1_200).join("=&")
      assertSmall(await call(target, `/api.ListRules?${query}`))
      assertSmall(await call(target, `/matches/stream?${query}`))
    })
  )

  it.scopedLive("JSON nested 100,000 levels deep", () =>
    withTarget(async (target) => {
      const body = `{"limit":${"[".repeat(MANY)}${"]".repeat(MANY)}}`
      const init = { method: "POST", headers: { "content-type": "application/json" }, body }
      assertSmall(await call(target, "/matches", undefined, init))
    })
  )

  it.scopedLive("over tRPC and for tools", () =>
    withTarget(async (target) => {
      const overTrpc = await call(target, "/trpc/rules.delete", manyFields)
      const issues = [...(overTrpc.body["error"]?.["data"]?.["details"]?.["issues"] ?? [])]
      assert.lengthOf(issues, 1)
      assert.isBelow(JSON.stringify(overTrpc.body).length, MAX_ERROR_BYTES)
      const text = await callTool(target, "list_matches", manyFields)
      assert.include(text, "entries: at most")
      assert.isBelow(text.length, MAX_ERROR_BYTES)
    })
  )

  it.scopedLive("say how many more issues there are", () =>
    withTarget(async (target) => {
      const answer = await call(target, "/matches", Object.fromEntries(names.slice(0, 500).map((name) => [name, 1])))
      const issues = [...(answer.body["details"]?.["issues"] ?? [])]
      assert.lengthOf(issues, 21)
      assert.deepStrictEqual(issues[20] as unknown, { path: "", message: "480 more issues are not shown" })
      assert.match(String(answer.body["message"]), /\(and 499 more, see details\)$/)
    })
  )

  it.scopedLive("say how many more issues the filters have, in every interface", () =>
    withTarget(async (target) => {
      const overrides = { x: ")".repeat(100), firehose: "dr:150 ".repeat(30) }
      const draft = { name: "a", intent: "a", platforms: ["x", "firehose"], overrides }
      const last = { path: "", message: "110 more issues are not shown" }

      const { body } = await call(target, "/api.CreateRule", draft)
      assert.match(String(body["message"]), /\(and 129 more, see details\)$/)
      const overTrpc = await call(target, "/trpc/rules.create", draft)
      for (const details of [body["details"], overTrpc.body["error"]?.["data"]?.["details"]]) {
        const issues = [...(details?.["issues"] ?? [])]
        assert.lengthOf(issues, 21)
        assert.deepStrictEqual<unknown>(issues[20], last)
      }
      assert.include(await callTool(target, "create_rule", draft), last.message)

      const checked = await call(target, "/rules/check", { overrides })
      const [x, firehose] = ["x", "firehose"].map((id) => [...(checked.body["platforms"]?.[id]?.["issues"] ?? [])])
      assert.lengthOf(x ?? [], 21)
      assert.deepStrictEqual<unknown>(x?.[20], {
        severity: "error",
        code: "more-issues",
        span: { start: 100, end: 100 },
        message: "80 more issues are not shown"
      })
      assert.include(JSON.stringify(firehose?.[20]), "10 more issues are not shown")
      assert.include(await callTool(target, "check_rule", { overrides }), "80 more issues are not shown")

      const warned = await call(target, "/api.CreateRule", {
        ...draft,
        platforms: ["x"],
        overrides: { x: `${"a-b ".repeat(40)}cat` }
      })
      const warnings = [...(warned.body["platforms"]?.["x"]?.["warnings"] ?? [])]
      assert.lengthOf(warnings, 21)
      assert.include(JSON.stringify(warnings[20]), '"severity":"warning","code":"more-issues"')
    })
  )
})

// ---- helpers ----

const withTarget = (use: (target: Target) => Promise<void>) =>
  Effect.gen(function* () {
    const target = yield* (yield* serve)("ann")
    yield* Effect.promise(() => use(target))
  }).pipe(Effect.provide(service))

/** The text of the response. */
const callTool = async ({ url, key }: Target, name: string, args: object): Promise<string> => {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream"
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } })
  })
  return response.text()
}

const assertSmall = (answer: Awaited<ReturnType<typeof call>>): void => {
  assertError(answer, 400, "invalid_argument")
  const issues = [...(answer.body["details"]?.["issues"] ?? [])]
  assert.isNotEmpty(issues)
  assert.isAtMost(issues.length, 21)
  for (const { path, message } of issues) {
    assert.isAtMost(String(path).length, 201)
    assert.isAtMost(String(message).length, 501)
  }
  assert.isBelow(JSON.stringify(answer.body).length, MAX_ERROR_BYTES)
}
