/** What a mistyped word was probably meant to be. */

/**
 * The candidate with the fewest edits (insert, delete, replace, swap of neighbours), if they are few for the word's
 * length. Case does not count; of equals the first wins.
 */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > LONGEST_WORD) return undefined
  const typed = word.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - typed.length) >= least) continue
    const edits = distance(typed, candidate.toLowerCase())
    if (edits < least) {
      least = edits
      best = candidate
    }
  }
  return best
}

// ---- helpers ----

/** No name is longer, and the table of distances stays small. */
const LONGEST_WORD = 64

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
