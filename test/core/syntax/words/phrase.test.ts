import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { containsPhrase } from "../../../../core/syntax/words/phrase.ts"
import { sized } from "../../../long.ts"

const text = (words: string) => {
  const all = words.split(" ")
  const kept = all.flatMap((word, position) => (word === "_" ? [] : [{ word, position }]))
  return { words: kept.map(({ word }) => word), positions: kept.map(({ position }) => position) }
}

const phrase = (words: string, slop: number) => {
  const { words: found, positions } = text(words)
  return { words: found, offsets: positions, slop }
}

describe("containsPhrase", () => {
  const cases: ReadonlyArray<readonly [text: string, phrase: string, least: number | undefined]> = [
    ["a b", "a", 0],
    ["a b", "c", undefined],
    ["a b c", "a b", 0],
    ["a b c", "a c", 1],
    ["a b c", "b a", 2],
    ["a x y b", "a b", 2],
    ["b x y a", "a b", 4],
    ["a b c", "c b a", 4],
    ["a x b y c", "a b c", 2],
    ["a _ b", "a _ b", 0],
    ["a b", "a _ b", 1],
    ["a x b", "a _ b", 0],
    ["a x x b", "a _ b", 1],
    ["a", "a a", undefined],
    ["a a", "a a", 0],
    ["a b a", "a a", 1],
    ["a b a", "a b b", undefined],
    ["x a b x a c b", "a c b", 0],
    ["to be or not to be", "to be to be", 2]
  ]
  for (const [within, sought, least] of cases) {
    it(`finds "${sought}" in "${within}" ${least === undefined ? "at no slop" : `from slop ${least} on`}`, () => {
      for (let slop = 0; slop <= 6; slop++) {
        const expected = least !== undefined && slop >= least
        assert.strictEqual(containsPhrase(text(within), phrase(sought, slop)), expected, `slop ${slop}`)
      }
    })
  }

  it("agrees with exhaustive search", () => {
    const word = fc.constantFrom("a", "b", "c", "_")
    const sought = fc
      .array(word, { minLength: 1, maxLength: 4 })
      .filter((words) => words[0] !== "_" && words.at(-1) !== "_")
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 7 }), sought, fc.nat(5), (within, words, slop) => {
        const laid = phrase(words.join(" "), slop)
        const everywhere = text(within.join(" "))
        const tries = (index: number, moves: ReadonlyArray<number>, taken: ReadonlyArray<number>): boolean => {
          if (index === laid.words.length) {
            return Math.max(...moves) - Math.min(...moves) <= slop
          }
          return everywhere.positions.some(
            (position, at) =>
              everywhere.words[at] === laid.words[index] &&
              !taken.includes(position) &&
              tries(index + 1, [...moves, position - (laid.offsets[index] ?? 0)], [...taken, position])
          )
        }
        assert.strictEqual(containsPhrase(everywhere, laid), tries(0, [], []))
      }),
      { numRuns: sized(750, 3_000) }
    )
  })

  it("stays fast on long texts of few words", () => {
    const long = text("a b ".repeat(20_000).trim())
    assert.isFalse(containsPhrase(long, phrase("a b b a a a", 0)))
    assert.isTrue(containsPhrase(long, phrase("a b a b", 0)))
    assert.isFalse(containsPhrase(long, phrase("a c", 1000)))
    const words = "a b ".repeat(1000)
    assert.isFalse(containsPhrase(text(`c ${"a b ".repeat(20_000).trim()}`), phrase(`${words}c`, 1000)))
  })
})
