/**
 * Firehose's text analysis, for rules and pages: word boundaries of Lucene's standard tokenizer, lower case, English stop
 * words removed. A removed stop word leaves a gap in the positions.
 */
import { finish, Pace, type Turns } from "../../work/turns.ts"
import type { Tokens } from "../words/tokens.ts"

/** Lucene's English stop words. */
export const stopWords: ReadonlyArray<string> =
  "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with".split(
    " "
  )

/** Lucene splits longer words into pieces of this length, in UTF-16 code units. */
export const MAX_TOKEN_LENGTH = 255

/** `keepStopWords` is true only for `title`. */
export const analyse = (text: string, keepStopWords: boolean): Tokens =>
  finish(analyseInTurns(text, keepStopWords, new Pace()))

/** `max`: stops after this many words. */
export function* analyseInTurns(
  text: string,
  keepStopWords: boolean,
  pace: Pace,
  max = Number.POSITIVE_INFINITY
): Turns<Tokens> {
  const words: Array<string> = []
  const positions: Array<number> = []
  let position = -1
  let at = 0
  while (at < text.length && words.length < max) {
    const kind = kindAt(text, at)
    if (kind === BREAK || kind === MID_LETTER || kind === MID_NUMBER || kind === MID_BOTH || kind === EXTEND) {
      at += width(text, at)
      continue
    }
    const end = kind === LETTER || kind === DIGIT || kind === JOINER ? wordEnd(text, at) : otherEnd(text, at, kind)
    if (end > at) {
      for (let from = at; from < end; from += MAX_TOKEN_LENGTH) {
        const word = lowerCase(text, from, Math.min(end, from + MAX_TOKEN_LENGTH))
        position++
        if (keepStopWords || !isStopWord(word)) {
          words.push(word)
          positions.push(position)
        }
        if (pace.endsTurn(STEPS_PER_WORD + STEPS_PER_CHARACTER * word.length)) yield
      }
      at = end
    } else {
      at = skip(text, at, kind)
    }
  }
  return { words, positions }
}

const STEPS_PER_WORD = 200
const STEPS_PER_CHARACTER = 10

/** Analysis leaves at least one word. */
export const hasWords = (text: string, keepStopWords: boolean): boolean =>
  isPlainWord(text)
    ? keepStopWords || !isStopWord(text.toLowerCase())
    : finish(analyseInTurns(text, keepStopWords, new Pace(), 1)).words.length > 0

/** ASCII letters and digits only: a single word, so analysis is not needed. */
export const isPlainWord = (text: string): boolean => {
  if (text.length === 0 || text.length > MAX_TOKEN_LENGTH) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127 || (asciiKinds[code] ?? BREAK) > DIGIT) return false
  }
  return true
}

/** Lower-cases a word, or part of one, as the analysis does. */
export const lowerWord = (text: string): string => lowerCase(text, 0, text.length)

// ---- helpers ----

const stopWordSet: ReadonlySet<string> = new Set(stopWords)
const MAX_STOP_WORD_LENGTH = 5

const isStopWord = (word: string): boolean =>
  word.length <= MAX_STOP_WORD_LENGTH && word.charCodeAt(0) < 128 && stopWordSet.has(word)

// Word-break classes. ASCII characters have only the first seven.
const LETTER = 0
const DIGIT = 1
const JOINER = 2
const MID_LETTER = 3
const MID_NUMBER = 4
const MID_BOTH = 5
const BREAK = 6
const EXTEND = 7
const SINGLE = 8
const KATAKANA = 9
const RUN = 10
const EMOJI = 11
const PICTOGRAPH = 12
const FLAG = 13
const UNKNOWN = 255

const asciiKinds = new Uint8Array(128).fill(BREAK)
for (let code = 48; code <= 57; code++) asciiKinds[code] = DIGIT
for (let code = 65; code <= 90; code++) {
  asciiKinds[code] = LETTER
  asciiKinds[code + 32] = LETTER
}
asciiKinds[0x5f] = JOINER
asciiKinds[0x3a] = MID_LETTER
asciiKinds[0x2c] = MID_NUMBER
asciiKinds[0x3b] = MID_NUMBER
asciiKinds[0x27] = MID_BOTH
asciiKinds[0x2e] = MID_BOTH

const planeKinds = new Uint8Array(0x10000).fill(UNKNOWN)
const astralKinds = new Map<number, number>()

const kindAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  if (code < 128) return asciiKinds[code] ?? BREAK
  if (code >= 0xd800 && code <= 0xdbff) {
    const point = text.codePointAt(at) ?? code
    if (point > 0xffff) {
      const known = astralKinds.get(point)
      if (known !== undefined) return known
      const kind = classify(point)
      astralKinds.set(point, kind)
      return kind
    }
  }
  const known = planeKinds[code] ?? UNKNOWN
  if (known !== UNKNOWN) return known
  const kind = code >= 0xd800 && code <= 0xdfff ? BREAK : classify(code)
  planeKinds[code] = kind
  return kind
}

const width = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  if (code < 0xd800 || code > 0xdbff) return 1
  const next = text.charCodeAt(at + 1)
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1
}

const midLetters = new Set([0xb7, 0x387, 0x55f, 0x5f4, 0x2027, 0xfe13, 0xfe55, 0xff1a])
const midBoth = new Set([0x2018, 0x2019, 0x2024, 0xfe52, 0xff07, 0xff0e])
const midNumbers = new Set([
  0x37e, 0x589, 0x60c, 0x60d, 0x66c, 0x7f8, 0x2044, 0xfe10, 0xfe14, 0xfe50, 0xfe54, 0xff0c, 0xff1b
])
const longVowelMarks = new Set([0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x309b, 0x309c, 0x30a0, 0x30fc, 0xff70])

