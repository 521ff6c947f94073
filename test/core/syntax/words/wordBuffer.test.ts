import { assert, describe, it } from "@effect/vitest"
import { analyse, stopWords } from "../../../../core/syntax/firehose/tokens.ts"
import { writeWords } from "../../../../core/syntax/firehose/writeWords.ts"
import { wordBounds, wordBytes, writeTokens, writeWord } from "../../../../core/syntax/words/wordBuffer.ts"
import { tokens, withPositions, writeWords as writePostWords } from "../../../../core/syntax/x/tokens.ts"
import { randomFrom } from "../../../../fixtures/random.ts"

/** The first words of the buffer; null for a position without a word. */
const wordsOf = (count: number): ReadonlyArray<string | null> =>
  Array.from({ length: count }, (_, word) => {
    const found = wordBytes.subarray(wordBounds[2 * word], wordBounds[2 * word + 1])
    return found.length === 0 ? null : String.fromCharCode(...found)
  })

const PIECES = [..."aB1.,:;'-_ \n", " ", " ", " ", "moon", "Moonlight", "3.14", "o'neil", "x".repeat(254), ...stopWords]
const NON_ASCII = ["é", "東京", "😀", "’"]

describe("wordBuffer", () => {
  const random = randomFrom(4)
  const one = (list: ReadonlyArray<string>) => list[Math.floor(random() * list.length)] ?? ""
  const texts = Array.from({ length: 20_000 }, () =>
    Array.from({ length: Math.floor(random() * 14) }, () => one(random() < 0.02 ? NON_ASCII : PIECES)).join("")
  )

  it("has the analysed words of a page, and a gap for each stop word", () => {
    let gaps = 0
    for (const text of texts) {
      for (const keepStopWords of [true, false]) {
        const expected = wordsOf(writeTokens(analyse(text, keepStopWords)))
        const found = wordsOf(writeWords(text, keepStopWords))
        // Trailing gaps do not matter.
        const end = found.findLastIndex((word) => word !== null) + 1
        assert.deepStrictEqual(found.slice(0, end), expected, JSON.stringify(text))
        gaps += found.slice(0, end).filter((word) => word === null).length
      }
    }
    assert.isAbove(gaps, 1_000)
  })

  it("has the words of a post", () => {
    for (const text of texts) {
      assert.deepStrictEqual(wordsOf(writePostWords(text)), wordsOf(writeTokens(withPositions(tokens(text)))), text)
    }
  })

  it("encodes different words differently", () => {
    const rows = ["", "a", "a\u0000", "\u0000a", "a\u0001", "\u0080", "\u0100", "abcd", "abcd\u0000"].map((word) =>
      wordBytes.slice(0, writeWord(word)).join()
    )
    assert.strictEqual(new Set(rows).size, rows.length)
  })

  it("is not affected by a longer text written before", () => {
    writeWord("moonlighting and more of it")
    assert.deepStrictEqual(wordsOf(writePostWords("a bc")), ["a", "bc"])
    writePostWords("some much longer post, with many words of all lengths in it")
    assert.deepStrictEqual(wordsOf(writeWords("a bc", true)), ["a", "bc"])
  })
})
