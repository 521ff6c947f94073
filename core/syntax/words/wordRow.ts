/**
 * The words of a text as bytes, for those who compare words without keeping them: UTF-8, except that each half of a pair
 * is written by itself, and a 0 as the two bytes that UTF-8 forbids for it. So the start of a word is the start of its
 * bytes. Where the words are among the bytes is written beside them; a place without a word has one of no length.
 *
 * There is one row of words, and it is good until the next one is written. That it is a constant of the module and never
 * another array makes reading it several times as fast.
 */
import type { Tokens } from "./tokens.ts"

/** Words beyond are not read: no event that is taken in has as many. */
export const MOST_WORDS = 1 << 20
/** Bytes that are read at a time. The first of them is the lowest. */
export const GROUP = 4

export const bytes = new Uint8Array(1 << 22)
export const groups = new DataView(bytes.buffer)
/** Where the word with the number `n` begins, at `2 * n`, and where it ends. */
export const bounds = new Int32Array(2 * MOST_WORDS)

/** Four bytes of a word, or what is left of it. */
export const groupAt = (at: number, end: number): number =>
  end - at < GROUP ? restAt(at, end) : row.getInt32(at, true)

/** What is left of a word that ends less than four bytes from here. */
export const restAt = (at: number, end: number): number => row.getInt32(at, true) & ~(-1 << ((end - at) << 3))

/**
 * Writes the bounds of words among 32 bytes from a place on, given how many there are: if it is an odd number, a word has
 * begun and not ended. A bit is set for each byte that is part of a word. Gives how many there are then.
 */
export const addBounds = (parts: number, place: number, count: number): number => {
  const to = ends
  const edges = parts ^ ((parts << 1) | (count & 1))
  let next = count
  for (let left = edges; left !== 0; left &= left - 1) to[next++] = place + 31 - Math.clz32(left & -left)
  return next
}

/** Gives the number of words. */
export const writeTokens = ({ words, positions }: Tokens): number => {
  let at = 0
  let count = 0
  for (let index = 0; index < words.length; index++) {
    const position = positions[index] ?? 0
    const word = words[index] ?? ""
    if (position >= MOST_WORDS || at + room(word) > bytes.length) break
    while (count < position) put(count++, at, at)
    const end = write(word, at)
    put(count++, at, end)
    at = end
  }
  return count
}

/** One word, which begins at 0; gives where it ends. */
export const writeWord = (word: string): number => {
  const end = room(word) > bytes.length ? 0 : write(word, 0)
  put(0, 0, end)
  return end
}

// ---- helpers ----

// What is exported is looked up anew each time it is used; a constant of the module's own is not.
const rowBytes = bytes
const row = groups
const ends = bounds

const put = (word: number, start: number, end: number): void => {
  bounds[2 * word] = start
  bounds[2 * word + 1] = end
}

/** Bytes that a word takes at most, and those that are read with the last of it. */
const room = (word: string): number => 3 * word.length + GROUP

/** Gives where it ends. */
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
  return at
}
