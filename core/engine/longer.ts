/** A copy that has room for twice so many words. */
export const longer = (words: Int32Array, count: number): Int32Array<ArrayBuffer> => {
  const copy = new Int32Array(2 * count)
  copy.set(words)
  return copy
}
