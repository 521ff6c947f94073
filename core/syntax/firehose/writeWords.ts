/** Writes the words of a page to the word buffer, without creating strings for ASCII text. */
import { BLOCK, digitsIn, encodeAscii, equalTo, lettersIn, lowerCased, MAX_BLOCKS, packBits } from "../words/ascii.ts"
import { addBounds, GROUP, groupAt, tailAt, wordBounds, wordView, writeTokens } from "../words/wordBuffer.ts"
import { analyse, MAX_TOKEN_LENGTH, stopWords } from "./tokens.ts"

/** Writes the same words as `analyse` returns. Returns their number. */
export const writeWords = (text: string, keepStopWords: boolean): number => {
  // An underscore needs more context than the adjacent characters.
  if (!text.includes("_") && encodeAscii(text)) {
    const words = splitWords(foldBlocks(text.length))
    if (!hasLongWord(words)) return keepStopWords ? words : withoutStopWords(words)
  }
  return writeTokens(analyse(text, keepStopWords))
}

// ---- helpers ----

// Local constants: an imported binding is looked up on each use.
const row = wordView
const ends = wordBounds
const group = groupAt
const rest = tailAt
const mark = addBounds
const lettersOf = lettersIn
const digitsOf = digitsIn
const has = equalTo
const lower = lowerCased
const bits = packBits

/**
 * Bitmaps per block of characters: letters, digits, and characters that join two letters or two digits. Blocks are
 * numbered from 1, with an empty block at each end.
 */
const letters = new Int32Array(MAX_BLOCKS + 2)
const digits = new Int32Array(MAX_BLOCKS + 2)
const letterJoiners = new Int32Array(MAX_BLOCKS + 2)
const digitJoiners = new Int32Array(MAX_BLOCKS + 2)

/** Converts the text to lower case in place and returns the number of blocks. */
const foldBlocks = (length: number): number => {
  const blocks = Math.floor(length / BLOCK) + 1
  for (let block = 1; block <= blocks; block++) {
    foldBlock(block, (block - 1) * BLOCK, Math.min(block * BLOCK, length + 1))
  }
  letters[blocks + 1] = 0
  digits[blocks + 1] = 0
  return blocks
}

const foldBlock = (block: number, start: number, end: number): void => {
  let letterBits = 0
  let digitBits = 0
  let letterJoinerBits = 0
  let digitJoinerBits = 0
  for (let at = start | 0; at < (end | 0); at += GROUP) {
    const four = row.getInt32(at, true)
    const letter = lettersOf(four)
    const both = has(four, APOSTROPHE) | has(four, FULL_STOP)
    row.setInt32(at, lower(four, letter), true)
    letterBits |= bits(letter) << at
    digitBits |= bits(digitsOf(four)) << at
    letterJoinerBits |= bits(both | has(four, COLON)) << at
    digitJoinerBits |= bits(both | has(four, COMMA) | has(four, SEMICOLON)) << at
  }
  letters[block] = letterBits
  digits[block] = digitBits
  letterJoiners[block] = letterJoinerBits
  digitJoiners[block] = digitJoinerBits
}

const APOSTROPHE = 0x27
const COMMA = 0x2c
const FULL_STOP = 0x2e
const COLON = 0x3a
const SEMICOLON = 0x3b

/** Returns the number of words. */
const splitWords = (blocks: number): number => {
  let count = 0
  for (let block = 1; block <= (blocks | 0); block++) {
    const parts =
      (letters[block] ?? 0) |
      (digits[block] ?? 0) |
      ((letterJoiners[block] ?? 0) & between(letters, block)) |
      ((digitJoiners[block] ?? 0) & between(digits, block))
    count = mark(parts, (block - 1) * BLOCK, count)
  }
  return count >> 1
}

/** Characters with a set bit on both sides. */
const between = (map: Int32Array, block: number): number => {
  const here = map[block] ?? 0
  return ((here << 1) | ((map[block - 1] ?? 0) >>> 31)) & ((here >>> 1) | ((map[block + 1] ?? 0) << 31))
}

/** Lucene splits a long word; `analyse` handles that. */
const hasLongWord = (words: number): boolean => {
  let longest = 0
  for (let word = 0; word < (words | 0); word++) {
    longest = Math.max(longest, (ends[2 * word + 1] ?? 0) - (ends[2 * word] ?? 0))
  }
  return longest > MAX_TOKEN_LENGTH
}

/** Perfect hash table of the stop words: their first group of bytes and their second. */
const STOP_CELLS = 1 << 10
const stopFirsts = new Int32Array(STOP_CELLS)
const stopSeconds = new Int32Array(STOP_CELLS)

const stopCell = (group: number): number => Math.imul(group, STOP_MULTIPLIER) >>> 22

/** Found by trial: it gives no collision of two stop words. */
const STOP_MULTIPLIER = 0x9e3779b1 | 0

const groupOf = (text: string): number =>
  [...text].reduce((group, char, at) => group | (char.charCodeAt(0) << (8 * at)), 0)

for (const word of stopWords) {
  const first = groupOf(word.slice(0, GROUP))
  if (stopFirsts[stopCell(first)] !== 0) throw new Error(`The stop word "${word}" collides with another one`)
  stopFirsts[stopCell(first)] = first
  stopSeconds[stopCell(first)] = groupOf(word.slice(GROUP))
}

/** Sets the length of each stop word to 0. */
const withoutStopWords = (words: number): number => {
  for (let word = 0; word < (words | 0); word++) {
    const start = ends[2 * word] ?? 0
    const end = ends[2 * word + 1] ?? 0
    const first = group(start, end)
    const cell = stopCell(first)
    if (stopFirsts[cell] !== first || end - start >= 2 * GROUP) continue
    if (end - start < GROUP || rest(start + GROUP, end) === stopSeconds[cell]) ends[2 * word + 1] = start
  }
  return words
}