const classify = (point: number): number => {
  if (midLetters.has(point)) return MID_LETTER
  if (midBoth.has(point)) return MID_BOTH
  if (midNumbers.has(point)) return MID_NUMBER
  if (longVowelMarks.has(point)) return KATAKANA
  if (point === 0x200b) return BREAK
  if (point === 0x202f) return JOINER
  if (point >= 0x1f1e6 && point <= 0x1f1ff) return FLAG
  const character = String.fromCodePoint(point)
  if ((point >= 0x1f3fb && point <= 0x1f3ff) || /[\p{M}\p{Cf}]/u.test(character)) return EXTEND
  if (/[\p{Script=Han}\p{Script=Hiragana}]/u.test(character)) return SINGLE
  if (/\p{Script=Katakana}/u.test(character)) return KATAKANA
  if (/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(character)) {
    return /\p{Nd}/u.test(character) ? DIGIT : /\p{L}/u.test(character) ? RUN : BREAK
  }
  if (/\p{Nd}/u.test(character)) return DIGIT
  if (/\p{Pc}/u.test(character)) return JOINER
  if (/\p{Alphabetic}/u.test(character)) return LETTER
  if (/\p{Emoji_Presentation}/u.test(character)) return EMOJI
  if (/\p{Extended_Pictographic}/u.test(character)) return PICTOGRAPH
  return BREAK
}

/** End of the word of letters, digits and joiners at `start`; `start` itself if there are only joiners. */
const wordEnd = (text: string, start: number): number => {
  let last = kindAt(text, start)
  let hasContent = last !== JOINER
  let at = start + width(text, start)
  while (at < text.length) {
    const kind = kindAt(text, at)
    if (kind === LETTER || kind === DIGIT) {
      hasContent = true
      last = kind
    } else if (kind === JOINER) {
      last = kind
    } else if (kind === MID_LETTER || kind === MID_NUMBER || kind === MID_BOTH) {
      const joined = kind === MID_BOTH ? last : kind === MID_LETTER ? LETTER : DIGIT
      let after = at + 1
      while (after < text.length && kindAt(text, after) === EXTEND) after += width(text, after)
      if (joined === JOINER || joined !== last || after >= text.length || kindAt(text, after) !== last) break
      at = after
    } else if (kind !== EXTEND) {
      break
    }
    at += width(text, at)
  }
  return hasContent ? at : start
}

/** End of the word of any other kind at `start`; `start` itself if there is none. */
const otherEnd = (text: string, start: number, kind: number): number => {
  let at = skipExtend(text, start + width(text, start))
  switch (kind) {
    case KATAKANA:
    case RUN:
      while (at < text.length && kindAt(text, at) === kind) {
        at = skipExtend(text, at + width(text, at))
      }
      return at
    case FLAG:
      return at < text.length && kindAt(text, at) === FLAG ? skipExtend(text, at + 2) : start
    case PICTOGRAPH:
      if (text.charCodeAt(start + width(text, start)) !== 0xfe0f) return start
      return emojiEnd(text, at)
    case EMOJI:
      return emojiEnd(text, at)
    default:
      return at
  }
}

/** Emoji joined by a zero-width joiner are one word. */
const emojiEnd = (text: string, from: number): number => {
  let at = from
  while (at < text.length && text.charCodeAt(at - 1) === 0x200d) {
    const kind = kindAt(text, at)
    if (kind !== EMOJI && kind !== PICTOGRAPH) break
    at = skipExtend(text, at + width(text, at))
  }
  return at
}

const skipExtend = (text: string, from: number): number => {
  let at = from
  while (at < text.length && kindAt(text, at) === EXTEND) at += width(text, at)
  return at
}

/** Skips a non-word. A run of joiners is skipped in one step, which keeps the analysis linear. */
const skip = (text: string, from: number, kind: number): number => {
  let at = from + width(text, from)
  if (kind === JOINER) {
    while (at < text.length && (kindAt(text, at) === JOINER || kindAt(text, at) === EXTEND)) at += width(text, at)
  }
  return at
}

/** Per character, as in Lucene: no final sigma, and the dotted capital I becomes i. */
const lowerCase = (text: string, start: number, end: number): string => {
  let changes = false
  let hasSigma = false
  let hasDottedI = false
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code > 127 ? hasCase(code) : code <= 90 && code >= 65) {
      changes = true
      hasSigma ||= code === CAPITAL_SIGMA
      hasDottedI ||= code === DOTTED_CAPITAL_I
    }
  }
  let word = text.slice(start, end)
  if (!changes) return word
  if (hasSigma) word = word.replaceAll("\u03a3", "\u03c3")
  if (hasDottedI) word = word.replaceAll("\u0130", "i")
  return word.toLowerCase()
}

const CAPITAL_SIGMA = 0x3a3
const DOTTED_CAPITAL_I = 0x130

/** False for scripts without case, Hebrew to Tibetan and the East Asian ones, and for emoji. Other characters may have one. */
const hasCase = (code: number): boolean =>
  !(
    (code >= 0x2e80 && code < 0xa640) ||
    (code >= 0x590 && code < 0x1000) ||
    (code >= 0xac00 && code < 0xd800) ||
    (code >= 0xd83c && code <= 0xd83e) ||
    (code >= 0xdc00 && code <= 0xdfff)
  )
