/** The words of a page without making strings of them: for plain text, which most of it is. */
import { encodeAscii, encoded } from "../ascii.ts"
import { beginRow, endRow, GROUP, groups, HOLE, putByte, writeTokens } from "../wordRow.ts"
import { analyse, isPart, kindOfAscii, maxTokenLength, stopWords } from "./tokens.ts"

/** Writes the same words as `analyse` gives to the row of words; gives the number of groups. */
export const writeWords = (text: string, keepStopWords: boolean): number => {
  // What underscores do depends on more than their neighbours.
  if (!text.includes("_") && encodeAscii(text)) {
    const length = writeAscii(text.length)
    if (!hasLongWord(length)) return keepStopWords ? length : withoutStopWords(length)
  }
  return writeTokens(analyse(text, keepStopWords))
}

// ---- helpers ----

// What is imported is looked up anew each time it is used. Here even a constant of the module's own is; a constant of the
// function is not.
const put = putByte

const kinds = Uint8Array.from({ length: 256 }, (_, code) => kindOfAscii(code))
const folded = Uint8Array.from({ length: 256 }, (_, code) => String.fromCharCode(code).toLowerCase().charCodeAt(0))

/** All bits if a character is part of a word, by its kind and those of its neighbours, three bits each; else none. */
const parts = Uint8Array.from({ length: 512 }, (_, three) =>
  isPart(three >> 6, (three >> 3) & 7, three & 7) ? 0xff : 0
)

const writeAscii = (length: number): number => {
  beginRow()
  const text = encoded
  const kindOf = kinds
  const lower = folded
  const part = parts
  let state = 0
  let before = kindOf[0] ?? 0
  let kind = kindOf[text[0] ?? 0] ?? 0
  // A separator comes after the text.
  for (let at = 0; at <= (length | 0); at++) {
    const after = kindOf[text[at + 1] ?? 0] ?? 0
    state = put(state, (lower[text[at] ?? 0] ?? 0) & (part[(before << 6) | (kind << 3) | after] ?? 0))
    before = kind
    kind = after
  }
  return endRow(state)
}

/** Lucene cuts it in pieces. */
const hasLongWord = (length: number): boolean => {
  const row = groups
  let whole = 0
  for (let at = 0; at < (length | 0); at++) {
    whole = (row[at] ?? 0) >>> 24 === 0 ? 0 : whole + 1
    if (whole * GROUP > maxTokenLength) return true
  }
  return false
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

/** Leaves a hole for each. */
const withoutStopWords = (length: number): number => {
  const row = groups
  const firsts = stopFirsts
  const seconds = stopSeconds
  let isFirst = true
  for (let at = 0; at < (length | 0); at++) {
    const group = row[at] ?? 0
    const isWhole = group >>> 24 !== 0
    const cell = stopCell(group)
    if (isFirst && firsts[cell] === group) {
      if (!isWhole) row[at] = HOLE
      else if (row[at + 1] === seconds[cell]) {
        row[at] = -1
        row[at + 1] = 0
      }
    }
    isFirst = !isWhole
  }
  return length
}
