import { assert, describe, it } from "@effect/vitest"
import { cursorAt } from "../../console/matches/cursorAt.ts"
import { firstMatchIdAt } from "../../core/model/Ids.ts"

describe("cursorAt", () => {
  it("is the first match id of the time", () => {
    for (const time of [0, 1, 1_794_920_833_408.7, 2 ** 48 - 1]) {
      assert.strictEqual(cursorAt(time), firstMatchIdAt(time))
    }
  })
})
