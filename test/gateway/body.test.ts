/** Reading of request bodies. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { nextTurn } from "../../core/work/turns.ts"
import { readText } from "../../gateway/http/body.ts"

describe("readText", () => {
  it("decodes a large body in a later turn, because many can be complete at once", async () => {
    assert.deepStrictEqual(await readIn("a".repeat(1_000)), { length: 1_000, isInThisTurn: true })
    assert.deepStrictEqual(await readIn("a".repeat(1_000_000)), { length: 1_000_000, isInThisTurn: false })
  })
})

// ---- helpers ----

async function readIn(body: string) {
  let isInThisTurn = true
  const request = new Request("http://localhost", {
    method: "POST",
    body,
    headers: { "content-length": `${body.length}` }
  })
  void nextTurn().then(() => {
    isInThisTurn = false
  })
  const text = Either.getOrThrow(await readText(request))
  return { length: text.length, isInThisTurn }
}
