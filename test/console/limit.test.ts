import { assert, describe, it } from "@effect/vitest"
import { describeLimit } from "../../console/keys/limit.ts"

describe("describeLimit", () => {
  it("has bytes in the unit that fits", () => {
    const bytes = { name: "bytes", limit: 10 * 1_024 ** 3, used: 3.5 * 1_024 ** 2 } as const
    assert.strictEqual(describeLimit(bytes), "3.5 MiB of 10 GiB")
    assert.strictEqual(describeLimit({ ...bytes, limit: null }), "3.5 MiB, no limit")
  })

  it("gives no time to the second, which would be out of date at once", () => {
    const requests = { name: "requests", limit: 600, used: 12, resets_in_seconds: 41 } as const
    assert.strictEqual(describeLimit(requests), "12 of 600; resets within a minute")
    assert.strictEqual(describeLimit({ ...requests, used: 0 }), "0 of 600")
  })
})
