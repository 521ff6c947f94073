/** The known name nearest to a mistyped one. */

/** `undefined` when none is near: at most one change in short names, two in longer ones. */
export const nearest = (text: string, names: Iterable<string>): string | undefined => {
  if (text.length > maxLength) {
    return undefined
  }
  const lower = text.toLowerCase()
  let best: string | undefined
  let bestDistance = lower.length < 5 ? 2 : 3
  for (const name of names) {
    const found = distance(lower, name.toLowerCase(), bestDistance)
    if (found < bestDistance) {
      bestDistance = found
      best = name
    }
  }
  return best
}

// ---- helpers ----

const maxLength = 64

/** Edits between two words where swapped neighbours count once; stops counting at `limit`. */
const distance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) >= limit) {
    return limit
  }
  let before: Array<number> = []
  let previous: Array<number> = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current: Array<number> = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      let cost = Math.min(
        (previous[j] ?? limit) + 1,
        (current[j - 1] ?? limit) + 1,
        (previous[j - 1] ?? limit) + (same ? 0 : 1)
      )
      if (
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      ) {
        cost = Math.min(cost, (before[j - 2] ?? limit) + 1)
      }
      current.push(cost)
    }
    before = previous
    previous = current
  }
  return previous[b.length] ?? limit
}
