/** Filters of postings: 14 bits of a term that an event must have, or 0. They are kept two to a word. */
import { TRACE_BITS } from "./eventTerms.ts"

// What is imported is looked up anew each time it is used; a constant of the module's own is not.
const bits = TRACE_BITS

/** The filter of this number among those that begin with a word. */
export const filterIn = (words: Int32Array, start: number, number: number): number =>
  ((words[start + (number >> 1)] ?? 0) >>> ((number & 1) << 4)) & bits

export const setFilterIn = (words: Int32Array, start: number, number: number, filter: number): void => {
  const at = start + (number >> 1)
  const shift = (number & 1) << 4
  words[at] = ((words[at] ?? 0) & ~(0xffff << shift)) | ((filter & bits) << shift)
}
