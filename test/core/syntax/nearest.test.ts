/** What a mistyped word was meant to be, and when it was meant to be nothing known. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { nearest } from "../../../core/syntax/nearest.ts"

const fields = ["name", "intent", "platforms", "overrides", "limit", "rule_id"]

describe("nearest", () => {
  it("finds the word behind a slip of the fingers", () => {
    for (const [typed, meant] of [
      ["nam", "name"],
      ["names", "name"],
      ["platfroms", "platforms"],
      ["platform", "platforms"],
      ["limits", "limit"],
      ["LIMIT", "limit"],
      ["ruleId", "rule_id"],
      ["override", "overrides"]
    ] as const) {
      assert.strictEqual(nearest(typed, fields), meant, typed)
    }
  })

  it("finds nothing for a word that is like none", () => {
    for (const typed of ["", "x", "zzzzzz", "query", "💥"]) assert.isUndefined(nearest(typed, fields), typed)
    assert.isUndefined(nearest("name", []))
  })

  it("finds a word in itself, and after any one change of one of its characters", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fields),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        (word, place, put) => {
          const at = place % word.length
          assert.strictEqual(nearest(word, fields), word)
          assert.strictEqual(nearest(word.slice(0, at) + put + word.slice(at + 1), fields), word)
        }
      )
    )
  })

  it("answers one of the candidates or nothing, quickly, for any text", () => {
    fc.assert(
      fc.property(fc.fullUnicodeString({ maxLength: 5_000 }), (word) => {
        const found = nearest(word, fields)
        assert.isTrue(found === undefined || fields.includes(found))
      })
    )
  })
})
