import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { isTooDeep, MAX_DEPTH } from "../../../core/text/json.ts"

describe("isTooDeep", () => {
  it("counts the levels of objects and lists alike", () => {
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
    const lists = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`
    for (const nested of [objects, lists]) {
      assert.isFalse(isTooDeep(JSON.parse(nested(MAX_DEPTH - 1))))
      assert.isTrue(isTooDeep(JSON.parse(nested(MAX_DEPTH))))
      assert.isTrue(isTooDeep(JSON.parse(nested(100_000))))
    }
  })

  it("finds one deep value among shallow ones, also under the key __proto__", () => {
    const deep = JSON.parse(`${"[".repeat(MAX_DEPTH)}1${"]".repeat(MAX_DEPTH)}`)
    assert.isTrue(isTooDeep([1, "a", null, {}, { a: [], b: { c: deep } }]))
    assert.isTrue(isTooDeep(JSON.parse(`{"__proto__":${JSON.stringify(deep)}}`)))
  })

  it.prop("an empty list or object ends a level", [FastCheck.integer({ min: 90, max: 110 })], ([levels]) => {
    let value: unknown = []
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value }
    assert.strictEqual(isTooDeep(value), levels >= MAX_DEPTH)
  })
})
