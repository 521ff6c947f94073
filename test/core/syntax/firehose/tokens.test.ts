/** Tests of text analysis. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { analyse, hasWords, stopWords } from "../../../../core/syntax/firehose/tokens.ts"
import { sized } from "../../../long.ts"
import { cpuMillisOf } from "../../../cpuMillis.ts"

const texts: ReadonlyArray<readonly [text: string, words: string]> = [
  ["Hello, World!", "hello world"],
  ["wi-fi 10-K", "wi fi 10 k"],
  ["example.com node.js", "example.com node.js"],
  ["O'Reilly don’t", "o'reilly don’t"],
  ["end. Start", "end start"],
  ["3.14 1,000 1,a", "3.14 1,000 1"],
  ["snake_case __ _x_", "snake_case _x_"],
  ["a1b2 2nd", "a1b2 2nd"],
  ["C++ C# .NET", "c c net"],
  ["AT&T", "t"],
  ["über Straße ÉCOLE", "über straße école"],
  ["東京タワー ひら", "東 京 タワー ひ ら"],
  ["서울 날씨", "서울 날씨"],
  ["สวัสดี ครับ", "สวัสดี ครับ"],
  ["I love 🚗 and ❤️", "i love 🚗 ❤️"],
  ["👩‍💻🇩🇪", "👩‍💻 🇩🇪"],
  ["ΟΔΟΣ İstanbul", "οδοσ istanbul"],
  ["cafe\u0301s", "cafe\u0301s"],
  ["— … ¿", ""]
]

describe("analyse", () => {
  for (const [text, words] of texts) {
    it(`splits ${JSON.stringify(text)} into ${JSON.stringify(words)}`, () => {
      assert.strictEqual(analyse(text, false).words.join(" "), words)
    })
  }

  it("removes the 33 stop words and leaves gaps in the positions", () => {
    assert.strictEqual(stopWords.length, 33)
    assert.deepStrictEqual(analyse("The state of the art", false), { words: ["state", "art"], positions: [1, 4] })
    assert.deepStrictEqual(analyse("The state of the art", true).positions, [0, 1, 2, 3, 4])
  })

  it("splits words longer than 255 characters", () => {
    assert.deepStrictEqual(
      analyse("x".repeat(300), false).words.map((word) => word.length),
      [255, 45]
    )
  })

  it("returns ascending positions, and hasWords agrees with it", () => {
    fc.assert(
      fc.property(fc.oneof(fc.fullUnicodeString({ maxLength: 60 }), fc.string({ maxLength: 60 })), (text) => {
        const { words, positions } = analyse(text, false)
        assert.strictEqual(words.length, positions.length)
        positions.forEach((position, index) => {
          assert.isTrue(index === 0 || position > (positions[index - 1] ?? -1))
        })
        assert.strictEqual(hasWords(text, false), words.length > 0)
      }),
      { numRuns: sized(500, 2_000) }
    )
  })

  it("runs in linear time on long runs of signs", () => {
    for (const text of ["_".repeat(200_000), "\u0301".repeat(200_000), "a.".repeat(100_000), "👩‍".repeat(50_000)]) {
      assert.isBelow(
        cpuMillisOf(() => analyse(text, false)),
        1000
      )
    }
  })
})
