/** The words of a page without making strings of them: for plain text, which most of it is. */
import { BLOCK, bitsOf, digitsIn, encodeAscii, folded, isIn, lettersIn, MOST_BLOCKS } from "../words/ascii.ts"
import { addBounds, bounds, GROUP, groupAt, groups, restAt, writeTokens } from "../words/wordRow.ts"
import { analyse, maxTokenLength, stopWords } from "./tokens.ts"

/** Writes the same words as `analyse` gives to the row of words; gives their number. */
export const writeWords = (text: string, keepStopWords: boolean): number => {
  // What underscores do depends on more than their neighbours.
  if (!text.includes("_") && encodeAscii(text)) {
    const words = cut(foldBlocks(text.length))
    if (!hasLongWord(words)) return keepStopWords ? words : withoutStopWords(words)
  }
  return writeTokens(analyse(text, keepStopWords))
}

// ---- helpers ----

// What is imported is looked up anew each time it is used; a constant of the module's own is not.
const row = groups
const ends = bounds
const group = groupAt
const rest = restAt
const mark = addBounds
const lettersOf = lettersIn
const digitsOf = digitsIn
const has = isIn
const lower = folded
const bits = bitsOf

/**
 * Of each block of characters, numbered from 1, by bits: the letters, the digits, and what is part of a word between two
 * letters or two digits. There is nothing before the first and after the last.
 */
const letters = new Int32Array(MOST_BLOCKS + 2)
const digits = new Int32Array(MOST_BLOCKS + 2)
const betweenLetters = new Int32Array(MOST_BLOCKS + 2)
const betweenDigits = new Int32Array(MOST_BLOCKS + 2)

/** In lower case from now on; gives the number of blocks. */
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
  let letterJoints = 0
  let digitJoints = 0
  for (let at = start | 0; at < (end | 0); at += GROUP) {
    const four = row.getInt32(at, true)
    const letter = lettersOf(four)
    const both = has(four, APOSTROPHE) | has(four, FULL_STOP)
    row.setInt32(at, lower(four, letter), true)
    letterBits |= bits(letter) << at
    digitBits |= bits(digitsOf(four)) << at
    letterJoints |= bits(both | has(four, COLON)) << at
    digitJoints |= bits(both | has(four, COMMA) | has(four, SEMICOLON)) << at
  }
  letters[block] = letterBits
  digits[block] = digitBits
  betweenLetters[block] = letterJoints
  betweenDigits[block] = digitJoints
}

const APOSTROPHE = 0x27
const COMMA = 0x2c
const FULL_STOP = 0x2e
const COLON = 0x3a
const SEMICOLON = 0x3b

/** Gives the number of words. */
const cut = (blocks: number): number => {
  let count = 0
  for (let block = 1; block <= (blocks | 0); block++) {
    const parts =
      (letters[block] ?? 0) |
      (digits[block] ?? 0) |
      ((betweenLetters[block] ?? 0) & between(letters, block)) |
      ((betweenDigits[block] ?? 0) & between(digits, block))
    count = mark(parts, (block - 1) * BLOCK, count)
  }
  return count >> 1
}

/** What has one of these on either side. */
const between = (these: Int32Array, block: number): number => {
  const here = these[block] ?? 0
  return ((here << 1) | ((these[block - 1] ?? 0) >>> 31)) & ((here >>> 1) | ((these[block + 1] ?? 0) << 31))
}

/** Lucene cuts it in pieces. */
const hasLongWord = (words: number): boolean => {
  let longest = 0
  for (let word = 0; word < (words | 0); word++) {
    longest = Math.max(longest, (ends[2 * word + 1] ?? 0) - (ends[2 * word] ?? 0))
  }
  return longest > maxTokenLength
}

/** Stop words by their first group, in cells of their own: the group, and what must come after it if it is whole. */
const STOP_CELLS = 1 << 10
const stopFirsts = new Int32Array(STOP_CELLS)
const stopSeconds = new Int32Array(STOP_CELLS)

const stopCell = (group: number): number => Math.imul(group, STOP_STEP) >>> 22

/** Found by trying: no two stop words fall together. */
const STOP_STEP = 0x9e3779b1 | 0

const groupOf = (text: string): number =>
  [...text].reduce((group, char, at) => group | (char.charCodeAt(0) << (8 * at)), 0)

for (const word of stopWords) {
  const first = groupOf(word.slice(0, GROUP))
  if (stopFirsts[stopCell(first)] !== 0) throw new Error(`The stop word "${word}" falls together with another one`)
  stopFirsts[stopCell(first)] = first
  stopSeconds[stopCell(first)] = groupOf(word.slice(GROUP))
}

/** Leaves a word of no length for each. */
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
