/**
 * The words of a text as one row of bytes, for those who compare words without keeping them: UTF-8, except that each half
 * of a pair is written by itself, and a 0 as the two bytes that UTF-8 forbids for it. So the start of a word is the start
 * of its bytes. Each word begins at a multiple of four and ends with one to four 0: it can be read four bytes at a time,
 * and the last byte of four is a 0 where the word ends. (The first byte of the four is the lowest, as on all machines
 * that matter here.)
 *
 * There is one row, and it is good until the next one is written. That it is a constant of the module and never another
 * array makes reading it several times as fast.
 */
import type { Tokens } from "./firehose/tokens.ts"

/** Words beyond are not read: no event that is taken in is as long. */
export const MOST_GROUPS = 1 << 20
export const GROUP = 4

/** A word of bytes that no other has, for a place without one. */
export const HOLE = 0xff

export const groups = new Int32Array(MOST_GROUPS)
export const bytes = new Uint8Array(groups.buffer)

/** To be called before any of the row is written: leaves nothing but 0 in it. */
export const beginRow = (): void => {
  const pairs = (written + 1) >> 1
  for (let pair = 0; pair < pairs; pair++) rowPairs[pair] = 0
}

/**
 * Writes a byte of a word to the row, or ends the word for a 0; gives the state for the next one, the first being 0. The
 * state is where the byte belongs, times two, and one more within a word. A byte leads to the next one, and the end of a
 * word to a multiple of four, which after another end is where it belonged itself. Without a branch, as nobody can foresee
 * which of the two comes.
 */
export const putByte = (state: number, byte: number): number => {
  const isWord = (byte + 0xff) >> 8
  rowBytes[state >> 1] = byte
  return ((state | isWord) + 7 - 5 * isWord) & (-isWord | -8)
}

/** To be called with the state after the end of a word; gives the number of groups. */
export const endRow = (state: number): number => {
  written = state >> 3
  return written
}

/** Gives the number of groups. */
export const writeTokens = ({ words, positions }: Tokens): number => {
  beginRow()
  let at = 0
  let place = 0
  for (let index = 0; index < words.length; index++) {
    const position = positions[index] ?? 0
    const word = words[index] ?? ""
    if (at + GROUP * (position - place) + room(word.length) > MOST_GROUPS * GROUP) break
    for (; place < position; place++) {
      rowBytes[at] = HOLE
      at += GROUP
    }
    at = write(word, at)
    place++
  }
  return endRow(2 * at)
}

/** One word; gives the number of groups. */
export const writeWord = (word: string): number => {
  beginRow()
  return endRow(2 * write(room(word.length) > MOST_GROUPS * GROUP ? "" : word, 0))
}

// ---- helpers ----

// What is exported is looked up anew each time it is used; a constant of the module's own is not.
const rowBytes = bytes
const rowPairs = new Float64Array(groups.buffer)

/** Groups that may hold something. */
let written = 0

/** Bytes that a word of this length takes at most. */
const room = (length: number): number => 3 * length + GROUP

/** Gives where the next word begins. */
const write = (word: string, start: number): number => {
  let at = start
  for (let unit = 0; unit < word.length; unit++) {
    const code = word.charCodeAt(unit)
    if (code > 0 && code < 0x80) {
      rowBytes[at++] = code
    } else if (code < 0x800) {
      rowBytes[at++] = 0xc0 | (code >> 6)
      rowBytes[at++] = 0x80 | (code & 0x3f)
    } else {
      rowBytes[at++] = 0xe0 | (code >> 12)
      rowBytes[at++] = 0x80 | ((code >> 6) & 0x3f)
      rowBytes[at++] = 0x80 | (code & 0x3f)
    }
  }
  return (at + GROUP) & -GROUP
}
