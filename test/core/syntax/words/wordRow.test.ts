import { assert, describe, it } from "@effect/vitest"
import { randomFrom } from "../../../../bench/random.ts"
import { analyse, stopWords } from "../../../../core/syntax/firehose/tokens.ts"
import { writeWords } from "../../../../core/syntax/firehose/writeWords.ts"
import { bounds, bytes, writeTokens, writeWord } from "../../../../core/syntax/words/wordRow.ts"
import { tokens, withPositions, writeWords as writePostWords } from "../../../../core/syntax/x/tokens.ts"

/** The first words of the row; null for a place without one. */
const wordsOf = (count: number): ReadonlyArray<string | null> =>
  Array.from({ length: count }, (_, word) => {
    const found = bytes.subarray(bounds[2 * word], bounds[2 * word + 1])
    return found.length === 0 ? null : String.fromCharCode(...found)
  })

const PIECES = [..."aB1.,:;'-_ \n", " ", " ", " ", "moon", "Moonlight", "3.14", "o'neil", "x".repeat(254), ...stopWords]
const UNPLAIN = ["é", "東京", "😀", "’"]

describe("The row of words", () => {
  const random = randomFrom(4)
  const one = (list: ReadonlyArray<string>) => list[Math.floor(random() * list.length)] ?? ""
  const texts = Array.from({ length: 20_000 }, () =>
    Array.from({ length: Math.floor(random() * 14) }, () => one(random() < 0.02 ? UNPLAIN : PIECES)).join("")
  )

  it("has the words of a page, and a hole for each stop word, as the analysis finds them", () => {
    let holes = 0
    for (const text of texts) {
      for (const keepStopWords of [true, false]) {
        const expected = wordsOf(writeTokens(analyse(text, keepStopWords)))
        const found = wordsOf(writeWords(text, keepStopWords))
        // What comes after the last word makes no difference.
        const end = found.findLastIndex((word) => word !== null) + 1
        assert.deepStrictEqual(found.slice(0, end), expected, JSON.stringify(text))
        holes += found.slice(0, end).filter((word) => word === null).length
      }
    }
    assert.isAbove(holes, 1_000)
  })

  it("has the words of a post", () => {
    for (const text of texts) {
      assert.deepStrictEqual(wordsOf(writePostWords(text)), wordsOf(writeTokens(withPositions(tokens(text)))), text)
    }
  })

  it("tells words apart that only differ in what is not a letter", () => {
    const rows = ["", "a", "a\u0000", "\u0000a", "a\u0001", "\u0080", "\u0100", "abcd", "abcd\u0000"].map((word) =>
      bytes.slice(0, writeWord(word)).join()
    )
    assert.strictEqual(new Set(rows).size, rows.length)
  })

  it("leaves nothing of a longer text behind", () => {
    writeWord("moonlighting and more of it")
    assert.deepStrictEqual(wordsOf(writePostWords("a bc")), ["a", "bc"])
    writePostWords("some much longer post, with many words of all lengths in it")
    assert.deepStrictEqual(wordsOf(writeWords("a bc", true)), ["a", "bc"])
  })
})
