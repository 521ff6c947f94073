/**
 * Made-up words that every analyser here reads alike: plain letters, no stop words. The frequent ones are short, and the
 * names that a live stream never runs out of are longer than any word.
 */

export const WORDS = 200_000
export const NAMES = 2_000_000

/** Of the rank, from 0. */
export const wordAt = (rank: number): string =>
  rank < 500
    ? spelled(scattered(rank, SYLLABLES ** 2), 2)
    : rank < 20_000
      ? spelled(scattered(rank, SYLLABLES ** 3), 3)
      : spelled(scattered(rank, SYLLABLES ** 4), 4)

export const nameAt = (index: number): string => `${spelled(scattered(index, SYLLABLES ** 4), 4)}n`

/** Of the account by rank. The digits keep accounts and hosts apart from words. */
export const accountAt = (rank: number): string => `${spelled(scattered(rank, SYLLABLES ** 2), 2)}${rank}`

export const hostAt = (rank: number): string => `${spelled(scattered(rank, SYLLABLES ** 2), 2)}${rank}x.com`

// ---- helpers ----

const CONSONANTS = "bcdfghjklmnprstvwxyz"
const VOWELS = "aeiou"
const SYLLABLES = CONSONANTS.length * VOWELS.length

/** Words of neighbouring rank shall not look alike. The factor has no divisor in common with a power of 100. */
const scattered = (index: number, size: number): number => (index * 61_803_401) % size

const spelled = (code: number, syllables: number): string => {
  let word = ""
  let rest = code
  for (let syllable = 0; syllable < syllables; syllable++) {
    word +=
      CONSONANTS.charAt(Math.floor(rest / VOWELS.length) % CONSONANTS.length) + VOWELS.charAt(rest % VOWELS.length)
    rest = Math.floor(rest / SYLLABLES)
  }
  return word
}
