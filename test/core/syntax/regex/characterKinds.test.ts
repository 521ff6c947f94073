import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { CharacterKinds, MAX_CODE_POINT } from "../../../../core/syntax/regex/characterKinds.ts"
import { sized } from "../../../long.ts"

const character = fc.oneof(fc.nat(12), fc.constantFrom(0, 127, 128, 0xffff, 0x10000, MAX_CODE_POINT))
const range = fc.tuple(character, character).map(([one, other]) => ({
  from: Math.min(one, other),
  to: Math.max(one, other)
}))

describe("CharacterKinds", () => {
  it("gives two characters the same kind exactly if they are in the same ranges", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), character, character, (ranges, one, other) => {
        const kinds = new CharacterKinds(ranges)
        const inside = (code: number) => ranges.map(({ from, to }) => from <= code && code <= to).join()
        assert.strictEqual(kinds.of(one) === kinds.of(other), inside(one) === inside(other))
        assert.strictEqual(inside(kinds.example(kinds.of(one))), inside(one))
        assert.isBelow(kinds.of(one), kinds.count)
        if (one < 128) assert.strictEqual(kinds.ascii[one], kinds.of(one))
      }),
      { numRuns: sized(500, 2_000) }
    )
  })
})
