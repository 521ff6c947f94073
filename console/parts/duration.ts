/** A length of time in words: `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 1 h`. */
export const duration = (millis: number): string => {
  if (millis < 1_000) return `${Math.max(0, Math.round(millis))} ms`
  const seconds = Math.round(millis / 1_000)
  const at = UNITS.findIndex(([, length]) => seconds >= length)
  const [name, length] = UNITS[at] ?? SECOND
  const next = UNITS[at + 1]
  const rest = next === undefined ? 0 : Math.floor((seconds % length) / next[1])
  const first = `${Math.floor(seconds / length)} ${name}`
  return next === undefined || rest === 0 ? first : `${first} ${rest} ${next[0]}`
}

// ---- helpers ----

const SECOND = ["s", 1] as const

/** In seconds. */
const UNITS: ReadonlyArray<readonly [string, number]> = [["d", 86_400], ["h", 3_600], ["min", 60], SECOND]
