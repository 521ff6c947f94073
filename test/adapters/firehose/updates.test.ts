import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { deliveryOf } from "../../../adapters/firehose/updates.ts"

describe("deliveryOf", () => {
  it("marks an update as damaged, with its text, if a double cannot hold one of its numbers", () => {
    const update = (number: string) => `{"query_ids":["1"],"document":{"url":"http://a","n":[0,${number}]}}`
    const damagedOf = (data: string) => {
      const read = deliveryOf({ id: "7", name: "update", data }, { digest: (text) => text, receivedAt: 0 })
      return Either.getOrThrow(read).damaged
    }
    assert.isUndefined(damagedOf(update("0.12345678901234567890")))
    const damaged = damagedOf(update("1e400"))
    assert.strictEqual(damaged?.text, update("1e400"))
    assert.match(damaged?.reason ?? "", /^The number 1e400 at "document\.n\.1" is too large/)
  })
})
