/** Filters with very many clauses in little text: analysing them takes bounded work, which the account is charged for. */
import { assert, describe, it } from "@effect/vitest"
import { call, type Json, type Target } from "../gateway/client.ts"
import { attackedProgram } from "./program.ts"

const filters = {
  "a repeated Chinese character": "中".repeat(2_500),
  "the longest Chinese text": Array.from({ length: 8_192 }, (_, n) => String.fromCharCode(0x4e00 + n)).join(""),
  "repeated emoji": "🍕".repeat(2_000),
  "the longest Thai text": "กิ่".repeat(2_730)
}

/** Of the program, for all filters. Half a minute for one of them, before the work was bounded. */
const MAX_CPU_SECONDS = 10

describe("analyses of filters with thousands of words", () => {
  const program = attackedProgram()

  it("check them with a read key, and charge the account", async () => {
    const { target, cpuOf } = program()
    const reader = { ...target, key: await readKey(target) }
    const before = await secondsUsed(target)
    const cpu = await cpuOf(async () => {
      for (const [name, text] of Object.entries(filters)) {
        const { status, body } = await call(reader, "/rules/check", { overrides: { firehose: text } })
        assert.deepStrictEqual([status, body["platforms"]?.["firehose"]?.["valid"]], [200, true], name)
      }
    })
    assert.isBelow(cpu, MAX_CPU_SECONDS)
    const used = (await secondsUsed(target)) - before
    assert.isAbove(used, 0)
    assert.isBelow(used, MAX_CPU_SECONDS)
  })

  it("suggest a missing filter, and charge the account", async () => {
    const { target, cpuOf } = program()
    const before = await secondsUsed(target)
    const cpu = await cpuOf(async () => {
      for (const [name, text] of Object.entries(filters)) {
        const rule = { name, intent: name, platforms: ["firehose", "x"], overrides: { firehose: text } }
        const { status, body } = await call(target, "/api.CreateRule", rule)
        assert.deepStrictEqual([status, String(body["code"])], [400, "invalid_argument"], name)
      }
    })
    assert.isBelow(cpu, MAX_CPU_SECONDS)
    assert.isAbove((await secondsUsed(target)) - before, 0)
  })

  it("check them with the tool check_rule", async () => {
    const { target, cpuOf } = program()
    const cpu = await cpuOf(async () => {
      for (const text of Object.values(filters)) {
        const called = { name: "check_rule", arguments: { overrides: { firehose: text } } }
        const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: called }
        const response = await fetch(`${target.url}/mcp`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${target.key}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream"
          },
          body: JSON.stringify(body)
        })
        assert.strictEqual(response.status, 200)
        assert.include(await response.text(), "valid")
      }
    })
    assert.isBelow(cpu, MAX_CPU_SECONDS)
  })

  it("explain a miss", async () => {
    const { target, cpuOf } = program()
    const page = {
      document: { url: "https://example.org/", title: "news", diff: { chunks: [{ typ: "ins", text: "news" }] } }
    }
    const cpu = await cpuOf(async () => {
      for (const text of Object.values(filters)) {
        const { body } = await call(target, "/rules/check", {
          overrides: { firehose: text },
          events: { firehose: page }
        })
        assert.isFalse(Boolean(body["platforms"]?.["firehose"]?.["explanation"]?.["matched"] ?? true))
      }
    })
    assert.isBelow(cpu, MAX_CPU_SECONDS)
  })
})

// ---- helpers ----

const readKey = async (target: Target): Promise<string> =>
  String((await call(target, "/keys/create", { name: "reader", scope: "read" })).body["secret"])

const secondsUsed = async (target: Target): Promise<number> => {
  const { body } = await call(target, "/account")
  const limits: ReadonlyArray<Json> = [...(body["limits"] ?? [])]
  return Number(limits.find((limit) => String(limit["name"]) === "checks")?.["used"])
}
