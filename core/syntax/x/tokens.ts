/**
 * X's tokenizer, used for rules and posts alike.
 *
 * Punctuation, symbols and separators of the basic plane end a word. Words are lower case and keep their accents. An emoji
 * with all its modifiers is one word; variation selectors are ignored. A run of letters is one word in every script.
 */

import type { Pace, Turns } from "../../work/turns.ts"
import { digitsIn, encodeAscii, lettersIn, lowerCased, BLOCK as MANY, packBits } from "../words/ascii.ts"
import type { Tokens } from "../words/tokens.ts"
import { addBounds, GROUP as FOUR, wordView, writeTokens } from "../words/wordBuffer.ts"

export const tokens = (text: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  const length = text.length
  let start = -1
  let upper = false
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) {
      return wideTokens(text)
    }
    const kind = ascii[code]
    if (kind === SEPARATOR) {
      if (start >= 0) {
        const word = text.slice(start, i)
        words.push(upper ? word.toLowerCase() : word)
        start = -1
        upper = false
      }
    } else {
      if (start < 0) {
        start = i
      }
      if (kind === CAPITAL) {
        upper = true
      }
    }
  }
  if (start >= 0) {
    const word = text.slice(start)
    words.push(upper ? word.toLowerCase() : word)
  }
  return words
}

/** Writes the words of `tokens` to the word buffer, and returns their number. */
export const writeWords = (text: string): number => {
  if (!encodeAscii(text)) return writeTokens(withPositions(wideTokens(text)))
  const { length } = text
  let count = 0
  for (let start = 0; start <= length; start += BLOCK) {
    count = mark(foldBlock(start, Math.min(start + BLOCK, length + 1)), start, count)
  }
  return count >> 1
}

/** Like `tokens`, piece by piece: a space always ends a word. */
export function* analyseInTurns(text: string, pace: Pace): Turns<Tokens> {
  const words: Array<string> = []
  for (let start = 0; start < text.length; ) {
    const space = text.indexOf(" ", start + PIECE)
    const end = space === -1 ? text.length : space
    for (const word of tokens(text.slice(start, end))) words.push(word)
    if (pace.endsTurn(STEPS_PER_CHARACTER * (end - start))) yield
    start = end
  }
  return withPositions(words)
}

const PIECE = 1_000
const STEPS_PER_CHARACTER = 100

/** Consecutive positions: unlike Firehose, X drops no words. `positions` is shared and may be longer than `words`. */
export const withPositions = (words: ReadonlyArray<string>): Tokens => {
  while (consecutive.length < words.length) {
    consecutive.push(consecutive.length)
  }
  return { words, positions: consecutive }
}

// ---- helpers ----

// Local constants are faster in hot loops: V8 resolves an imported binding at every use.
const GROUP = FOUR
const BLOCK = MANY
const row = wordView
const mark = addBounds
const letters = lettersIn
const digits = digitsIn
const lower = lowerCased
const bits = packBits

/** Lower-cases a block in place, and returns a bitset of its word characters. */
const foldBlock = (start: number, end: number): number => {
  const text = row
  let words = 0
  for (let at = start | 0; at < (end | 0); at += GROUP) {
    const four = text.getInt32(at, true)
    const letter = letters(four)
    text.setInt32(at, lower(four, letter), true)
    words |= bits(letter | digits(four)) << at
  }
  return words
}

/** 0, 1, 2, …: shared by all texts. */
const consecutive: Array<number> = []

const SEPARATOR = 0
const LETTER = 1
const CAPITAL = 2
/** Ignored: neither part of a word nor a separator. */
const IGNORED = 3
const EMOJI = 4
/** A symbol such as © or ↔: an emoji only before a variation selector. */
const SYMBOL_OR_EMOJI = 5

const ascii = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  ascii[code] = /[A-Z]/.test(char) ? CAPITAL : /[a-z0-9]/.test(char) ? LETTER : SEPARATOR
}

const VARIATION_SELECTOR = 0xfe0f
const KEYCAP = 0x20e3
const JOINER = 0x200d

