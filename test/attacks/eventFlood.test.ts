/** Many events in one request: they are stored in small turns, and another account is answered in between. */
import { assert, describe, it } from "@effect/vitest"
import { call, draft, type Target, xPost } from "../gateway/client.ts"
import { attackedProgram } from "./program.ts"

const EVENTS = 4_000

/** Another account gets an answer at least after each so many events of the flood. */
const EVENTS_PER_ANSWER = 100

describe("a flood of events in one request", () => {
  const attacked = attackedProgram()

  it("lets other requests be answered in between", { timeout: 180_000 }, async () => {
    const { target } = attacked()
    await call(target, "/api.CreateRule", { ...draft(), platforms: ["x"], overrides: { x: "quake" } })
    await call(target, "/local/events", xPost("first", "quake"))
    const events = Array.from({ length: EVENTS }, (_, n) => xPost(`q${n}`, "quake"))
    let isDone = false
    const flood = call(target, "/local/events", events).finally(() => {
      isDone = true
    })
    // Four at a time, because each waits for its turn in the store.
    const answers = await Promise.all(Array.from({ length: 4 }, () => answersUntil(target, () => isDone)))
    assert.strictEqual((await flood).status, 200)
    assert.isAbove(
      answers.reduce((sum, count) => sum + count, 0),
      EVENTS / EVENTS_PER_ANSWER
    )
  })
})

// ---- helpers ----

const answersUntil = async (target: Target, isDone: () => boolean): Promise<number> => {
  let count = 0
  while (!isDone()) {
    assert.strictEqual((await call(target, "/matches", { limit: 1 })).status, 200)
    count++
  }
  return count
}
