/** Ids: text and UUID convert both ways and sort alike. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import * as fc from "fast-check"
import { v7 } from "uuid"
import * as RuntimeEntropy from "../../../adapters/runtimes/entropy.ts"
import {
  AccountId,
  firstMatchIdAt,
  fromUuid,
  Ids,
  KeyId,
  MatchId,
  RuleId,
  timeOf,
  toUuid
} from "../../../core/model/Ids.ts"

const prefixes = fc.constantFrom("acct" as const, "key" as const, "rule" as const, "match" as const)
const accepts = {
  acct: Schema.is(AccountId),
  key: Schema.is(KeyId),
  rule: Schema.is(RuleId),
  match: Schema.is(MatchId)
}

describe("fromUuid", () => {
  it("returns an id that its schema accepts and toUuid reverses", () => {
    fc.assert(
      fc.property(prefixes, fc.uuid(), (prefix, uuid) => {
        const id = fromUuid(prefix, uuid)
        assert.strictEqual(toUuid(id), uuid)
        assert.isTrue(accepts[prefix](id), id)
      })
    )
  })

  it("preserves the order of UUIDs", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (a, b) => {
        assert.strictEqual(fromUuid("rule", a) < fromUuid("rule", b), a < b)
      })
    )
  })

  it("covers the whole range", () => {
    assert.strictEqual(fromUuid("rule", "00000000-0000-0000-0000-000000000000"), `rule_${"0".repeat(26)}`)
    assert.strictEqual(fromUuid("rule", "ffffffff-ffff-ffff-ffff-ffffffffffff"), `rule_7${"z".repeat(25)}`)
  })
})

describe("firstMatchIdAt", () => {
  it("sorts before every id of that time or later, and after every earlier id", () => {
    const times = fc.integer({ min: 0, max: 2 ** 48 - 1 })
    fc.assert(
      fc.property(times, times, (time, msecs) => {
        const minted = fromUuid("match", v7({ msecs }))
        assert.strictEqual(minted >= firstMatchIdAt(time), msecs >= time)
        assert.strictEqual(timeOf(minted), msecs)
        assert.strictEqual(timeOf(firstMatchIdAt(time)), time)
      })
    )
  })

  it("sorts before every id for a time before 1970", () => {
    assert.strictEqual(firstMatchIdAt(-1), firstMatchIdAt(0))
  })
})

describe("the schemas", () => {
  it("reject every text that is not an id", () => {
    const id = fromUuid("rule", "01890000-0000-7000-8000-000000000000")
    const body = id.slice(5)
    const wrong = [body, `match_${body}`, id.toUpperCase(), `${id}0`, id.slice(0, -1), `${id}\n`, ` ${id}`]
    for (const text of [...wrong, `rule_8${body.slice(1)}`, `rule_${body.slice(0, -1)}u`]) {
      assert.isFalse(Schema.is(RuleId)(text), JSON.stringify(text))
    }
  })
})

describe("Ids", () => {
  it.effect("creates ids that sort in the order of creation", () =>
    Effect.gen(function* () {
      const ids = yield* Ids
      const minted = (yield* Effect.replicateEffect(ids.matches(3), 2_000)).flat()
      assert.deepStrictEqual(minted.toSorted(), minted)
      assert.strictEqual(new Set(minted).size, minted.length)
    }).pipe(Effect.provide(Layer.provide(Ids.layer, RuntimeEntropy.layer)))
  )
})
