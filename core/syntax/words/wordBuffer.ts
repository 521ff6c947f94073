/**
 * The words of a text as bytes, to compare words without allocating strings. The encoding is UTF-8, except that each
 * surrogate is encoded on its own and NUL as two bytes, so that a prefix of a word is a prefix of its bytes.
 * `wordBounds` has the offsets of the words; a position without a word has length 0.
 *
 * There is one buffer, valid until the next write. As a module constant it is several times as fast to read.
 */
import type { Tokens } from "./tokens.ts"

/** Further words are ignored. No accepted event has as many. */
export const MAX_WORDS = 1 << 20
/** Bytes read at a time, little-endian. */
export const GROUP = 4

export const wordBytes = new Uint8Array(1 << 22)
export const wordView = new DataView(wordBytes.buffer)
/** Word `n` starts at `wordBounds[2 * n]` and ends at `wordBounds[2 * n + 1]`. */
export const wordBounds = new Int32Array(2 * MAX_WORDS)

/** Four bytes of a word, or its tail. */
export const groupAt = (at: number, end: number): number =>
  end - at < GROUP ? tailAt(at, end) : ownView.getInt32(at, true)

/** The last 0 to 3 bytes of a word. */
export const tailAt = (at: number, end: number): number => ownView.getInt32(at, true) & ~(-1 << ((end - at) << 3))

/**
 * Appends word bounds for a block of 32 bytes at `start` and returns the new number of bounds. In `parts`, a bit is set
 * for each byte of a word. An odd `count` means that a word is still open.
 */
export const addBounds = (parts: number, start: number, count: number): number => {
  const to = ownBounds
  const edges = parts ^ ((parts << 1) | (count & 1))
  let next = count
  for (let left = edges; left !== 0; left &= left - 1) to[next++] = start + 31 - Math.clz32(left & -left)
  return next
}

/** Returns the number of words. */
export const writeTokens = ({ words, positions }: Tokens): number => {
  let at = 0
  let count = 0
  for (let index = 0; index < words.length; index++) {
    const position = positions[index] ?? 0
    const word = words[index] ?? ""
    if (position >= MAX_WORDS || at + maxBytes(word) > wordBytes.length) break
    while (count < position) setBounds(count++, at, at)
    const end = write(word, at)
    setBounds(count++, at, end)
    at = end
  }
  return count
}

/** Writes one word at offset 0. Returns its end. */
export const writeWord = (word: string): number => {
  const end = maxBytes(word) > wordBytes.length ? 0 : write(word, 0)
  setBounds(0, 0, end)
  return end
}

// ---- helpers ----

// See `core/engine/verify.ts` on copies of exports.
const ownBytes = wordBytes
const ownView = wordView
const ownBounds = wordBounds

const setBounds = (word: number, start: number, end: number): void => {
  wordBounds[2 * word] = start
  wordBounds[2 * word + 1] = end
}

/** Upper bound for the bytes of a word, plus those read past its end. */
const maxBytes = (word: string): number => 3 * word.length + GROUP

/** Returns its end. */
const write = (word: string, start: number): number => {
  let at = start
  for (let unit = 0; unit < word.length; unit++) {
    const code = word.charCodeAt(unit)
    if (code > 0 && code < 0x80) {
      ownBytes[at++] = code
    } else if (code < 0x800) {
      ownBytes[at++] = 0xc0 | (code >> 6)
      ownBytes[at++] = 0x80 | (code & 0x3f)
    } else {
      ownBytes[at++] = 0xe0 | (code >> 12)
      ownBytes[at++] = 0x80 | ((code >> 6) & 0x3f)
      ownBytes[at++] = 0x80 | (code & 0x3f)
    }
  }
  return at
}
