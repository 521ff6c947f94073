/** Many events in one request: they are stored in small turns, and another account is answered in between. */
import { assert, describe, it } from "@effect/vitest"
import { call, draft, type Target, xPost } from "../gateway/client.ts"
import { sized } from "../long.ts"
import { parseMetrics, valueIn } from "../prometheus.ts"
import { attackedProgram } from "./program.ts"

const EVENTS = sized(2_000, 4_000)

/** Of fixed batches of 200 there would be two thirds of it. */
const MIN_TURNS = EVENTS / 133

describe("a flood of events in one request", () => {
  const attacked = attackedProgram()

  it("is stored in many small turns while others use the store", async () => {
    const { target } = attacked()
    await call(target, "/api.CreateRule", { ...draft(), platforms: ["x"], overrides: { x: "quake" } })
    await call(target, "/local/events", xPost("first", "quake"))
    const before = await turns(target)
    const events = Array.from({ length: EVENTS }, (_, n) => xPost(`q${n}`, "quake"))
    let isDone = false
    const flood = call(target, "/local/events", events).finally(() => {
      isDone = true
    })
    let answers = 0
    while (!isDone) {
      assert.strictEqual((await call(target, "/matches", { limit: 1 })).status, 200)
      answers++
    }
    assert.strictEqual((await flood).status, 200)
    assert.isAbove(answers, 1)
    assert.isAbove((await turns(target)) - before, MIN_TURNS)
  })
})

// ---- helpers ----

/** How many batches the ingest of "x" has stored. */
const turns = async ({ url }: Target): Promise<number> =>
  valueIn(parseMetrics(await (await fetch(`${url}/metrics`)).text()), "earshot_batch_write_seconds_count", {
    platform: "x"
  })
