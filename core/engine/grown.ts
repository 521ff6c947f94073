/** A copy of `words` with room for `2 * count` words. */
export const grown = (words: Int32Array, count: number): Int32Array<ArrayBuffer> => {
  const copy = new Int32Array(2 * count)
  copy.set(words)
  return copy
}
