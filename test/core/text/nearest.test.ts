import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { nearest } from "../../../core/text/nearest.ts"

const fields = ["name", "intent", "platforms", "overrides", "limit", "rule_id"]

describe("nearest", () => {
  it("finds the word for a typo", () => {
    for (const [typed, expected] of [
      ["nam", "name"],
      ["names", "name"],
      ["platfroms", "platforms"],
      ["platform", "platforms"],
      ["limits", "limit"],
      ["LIMIT", "limit"],
      ["ruleId", "rule_id"],
      ["override", "overrides"]
    ] as const) {
      assert.strictEqual(nearest(typed, fields), expected, typed)
    }
  })

  it("returns undefined for a word that is not similar to a candidate", () => {
    for (const typed of ["", "x", "zzzzzz", "query", "💥"]) assert.isUndefined(nearest(typed, fields), typed)
    assert.isUndefined(nearest("name", []))
  })

  it("finds a word of one or two letters only in another case", () => {
    for (const [typed, expected] of [
      ["X", "x"],
      ["Is", "is"],
      ["z", undefined],
      ["si", undefined],
      ["ha", undefined]
    ] as const) {
      assert.strictEqual(nearest(typed, ["x", "is", "has"]), expected, typed)
    }
  })

  it("finds a word after any change of one character", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fields),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        (word, index, inserted) => {
          const at = index % word.length
          assert.strictEqual(nearest(word, fields), word)
          assert.strictEqual(nearest(word.slice(0, at) + inserted + word.slice(at + 1), fields), word)
        }
      )
    )
  })

  it("returns a candidate or undefined for any text", () => {
    fc.assert(
      fc.property(fc.fullUnicodeString({ maxLength: 5_000 }), (word) => {
        const found = nearest(word, fields)
        assert.isTrue(found === undefined || fields.includes(found))
      })
    )
  })
})
