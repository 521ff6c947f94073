/** Finds the known word nearest to a mistyped one, for "did you mean" hints. */

/**
 * The candidate at the smallest edit distance (insert, delete, replace, swap of neighbours), up to a third of the
 * word's length and at least 1. Ignores case; the first of several nearest ones wins.
 */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > MAX_LENGTH) return undefined
  const typed = word.toLowerCase()
  let best: string | undefined
  let limit = Math.max(1, Math.floor(typed.length / 3)) + 1
  let left = MAX_COMPARISONS
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - typed.length) >= limit) continue
    left -= typed.length * candidate.length
    if (left < 0) break
    const edits = distance(typed, candidate.toLowerCase())
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

const distance = (a: string, b: string): number => {
  let beforePrevious: Array<number> = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let edits = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (beforePrevious[j - 2] ?? 0) + 1)
      }
      current.push(edits)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? 0
}
