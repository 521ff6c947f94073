/** Generated ASCII words that all analysers treat alike. Frequent words are short, and names longer than any word. */

export const WORDS = 200_000
export const NAMES = 2_000_000

/** `rank`: from 0, the most frequent. */
export const wordAt = (rank: number): string =>
  rank < 500
    ? spell(scramble(rank, SYLLABLES ** 2), 2)
    : rank < 20_000
      ? spell(scramble(rank, SYLLABLES ** 3), 3)
      : spell(scramble(rank, SYLLABLES ** 4), 4)

export const nameAt = (index: number): string => `${spell(scramble(index, SYLLABLES ** 4), 4)}n`

/** Digits keep accounts and hosts distinct from words. */
export const accountAt = (rank: number): string => `${spell(scramble(rank, SYLLABLES ** 2), 2)}${rank}`

export const hostAt = (rank: number): string => `${spell(scramble(rank, SYLLABLES ** 2), 2)}${rank}x.com`

// ---- helpers ----

const CONSONANTS = "bcdfghjklmnprstvwxyz"
const VOWELS = "aeiou"
const SYLLABLES = CONSONANTS.length * VOWELS.length

/** Makes words of neighbouring rank look different. The factor is coprime to 100. */
const scramble = (index: number, size: number): number => (index * 61_803_401) % size

const spell = (code: number, syllables: number): string => {
  let word = ""
  let rest = code
  for (let syllable = 0; syllable < syllables; syllable++) {
    word +=
      CONSONANTS.charAt(Math.floor(rest / VOWELS.length) % CONSONANTS.length) + VOWELS.charAt(rest % VOWELS.length)
    rest = Math.floor(rest / SYLLABLES)
  }
  return word
}
