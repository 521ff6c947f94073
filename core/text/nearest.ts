/** Finds the known word nearest to a mistyped one, for "did you mean" hints. */

/**
 * The candidate at the smallest edit distance (insert, delete, replace, swap of neighbours), up to a third of the
 * word's length. Ignores case; the first of several nearest ones wins. One or two letters are like many words by chance:
 * for them, only the case may differ.
 */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > MAX_LENGTH) return undefined
  const typed = word.toLowerCase()
  let best: string | undefined
  let limit = Math.floor(typed.length / 3) + 1
  let left = MAX_COMPARISONS
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - typed.length) >= limit) continue
    left -= typed.length * candidate.length
    if (left < 0) break
    const edits = distance(typed, candidate.toLowerCase(), limit)
    if (edits < limit) {
      limit = edits
      best = candidate
    }
  }
  return best
}

// ---- helpers ----

/** Longer than any candidate; bounds the work per word. */
const MAX_LENGTH = 64

/** Of two characters, for one word: some milliseconds. Enough for 20,000 candidates of ten letters. */
const MAX_COMPARISONS = 2_000_000

/** The number of edits if it is below `limit`; otherwise `limit` or more. */
const distance = (a: string, b: string, limit: number): number => {
  const width = b.length + 1
  let [beforePrevious, previous, current] = rowsOf(width)
  for (let column = 0; column < width; column++) previous[column] = column
  for (let i = 1; i <= a.length; i++) {
    const code = a.charCodeAt(i - 1)
    const last = i > 1 ? a.charCodeAt(i - 2) : -1
    current[0] = i
    let least = i
    for (let j = 1; j < width; j++) {
      const other = b.charCodeAt(j - 1)
      let edits = (previous[j - 1] ?? 0) + (code === other ? 0 : 1)
      edits = Math.min(edits, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1)
      if (j > 1 && last === other && code === b.charCodeAt(j - 2))
        edits = Math.min(edits, (beforePrevious[j - 2] ?? 0) + 1)
      current[j] = edits
      if (edits < least) least = edits
    }
    // A swap reaches back two rows and adds one edit, so one more than the limit is certain.
    if (least > limit) return least
    const oldest = beforePrevious
    beforePrevious = previous
    previous = current
    current = oldest
  }
  return previous[b.length] ?? 0
}

let rows: readonly [Uint16Array, Uint16Array, Uint16Array] = [new Uint16Array(), new Uint16Array(), new Uint16Array()]

/** Used again: a check compares thousands of words. */
const rowsOf = (width: number): typeof rows => {
  if (rows[0].length < width) rows = [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)]
  return rows
}
