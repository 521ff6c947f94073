/** ASCII text in the word buffer, tested four bytes at a time (SWAR). A result is the top bit of its byte. */
import { wordBytes, wordView } from "./wordBuffer.ts"

const MAX_BYTES = 1 << 20

/** Bytes per block: one for each bit of a number. */
export const BLOCK = 32
export const MAX_BLOCKS = MAX_BYTES / BLOCK

/** Writes a text to the word buffer, followed by four zero bytes. False if it is not ASCII, or too long. */
export const encodeAscii = (text: string): boolean => {
  const { length } = text
  if (length >= MAX_BYTES || encoder.encodeInto(text, ownBytes).written !== length) return false
  ownView.setInt32(length, 0, true)
  return true
}

export const lettersIn = (four: number): number => {
  const lower = four | 0x20202020
  return (lower + 0x1f1f1f1f) & ~(lower + 0x05050505) & TOP_BITS
}

export const digitsIn = (four: number): number => (four + 0x50505050) & ~(four + 0x46464646) & TOP_BITS

/** The bytes that equal `character`. */
export const equalTo = (four: number, character: number): number =>
  ~((four ^ Math.imul(character, 0x01010101)) + 0x7f7f7f7f) & TOP_BITS

/** Converts letters to lower case, given `lettersIn`. */
export const lowerCased = (four: number, letters: number): number => four | (letters >>> 2)

/** Packs the four results into the low bits, first byte lowest. */
export const packBits = (answers: number): number => (Math.imul(answers >>> 7, 0x00204081) >>> 21) & 0xf

// ---- helpers ----

// See `core/engine/verify.ts` on copies of imports.
const ownBytes = wordBytes
const ownView = wordView

const encoder = new TextEncoder()
const TOP_BITS = 0x80808080 | 0
