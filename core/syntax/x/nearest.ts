/** Finds the known word that a misspelt one most likely means. */

/**
 * The candidate with the fewest edits (insert, delete, replace, swap of neighbours), if that is at most a third of the
 * word's length. Of equals the first wins.
 */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > longestWord) {
    return undefined
  }
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) < least) {
      const edits = distance(word, candidate)
      if (edits < least) {
        least = edits
        best = candidate
      }
    }
  }
  return best
}

// ---- helpers ----

/** No name is longer, and the table of distances stays small. */
const longestWord = 40

function distance(a: string, b: string): number {
  let beforePrevious: Array<number> = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const replaced = (previous[j - 1] ?? 0) + (same ? 0 : 1)
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
