/**
 * The words of a text as one row of UTF-16 code units, each word ended by a 0: for those who compare words without
 * keeping them. There is one row, and it is good until the next one is written. That it is a constant of the module and
 * never another array makes reading it several times as fast.
 */
import type { Tokens } from "./firehose/tokens.ts"

/** Words beyond are not read: no event that is taken in is as long. */
export const MOST_CODES = 1 << 20

export const codes = new Uint16Array(MOST_CODES)

/** What stands at a place without a word, and for a 0 within one. No text has such a word. */
const NO_WORD = 1

/** The length of the row. */
export const writeTokens = ({ words, positions }: Tokens): number => {
  let at = 0
  let place = 0
  for (let index = 0; index < words.length; index++) {
    const position = positions[index] ?? 0
    const word = words[index] ?? ""
    if (at + 2 * (position - place) + word.length >= MOST_CODES) break
    for (; place < position; place++) {
      codes[at++] = NO_WORD
      codes[at++] = 0
    }
    for (let unit = 0; unit < word.length; unit++) codes[at++] = word.charCodeAt(unit)
    codes[at++] = 0
    place++
  }
  return at
}

/** One word; gives its length without the 0. */
export const writeWord = (word: string): number => {
  const length = Math.min(word.length, MOST_CODES - 1)
  for (let at = 0; at < length; at++) codes[at] = word.charCodeAt(at) || NO_WORD
  codes[length] = 0
  return length
}
