/** The filters of a rule, one line for each platform. */
import { assert, describe, it } from "@effect/vitest"
import { platformRows } from "../../cli/ruleOptions.ts"

describe("platformRows", () => {
  it("aligns the texts, also beside a long name", () => {
    const [x, firehose, wikimedia] = [["x", "a"] as const, ["firehose", "b"] as const, ["wikimedia", "c"] as const]
    assert.deepStrictEqual(platformRows([x, firehose]), ["  x         a", "  firehose  b"])
    assert.deepStrictEqual(platformRows([x, wikimedia]), ["  x          a", "  wikimedia  c"])
  })
})
