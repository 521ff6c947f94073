/**
 * Plain text as bytes, which are read several times as fast as characters of a string. There is one such text at a time;
 * it is a constant of the module, which makes it faster still.
 */

const MOST_BYTES = 1 << 20

export const encoded = new Uint8Array(MOST_BYTES)
export const encodedFours = new Int32Array(encoded.buffer)

/** False for a text that is not ASCII, or too long. At least one 0 stands after the text, and up to a multiple of four. */
export const encodeAscii = (text: string): boolean => {
  const { length } = text
  // More bytes than characters: not ASCII.
  if (length >= MOST_BYTES || encoder.encodeInto(text, encoded).written !== length) return false
  const last = length >> 2
  encodedFours[last] = (encodedFours[last] ?? 0) & ~(-1 << ((length & 3) << 3))
  return true
}

// ---- helpers ----

const encoder = new TextEncoder()