function wideTokens(original: string): ReadonlyArray<string> {
  // A letter and its accent can be one character in the rule and two in the post.
  const text = /[\u0300-\u036f]/.test(original) ? original.normalize("NFC") : original
  const words: Array<string> = []
  const length = text.length
  let prefix = ""
  let start = -1
  const flush = (end: number) => {
    const word = start >= 0 ? prefix + text.slice(start, end) : prefix
    if (word !== "") {
      // The form of a lower-case sigma depends on its neighbours, so both forms are treated as one.
      words.push(word.toLowerCase().replaceAll("ς", "σ"))
    }
    prefix = ""
    start = -1
  }
  let i = 0
  while (i < length) {
    const code = text.codePointAt(i) ?? 0
    const width = code > 0xffff ? 2 : 1
    let kind = code < 128 ? ascii[code] : classOf(code)
    if (kind === SYMBOL_OR_EMOJI) {
      kind = text.charCodeAt(i + 1) === VARIATION_SELECTOR ? EMOJI : SEPARATOR
    } else if (code < 128 && isKeycap(text, i)) {
      kind = EMOJI
    }
    if (kind === LETTER || kind === CAPITAL) {
      if (start < 0) {
        start = i
      }
      i += width
    } else if (kind === IGNORED) {
      if (start >= 0) {
        prefix += text.slice(start, i)
        start = -1
      }
      i += width
    } else {
      flush(i)
      if (kind === EMOJI) {
        const end = emojiEnd(text, i)
        words.push(text.slice(i, end).replace(/[\ufe00-\ufe0f]/g, ""))
        i = end
      } else {
        i += width
      }
    }
  }
  flush(length)
  return words
}

function isKeycap(text: string, i: number): boolean {
  const code = text.charCodeAt(i)
  if (!((code >= 48 && code <= 57) || code === 35 || code === 42)) {
    return false
  }
  const next = text.charCodeAt(i + 1)
  return next === KEYCAP || (next === VARIATION_SELECTOR && text.charCodeAt(i + 2) === KEYCAP)
}

function emojiEnd(text: string, start: number): number {
  let i = start
  const first = text.codePointAt(i) ?? 0
  i += first > 0xffff ? 2 : 1
  if (isRegional(first)) {
    return isRegional(text.codePointAt(i) ?? 0) ? i + 2 : i
  }
  for (;;) {
    const code = text.codePointAt(i) ?? 0
    if (code === VARIATION_SELECTOR || code === 0xfe0e || code === KEYCAP) {
      i += 1
    } else if ((code >= 0x1f3fb && code <= 0x1f3ff) || (code >= 0xe0020 && code <= 0xe007f)) {
      i += 2
    } else if (code === JOINER) {
      const joined = text.codePointAt(i + 1) ?? 0
      const kind = joined < 128 ? LETTER : classOf(joined)
      if (kind !== EMOJI && kind !== SYMBOL_OR_EMOJI) {
        return i
      }
      i += joined > 0xffff ? 3 : 2
    } else {
      return i
    }
  }
}

function isRegional(code: number): boolean {
  return code >= 0x1f1e6 && code <= 0x1f1ff
}

/** Character classes in pages of 256 code points, each computed on first use. */
const pages: Array<Uint8Array | undefined> = []

function classOf(code: number): number {
  const page = code >> 8
  let classes = pages[page]
  if (classes === undefined) {
    classes = new Uint8Array(256)
    for (let low = 0; low < 256; low++) {
      classes[low] = classify((page << 8) | low)
    }
    pages[page] = classes
  }
  return classes[code & 255] ?? LETTER
}

function classify(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) {
    return SEPARATOR
  }
  const char = String.fromCodePoint(code)
  if (/\p{Emoji_Presentation}/u.test(char)) {
    return EMOJI
  }
  if (/\p{Extended_Pictographic}/u.test(char)) {
    return code >= 0x2600 ? EMOJI : SYMBOL_OR_EMOJI
  }
  if (code > 0xffff) {
    return LETTER
  }
  if (code >= 0xfe00 && code <= 0xfe0f) {
    return IGNORED
  }
  if (/\p{Cf}/u.test(char)) {
    // A zero-width space separates words; Persian and Indic words contain joiners.
    return code === 0x200b ? SEPARATOR : code === 0x200c || code === JOINER ? LETTER : IGNORED
  }
  return /[\p{P}\p{S}\p{Z}\p{Cc}]/u.test(char) ? SEPARATOR : LETTER
}
