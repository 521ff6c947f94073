/**
 * Words and phrases in both directions. The exact core is words of letters and digits that neither platform treats in a
 * special way; both platforms keep accents and drop case. How each of them cuts running text at apostrophes, dots and
 * underscores belongs to the platform and not to a clause, so it counts only where the clause itself holds such a sign.
 * The words of links and of quoted posts, which X counts as words of the post, are likewise left aside.
 */

import { escapeTerm, quotePhrase } from "../firehose/printer.ts"
import { analyse, isPlainWord } from "../firehose/tokens.ts"
import { limits as xLimits } from "../x/operators.ts"
import { tokens } from "../x/tokens.ts"
import { stopWords } from "../x/vocabulary.ts"
import type { Carried } from "./carried.ts"

/** Words of X, as the rule wrote them, in a text field of Firehose. */
export const wordsToFirehose = (
  source: { readonly words: ReadonlyArray<string>; readonly raw: string; readonly slop: number },
  field: { readonly prefix: string; readonly keepsStopWords: boolean; readonly place: string }
): Carried => {
  const { words, slop } = source
  const raw = source.raw.normalize("NFC")
  const whole = analyse(raw, true).words
  const kept = field.keepsStopWords ? whole.length : analyse(raw, false).words.length
  if (whole.length === 0) {
    return { impossible: `Firehose sees no word in "${shown(words)}"` }
  }
  if (kept === 0) {
    return { impossible: `Firehose leaves stop words out of its text, and "${shown(words)}" holds nothing else` }
  }
  const notes = new Notes()
  const same = equal(whole.map(asXSpells), words)
  const unspaced = words.some(isUnspaced)
  if (kept < whole.length) {
    notes.add("wider", "Firehose leaves stop words out and takes any word in their place")
  }
  if (unspaced) {
    notes.add("wider", "Firehose finds these characters inside longer runs, X only between spaces")
  }
  if (words.some(isEmoji)) {
    notes.add("narrower", "Firehose tells an emoji apart from its variants in style")
  } else if (!same && whole.length < words.length) {
    notes.add("narrower", `Firehose takes "${shown(whole)}" as ${whole.length === 1 ? "one word" : "fewer words"}`)
  } else if (!same && !unspaced) {
    notes.add("wider", "The two platforms cut this text into different words")
    notes.add("narrower", "The two platforms cut this text into different words")
  }
  if (words.some(hasSigma)) {
    notes.add("narrower", "Firehose tells the two forms of a small sigma apart")
  }
  const loose = slop > 0 && words.length > 1
  if (loose) {
    notes.add("wider", "Firehose counts the words between, X may count one fewer")
    if (words.length > 2 || !same) {
      notes.add("narrower", "Firehose adds up the moves of all words, X measures from word to word")
    }
  }
  const [only] = whole
  const text =
    whole.length === 1 && only !== undefined
      ? escapeTerm(only)
      : quotePhrase(same ? words.join(" ") : unspaced ? raw.replace(/[\s"\\*?]+/g, " ").trim() : whole.join(" "))
  const clause = field.prefix + text + (loose ? `~${slop}` : "")
  return notes.carried([clause], `${words.length > 1 ? "The same words" : "The same word"} in ${field.place}`)
}

/** Words of a text field of Firehose in X. `raw` is what stands in the quotes, absent for a bare term. */
export const wordsToX = (
  source: { readonly words: ReadonlyArray<string>; readonly raw: string | undefined; readonly slop: number },
  field: { readonly prefix: string; readonly place: string }
): Carried => {
  const { words, raw, slop } = source
  const target = raw === undefined ? words.flatMap(tokens) : tokens(raw)
  if (target.length === 0) {
    return { impossible: `X sees no word in "${shown(words)}"` }
  }
  const notes = new Notes()
  const glued = words.some((word) => {
    const found = tokens(word)
    return found.length !== 1 || found[0] !== asXSpells(word)
  })
  if (raw !== undefined && analyse(raw, true).words.length > words.length) {
    notes.add("narrower", "X asks for the stop words too, which Firehose leaves out")
  }
  if (words.some(isUnspaced)) {
    notes.add(
      "narrower",
      "X finds these characters only as a whole run between spaces, Firehose inside longer ones too"
    )
  }
  if (words.some(isEmoji)) {
    notes.add("wider", "X takes an emoji and its variants in style as one")
  } else if (glued) {
    notes.add("wider", `X takes "${shown(words)}" apart at its signs, so other signs or spaces fit too`)
  }
  if (words.some(hasSigma)) {
    notes.add("wider", "X takes the two forms of a small sigma as one")
  }
  const loose = slop > 0 && words.length > 1 && target.length > 1
  const distance = Math.min(slop, xLimits.proximity.max)
  if (loose) {
    notes.add(
      "narrower",
      distance < slop
        ? `X allows a distance of ${xLimits.proximity.max} at most`
        : "X may count one word fewer between than Firehose does"
    )
    if (target.length > 2) {
      notes.add("wider", "X measures from word to word, Firehose adds up the moves of all words")
    }
  }
  const clause = field.prefix + quoteForX(target) + (loose ? `~${distance}` : "")
  if (loose && field.prefix !== "") {
    return { impossible: "X has distances between words only for the text of the post" }
  }
  return notes.carried([clause], `${target.length > 1 ? "The same words" : "The same word"} in ${field.place}`)
}

// ---- helpers ----

/** Scripts written without spaces, where the platforms do not agree on what a word is. */
function isUnspaced(word: string): boolean {
  return !isPlainWord(word) && unspacedScripts.test(word)
}

const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u

function isEmoji(word: string): boolean {
  return !isPlainWord(word) && /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(word)
}

function hasSigma(word: string): boolean {
  return /[σς]/.test(word)
}

/** A word of Firehose with what X does not tell apart made one. */
function asXSpells(word: string): string {
  return isPlainWord(word) ? word : word.replace(/[\ufe00-\ufe0f]/g, "").replaceAll("ς", "σ")
}

function quoteForX(words: ReadonlyArray<string>): string {
  const [only = ""] = words
  const bare = words.length === 1 && isPlainWord(only) && !stopWords.has(only) && only !== "not"
  return bare ? only : `"${words.join(" ")}"`
}

function equal(a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}

function shown(words: ReadonlyArray<string>): string {
  const text = words.join(" ")
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

class Notes {
  private readonly wider: Array<string> = []
  private readonly narrower: Array<string> = []

  add(direction: "wider" | "narrower", reason: string): void {
    this[direction].push(reason)
  }

  carried(texts: ReadonlyArray<string>, exact: string): Carried {
    const [reason = exact, ...more] = new Set([...this.wider, ...this.narrower])
    return {
      join: "Or",
      texts,
      anchor: true,
      wider: this.wider.length > 0,
      narrower: this.narrower.length > 0,
      reason: [reason, ...more].join("; ")
    }
  }
}
