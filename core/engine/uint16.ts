/** Packs 16-bit numbers, two per 32-bit word. */

export const uint16At = (words: Int32Array, start: number, index: number): number =>
  ((words[start + (index >> 1)] ?? 0) >>> ((index & 1) << 4)) & 0xffff

export const setUint16At = (words: Int32Array, start: number, index: number, half: number): void => {
  const at = start + (index >> 1)
  const shift = (index & 1) << 4
  words[at] = ((words[at] ?? 0) & ~(0xffff << shift)) | (half << shift)
}
