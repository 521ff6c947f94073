/** Many large matches: a page ends early, so that reading them takes little memory and blocks nobody. */
import { assert, describe, it } from "@effect/vitest"
import { call, draft, firehoseUpdate, type Json } from "../gateway/client.ts"
import { attackedProgram } from "./program.ts"

const MATCHES = 31
const MIB = 1_048_576

describe("large pages", () => {
  const attacked = attackedProgram()

  const publish = async (word: string) => {
    await call(attacked().target, "/api.CreateRule", draft(word))
    for (let i = 0; i < MATCHES; i++) {
      const event = { ...firehoseUpdate(`http://${word}/${i}`, word), padding: "x".repeat(MIB - 1_000) }
      assert.strictEqual((await call(attacked().target, "/local/events", event)).status, 200)
    }
  }

  const list = async (body: object) => {
    const { status, headers, body: answer } = await call(attacked().target, "/matches", { limit: 500, ...body })
    assert.strictEqual(status, 200)
    return { bytes: Number(headers.get("content-length")), matches: [...(answer["matches"] ?? [])], answer }
  }

  it("of 31 matches of 1 MB each end early, and lead through all of them", async () => {
    await publish("large")
    const seen: Array<Json | undefined> = []
    for (let cursor: Json | undefined; ; ) {
      const page = await list(cursor === undefined ? {} : { cursor })
      assert.isBelow(page.bytes, 2.5 * MIB)
      assert.isNotEmpty(page.matches)
      seen.push(...page.matches.map((match) => match["id"]))
      cursor = page.answer["next_cursor"]
      if (cursor === undefined) break
    }
    assert.lengthOf(new Set(seen.map(String)), MATCHES)
    assert.lengthOf(seen, MATCHES)

    const oldest = seen.at(-1)
    const waited = await call(attacked().target, "/matches/wait", { cursor: oldest, limit: 100 })
    assert.isBelow(Number(waited.headers.get("content-length")), 2.5 * MIB)
    assert.strictEqual(String(waited.body["cursor"]), String(seen.at(-1 - [...(waited.body["matches"] ?? [])].length)))
  })

  it("ten at once take little memory, and readiness is reported meanwhile", async () => {
    const before = await attacked().memory()
    const idle = await slowestReady(Promise.resolve())
    const pages = Promise.all(Array.from({ length: 10 }, () => list({})))
    const busy = await slowestReady(pages)
    await pages
    assert.isBelow((await attacked().memory()) - before, 300 * MIB)
    assert.isBelow(busy, idle + 5_000, "milliseconds")
  })

  /** In milliseconds, until `work` is done. */
  const slowestReady = async (work: Promise<unknown>): Promise<number> => {
    let isDone = false
    void work.finally(() => {
      isDone = true
    })
    let slowest = 0
    do {
      const start = performance.now()
      await call(attacked().target, "/health/ready")
      slowest = Math.max(slowest, performance.now() - start)
    } while (!isDone)
    return slowest
  }
})
