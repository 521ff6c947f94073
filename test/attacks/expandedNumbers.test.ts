/** Numbers that the store would expand, or that a double cannot hold: refused, never changed. */
import { assert, describe, it } from "@effect/vitest"
import { assertError, call, draft, firehoseUpdate } from "../gateway/client.ts"
import { attackedProgram } from "./program.ts"

describe("expanded numbers", () => {
  const attacked = attackedProgram()

  const send = (lines: ReadonlyArray<string>) =>
    call(attacked().target, "/local/events", undefined, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: lines.join("\n")
    })

  /** An event with a value as written. */
  const eventWith = (url: string, value: string, word = "numbers") =>
    `${JSON.stringify(firehoseUpdate(url, word)).slice(0, -1)},"n":${value}}`

  const payloads = async () =>
    [...((await call(attacked().target, "/matches", { limit: 50 })).body["matches"] ?? [])].map(
      (match) => match["payload"]?.["n"] as unknown
    )

  it("ten events with 149,000 times 1e300 cost no more than ten ordinary ones of that size", async () => {
    await call(attacked().target, "/api.CreateRule", draft("numbers"))
    await call(attacked().target, "/api.CreateRule", draft("ordinary"))
    const many = (item: string) => `[${Array.from({ length: 149_000 }, () => item).join()}]`
    const events = (value: string, word: string) =>
      Array.from({ length: 10 }, (_, i) => eventWith(`http://${word}/${i}`, value, word))
    const publishAndList = async (lines: ReadonlyArray<string>, status: number) => {
      assert.strictEqual((await send(lines)).status, status)
      await payloads()
    }
    const ordinary = await attacked().cpuOf(() => publishAndList(events(many('"abc"'), "ordinary"), 200))
    const attack = await attacked().cpuOf(() => publishAndList(events(many("1e300"), "numbers"), 400))
    assert.isBelow(attack, ordinary * 1.5 + 0.2)
  })

  it("names the line, the place and the number", async () => {
    const answer = await send([eventWith("http://a", "1"), eventWith("http://b", '{"list":[0,12345678901234567890]}')])
    assertError(answer, 400, "invalid_argument")
    assert.deepStrictEqual(answer.body["details"]?.["issues"] as unknown, [
      {
        path: "line 2",
        message:
          'The number 12345678901234567890 at "n.list.1" has more digits than 64-bit floating point holds: send it as a string'
      }
    ])
    const asJson = await call(attacked().target, "/local/events", undefined, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `[${eventWith("http://c", "1")},${eventWith("http://d", "1e400")}]`
    })
    assertError(asJson, 400, "invalid_argument", /"event 2": The number 1e400 at "n" is too large for 64-bit fl/)
  })

  it("every number that is accepted comes out as it went in", async () => {
    const numbers = ["0.1234567890123456789", "9007199254740992", "1e300", "-5e-324", "1e23", "0.000001", "1e-7"]
    const lines = numbers.map((number, i) => eventWith(`http://kept/${i}`, number))
    assert.strictEqual((await send(lines)).status, 200)
    assert.deepStrictEqual((await payloads()).slice(0, numbers.length), numbers.map(Number).reverse())
  })
})
