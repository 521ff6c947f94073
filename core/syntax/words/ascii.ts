/**
 * Plain text in the row of words, four characters at a time: bytes are read several times as fast as characters of a
 * string, and what is asked of each of the four is asked of all at once. An answer is the top bit of its byte.
 */
import { bytes, groups } from "./wordRow.ts"

const MOST_BYTES = 1 << 20

/** Characters that are looked at together: one for each bit of a number. */
export const BLOCK = 32
export const MOST_BLOCKS = MOST_BYTES / BLOCK

/** Writes a text to the row; false if it is not ASCII, or too long. Four 0 stand after it. */
export const encodeAscii = (text: string): boolean => {
  const { length } = text
  // More bytes than characters: not ASCII.
  if (length >= MOST_BYTES || encoder.encodeInto(text, row).written !== length) return false
  fours.setInt32(length, 0, true)
  return true
}

export const lettersIn = (four: number): number => {
  const lower = four | 0x20202020
  return (lower + 0x1f1f1f1f) & ~(lower + 0x05050505) & TOPS
}

export const digitsIn = (four: number): number => (four + 0x50505050) & ~(four + 0x46464646) & TOPS

/** Those that are the character. */
export const isIn = (four: number, character: number): number =>
  ~((four ^ Math.imul(character, 0x01010101)) + 0x7f7f7f7f) & TOPS

/** With its letters in lower case. */
export const folded = (four: number, letters: number): number => four | (letters >>> 2)

/** The four answers as bits side by side, the first the lowest. */
export const bitsOf = (answers: number): number => (Math.imul(answers >>> 7, 0x00204081) >>> 21) & 0xf

// ---- helpers ----

// What is imported is looked up anew each time it is used; a constant of the module's own is not.
const row = bytes
const fours = groups

const encoder = new TextEncoder()
const TOPS = 0x80808080 | 0
