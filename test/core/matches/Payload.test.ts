/** Payloads are written as the text that is stored, whatever they and the values around them say. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import fc from "fast-check"
import { Payload, PayloadFromObject, toJson } from "../../../core/matches/Payload.ts"

describe("toJson", () => {
  it("writes the text of each payload in its place, without parsing it", () => {
    const texts = ['{"a":  1, "n": 12345678901234567890}', "{}", '{"</script>": "\\u2028"}']
    const json = toJson({ list: texts.map((text, id) => ({ id, payload: new Payload(text) })), end: "x" })
    assert.strictEqual(json, `{"list":[${texts.map((text, id) => `{"id":${id},"payload":${text}}`).join()}],"end":"x"}`)
  })

  it("writes what JSON.stringify means, whatever the values say", () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue())
    const texts = fc.oneof(fc.string(), fc.constantFrom("\u0000payload", '"\u0000payload"', "\\u0000payload"))
    fc.assert(
      fc.property(fc.array(fc.tuple(texts, objects)), (items) => {
        const values = items.map(([text, object]) => ({ text, payload: Payload.of(object), [text]: 1 }))
        assert.deepStrictEqual(JSON.parse(toJson(values)), JSON.parse(JSON.stringify(values)))
      })
    )
  })

  it("leaves other encoders alone, also after a failure", () => {
    const payload = new Payload('{"a":1}')
    const failing = { toJSON: () => assert.fail("no JSON") }
    assert.throws(() => toJson([payload, failing]), "no JSON")
    assert.strictEqual(JSON.stringify(payload), '{"a":1}')
  })
})

describe("PayloadFromObject", () => {
  it("is an object on the wire", () => {
    const payload = Schema.decodeSync(PayloadFromObject)({ a: { b: [1] } })
    assert.deepStrictEqual([payload.text, payload.value], ['{"a":{"b":[1]}}', { a: { b: [1] } }])
    assert.deepStrictEqual(Schema.encodeSync(PayloadFromObject)(payload), { a: { b: [1] } })
  })
})
