import { assert, describe, it } from "@effect/vitest"
import { addressOf, filterOf, instantOf, localTimeOf, queryOf } from "../../../console/matches/filter.ts"

describe("filter", () => {
  it("is the same after a way through the address", () => {
    const filter = {
      rule: "rule_1",
      platform: "x",
      from: "2026-11-17T10:00:00.000Z",
      to: "2026-11-17T12:00:00.000Z"
    }
    assert.deepStrictEqual(filterOf(new URL(addressOf(filter), "http://localhost").searchParams), filter)
    assert.strictEqual(addressOf({}), "/matches")
    assert.deepStrictEqual(queryOf(filter), { rule_id: "rule_1", platform: "x" })
  })

  it("leaves out what is empty or not a time", () => {
    assert.deepStrictEqual(filterOf(new URLSearchParams("rule=&platform=&from=soon&to=")), {})
  })

  it("is the same time in a field and in the address", () => {
    const instant = "2026-07-01T10:30:00.000Z"
    assert.strictEqual(instantOf(localTimeOf(instant)), instant)
    assert.isUndefined(instantOf(""))
  })
})
