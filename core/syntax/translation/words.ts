/**
 * Translates words and phrases in both directions. Plain words of letters and digits are exact: both platforms ignore
 * case and keep accents. The platforms split text differently at apostrophes, dots and underscores; this counts as a
 * difference only if the clause itself contains one. Words of links and quoted posts, which X searches too, are ignored.
 */

import { truncated } from "../../text/truncated.ts"
import { escapeTerm, quotePhrase } from "../firehose/printer.ts"
import { analyse, isPlainWord } from "../firehose/tokens.ts"
import { limits as xLimits } from "../x/operators.ts"
import { tokens } from "../x/tokens.ts"
import { stopWords } from "../x/vocabulary.ts"
import { type ClauseTranslation, exact, impossible } from "./clauseTranslation.ts"

/** `raw`: the text of the clause with its punctuation. */
export const wordsToFirehose = (
  source: { readonly words: ReadonlyArray<string>; readonly raw: string; readonly slop: number },
  field: { readonly prefix: string; readonly keepsStopWords: boolean; readonly name: string }
): ClauseTranslation => {
  const { words, slop } = source
  const raw = source.raw.normalize("NFC")
  const whole = analyse(raw, true).words
  const kept = field.keepsStopWords ? whole.length : analyse(raw, false).words.length
  if (whole.length === 0) {
    return impossible(`Firehose finds no word in "${excerpt(words)}"`)
  }
  if (kept === 0) {
    return impossible(`Firehose ignores stop words, and "${excerpt(words)}" contains no other words`)
  }
  const differences = new Differences()
  const same = equal(whole.map(normalizedForX), words)
  const unspaced = words.some(isUnspaced)
  if (kept < whole.length) {
    differences.add("wider", "Firehose accepts any word in place of a stop word")
  }
  if (unspaced) {
    differences.add("wider", "Firehose finds these characters inside longer text, X only as a whole word")
  }
  if (words.some(isEmoji)) {
    differences.add("narrower", "Firehose distinguishes the variants of an emoji, X does not")
  } else if (!same && whole.length < words.length) {
    const count = whole.length === 1 ? "one word" : "fewer words"
    differences.add("narrower", `Firehose reads "${excerpt(whole)}" as ${count}`)
  } else if (!same && !unspaced) {
    differences.add("wider", "The platforms split this text into different words")
    differences.add("narrower", "The platforms split this text into different words")
  }
  if (words.some(hasSigma)) {
    differences.add("narrower", "Firehose distinguishes the two lower-case forms of sigma, X does not")
  }
  const loose = slop > 0 && words.length > 1
  if (loose) {
    differences.add("wider", "Firehose may allow one more word in between")
    if (words.length > 2 || !same) {
      differences.add("narrower", "Firehose adds up the moves of all words, X measures the distance of neighbours")
    }
  }
  const [only] = whole
  const text =
    whole.length === 1 && only !== undefined
      ? escapeTerm(only)
      : quotePhrase(same ? words.join(" ") : unspaced ? raw.replace(/[\s"\\*?]+/g, " ").trim() : whole.join(" "))
  const clause = field.prefix + text + (loose ? `~${slop}` : "")
  return differences.translation(clause, `${words.length > 1 ? "The same words" : "The same word"} in ${field.name}`)
}

/** `raw`: the text in the quotes of a phrase, absent for a bare term. */
export const wordsToX = (
  source: { readonly words: ReadonlyArray<string>; readonly raw: string | undefined; readonly slop: number },
  field: { readonly prefix: string; readonly name: string }
): ClauseTranslation => {
  const { words, raw, slop } = source
  const byWord = words.map(tokens)
  const target = raw === undefined ? byWord.flat() : tokens(raw)
  if (target.length === 0) {
    return impossible(`X finds no word in "${excerpt(words)}"`)
  }
  const differences = new Differences()
  const splitsWords = words.some((word, index) => {
    const [found, ...more] = byWord[index] ?? []
    return more.length > 0 || found !== normalizedForX(word)
  })
  if (raw !== undefined && analyse(raw, true).words.length > words.length) {
    differences.add("narrower", "X requires the stop words, which Firehose ignores")
  }
  if (words.some(isUnspaced)) {
    differences.add("narrower", "X finds these characters only as a whole word, Firehose also inside longer text")
  }
  if (words.some(isEmoji)) {
    differences.add("wider", "X does not distinguish the variants of an emoji")
  } else if (splitsWords) {
    differences.add("wider", `X splits "${excerpt(words)}" at punctuation, so other punctuation or spaces match too`)
  }
  if (words.some(hasSigma)) {
    differences.add("wider", "X does not distinguish the two lower-case forms of sigma")
  }
  const loose = slop > 0 && words.length > 1 && target.length > 1
  const distance = Math.min(slop, xLimits.proximity.max)
  if (loose) {
    differences.add(
      "narrower",
      distance < slop
        ? `X allows a distance of at most ${xLimits.proximity.max}`
        : "X may allow one word fewer in between"
    )
    if (target.length > 2) {
      differences.add("wider", "X measures the distance of neighbours, Firehose adds up the moves of all words")
    }
  }
  const clause = field.prefix + quoteForX(target) + (loose ? `~${distance}` : "")
  if (loose && field.prefix !== "") {
    return impossible("X supports word distances only in the text of the post")
  }
  return differences.translation(clause, `${target.length > 1 ? "The same words" : "The same word"} in ${field.name}`)
}

export const quoteForX = (words: ReadonlyArray<string>): string => {
  const [only = ""] = words
  const bare = words.length === 1 && isPlainWord(only) && !stopWords.has(only) && only !== "not"
  return bare ? only : `"${words.join(" ")}"`
}

export const hasUnspacedScript = (text: string): boolean => unspacedScripts.test(text)

// ---- helpers ----

/** Written in a script without spaces: the platforms split these into different words. */
function isUnspaced(word: string): boolean {
  return !isPlainWord(word) && hasUnspacedScript(word)
}

const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u

function isEmoji(word: string): boolean {
  return !isPlainWord(word) && /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(word)
}

function hasSigma(word: string): boolean {
  return /[σς]/.test(word)
}

/** Removes the distinctions that X ignores: variation selectors and the final sigma. */
function normalizedForX(word: string): string {
  return isPlainWord(word) ? word : word.replace(/[\ufe00-\ufe0f]/g, "").replaceAll("ς", "σ")
}

function equal(a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}

function excerpt(words: ReadonlyArray<string>): string {
  return truncated(words.join(" "), 40)
}

class Differences {
  private readonly wider: Array<string> = []
  private readonly narrower: Array<string> = []

  add(direction: "wider" | "narrower", reason: string): void {
    this[direction].push(reason)
  }

  translation(text: string, exactReason: string): ClauseTranslation {
    const reasons = [...new Set([...this.wider, ...this.narrower])]
    const reason = reasons.length === 0 ? exactReason : reasons.join("; ")
    return { ...exact([text], reason), wider: this.wider.length > 0, narrower: this.narrower.length > 0 }
  }
}
