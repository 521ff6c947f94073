/** Numbers of 16 bits, kept two to a word. */

/** The number in this place among those that begin with a word. */
export const halfIn = (words: Int32Array, start: number, place: number): number =>
  ((words[start + (place >> 1)] ?? 0) >>> ((place & 1) << 4)) & 0xffff

export const setHalfIn = (words: Int32Array, start: number, place: number, half: number): void => {
  const at = start + (place >> 1)
  const shift = (place & 1) << 4
  words[at] = ((words[at] ?? 0) & ~(0xffff << shift)) | (half << shift)
}
