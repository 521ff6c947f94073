import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { WildcardSign } from "../../../core/syntax/expression.ts"
import { fitsWildcard, holdsPhrase, isWithinEdits } from "../../../core/syntax/words.ts"

const star: WildcardSign = { sign: "*" }
const mark: WildcardSign = { sign: "?" }

const text = (words: string) => {
  const all = words.split(" ")
  const kept = all.flatMap((word, position) => (word === "_" ? [] : [{ word, position }]))
  return { words: kept.map(({ word }) => word), positions: kept.map(({ position }) => position) }
}

const phrase = (words: string, slop: number) => {
  const { words: found, positions } = text(words)
  return { words: found, offsets: positions, slop }
}

describe("holdsPhrase", () => {
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
    it(`finds "${sought}" in "${within}" ${least === undefined ? "with no slop" : `from slop ${least} on`}`, () => {
      for (let slop = 0; slop <= 6; slop++) {
        const expected = least !== undefined && slop >= least
        assert.strictEqual(holdsPhrase(text(within), phrase(sought, slop)), expected, `slop ${slop}`)
      }
    })
  }

  it("agrees with trying every place for every word", () => {
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
        assert.strictEqual(holdsPhrase(everywhere, laid), tries(0, [], []))
      }),
      { numRuns: 3000 }
    )
  })

  it("stays quick on long texts of few words", () => {
    const long = text("a b ".repeat(20_000).trim())
    assert.isFalse(holdsPhrase(long, phrase("a b b a a a", 0)))
    assert.isTrue(holdsPhrase(long, phrase("a b a b", 0)))
    assert.isFalse(holdsPhrase(long, phrase("a c", 1000)))
    const words = "a b ".repeat(1000)
    assert.isFalse(holdsPhrase(text(`c ${"a b ".repeat(20_000).trim()}`), phrase(`${words}c`, 1000)))
  })
})

describe("fitsWildcard", () => {
  it("agrees with the same pattern as a regular expression", () => {
    const part = fc.oneof(
      fc.constantFrom(star, mark),
      fc.string({ unit: fc.constantFrom("a", "b", ".", "🍕", "*", "?"), minLength: 1, maxLength: 3 })
    )
    const value = fc.string({ unit: fc.constantFrom("a", "b", ".", "🍕", "*"), maxLength: 8 })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), value, (parts, subject) => {
        const source = parts
          .map((one) => (typeof one === "string" ? one.replaceAll(/[.*?]/g, "\\$&") : one.sign === "*" ? ".*" : "."))
          .join("")
        assert.strictEqual(fitsWildcard(parts, subject), new RegExp(`^${source}$`, "su").test(subject))
      }),
      { numRuns: 3000 }
    )
  })

  it("stays quick where backtracking would not", () => {
    const parts = Array.from({ length: 60 }, () => [star, "a"]).flat()
    assert.isFalse(fitsWildcard([...parts, "b"], "a".repeat(5000)))
    assert.isTrue(fitsWildcard(parts, "a".repeat(5000)))
  })
})

describe("isWithinEdits", () => {
  const cases: ReadonlyArray<readonly [string, string, number]> = [
    ["tesla", "tesla", 0],
    ["tesla", "telsa", 1],
    ["tesla", "tesl", 1],
    ["tesla", "teslas", 1],
    ["tesla", "tisla", 1],
    ["tesla", "etsal", 2],
    ["tesla", "tes", 2],
    ["ab", "ba", 1],
    ["ca", "abc", 3],
    ["a", "", 1],
    ["🍕a", "🍔a", 1],
    ["kitten", "sitting", 3]
  ]
  for (const [word, value, distance] of cases) {
    it(`counts ${distance} from "${word}" to "${value}"`, () => {
      for (const most of [0, 1, 2, 3]) {
        assert.strictEqual(isWithinEdits(word, value, most), most >= distance, `at most ${most}`)
        assert.strictEqual(isWithinEdits(value, word, most), most >= distance, `at most ${most}`)
      }
    })
  }

  it("agrees with all words that one edit reaches", () => {
    const short = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 5 })
    const reached = (word: string): ReadonlySet<string> => {
      const found = new Set([word])
      for (let at = 0; at <= word.length; at++) {
        const [before, after] = [word.slice(0, at), word.slice(at)]
        for (const letter of "abc") {
          found.add(before + letter + after)
          if (after !== "") found.add(before + letter + after.slice(1))
        }
        if (after !== "") found.add(before + after.slice(1))
        if (after.length > 1) found.add(before + after.charAt(1) + after.charAt(0) + after.slice(2))
      }
      return found
    }
    fc.assert(
      fc.property(short, short, (word, value) => {
        assert.strictEqual(isWithinEdits(word, value, 1), reached(word).has(value))
      }),
      { numRuns: 3000 }
    )
  })
})
