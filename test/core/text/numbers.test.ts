import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { numberProblem } from "../../../core/text/numbers.ts"

describe("numberProblem", () => {
  it("accepts numbers that a double holds as written, and rounded fractions", () => {
    const numbers = [
      ...["0", "-0", "1", "-1.5", "9007199254740991", "9007199254740992", "10000000000000000000000", "1e23", "-1E+22"],
      ...["0.1234567890123456789", "3.14159265358979323846", "1e-7", "1.5e300", "5e-324", "1e0", "0e999", "100.000e2"],
      ...[`0.${"0".repeat(320)}1`, `${"1".padEnd(300, "0")}.0`, "1.7976931348623157e308"]
    ]
    for (const number of numbers) {
      for (const json of [`{"n":${number}}`, `{ "n" : [ 1, ${number} ] }`, `{"a":"\\\\","n":\n${number}\n}`]) {
        assert.isUndefined(numberProblem(json), json.slice(0, 100))
      }
    }
  })

  it("names a number that would change, and its place", () => {
    const cases = [
      ['{"data":{"n":[1,{"id":12345678901234567890}]}}', "12345678901234567890", "data.n.1.id", "more digits"],
      ['{"n":9007199254740993}', "9007199254740993", "n", "more digits"],
      ['{"n":-12345678901234567.5}', "-12345678901234567.5", "n", "more digits"],
      ['{"n":1.23456789012345678e30}', "1.23456789012345678e30", "n", "more digits"],
      ['{"n":1e400}', "1e400", "n", "too large"],
      ['{"n":-1e309}', "-1e309", "n", "too large"],
      ['{"n":1e-400}', "1e-400", "n", "too small"],
      ['{"a,\\"b":"\\"[{:","list":[[],{},0.5, 1e400]}', "1e400", "list.3", "too large"],
      [`{"n":0.${"0".repeat(400)}1}`, `0.${"0".repeat(98)}…`, "n", "too small"],
      [`{"n":${"9".repeat(5_000)}}`, `${"9".repeat(100)}…`, "n", "too large"]
    ] as const
    for (const [json, number, path, reason] of cases) {
      const problem = numberProblem(json) ?? ""
      assert.isTrue(problem.startsWith(`The number ${number} at "${path}" `), problem)
      assert.include(problem, reason)
    }
  })

  it("limits how much longer numbers become without their exponents", () => {
    const list = (number: string, count: number) => `{"n":[${Array.from({ length: count }, () => number).join()}]}`
    assert.isUndefined(numberProblem(list("1e300", 200)))
    assert.match(numberProblem(list("1e300", 300)) ?? "", /at "n\.\d+" has too many digits without its exponent/)
    assert.match(numberProblem(list("1e-300", 300)) ?? "", /too many digits/)
    assert.isUndefined(numberProblem(list("1.5e-7", 10_000)))
  })

  it("reads no number in strings", () => {
    for (const text of ["12345678901234567890", ", 1e400", '\\",1e400,\\"', "\\\\", ":1e400"]) {
      assert.isUndefined(numberProblem(`{"id":"${text}","${text}":[ 12 ]}`), text)
    }
  })

  it("accepts an integer exactly if a reader gets the same integer", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat({ max: 30 }), (start, zeros) => {
        const integer = start - (start % 10n ** BigInt(zeros))
        const isAccepted = numberProblem(`{"n":${integer}}`) === undefined
        assert.strictEqual(isAccepted, writtenOut(JSON.stringify(Number(integer))) === integer)
      })
    )
  })
})

// ---- helpers ----

/** An integer with an exponent: `-1.25e+30`. */
const writtenOut = (number: string): bigint => {
  const [mantissa = "", exponent = "0"] = number.split("e")
  const [integer = "", fraction = ""] = mantissa.split(".")
  return BigInt(integer + fraction) * 10n ** BigInt(Number(exponent) - fraction.length)
}
