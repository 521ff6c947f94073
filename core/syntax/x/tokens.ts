/**
 * Splits text into the words that X compares. Rules and posts go through this one function, so that they agree.
 *
 * Punctuation, symbols and separators of the basic plane end a word; case is dropped, accents are kept; an emoji with all
 * its modifiers is a word of its own, and variation selectors count for nothing. A run of letters without a separator
 * is one word in every script.
 */

import { bitsOf, digitsIn, encodeAscii, folded, lettersIn, BLOCK as MANY } from "../words/ascii.ts"
import type { Tokens } from "../words/tokens.ts"
import { addBounds, GROUP as FOUR, groups, writeTokens } from "../words/wordRow.ts"

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
    if (kind === separator) {
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
      if (kind === capital) {
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

/** Writes the same words as `tokens` gives to the row of words; gives their number. */
export const writeWords = (text: string): number => {
  if (!encodeAscii(text)) return writeTokens(inARow(wideTokens(text)))
  const { length } = text
  let count = 0
  for (let start = 0; start <= length; start += BLOCK) {
    count = mark(foldBlock(start, Math.min(start + BLOCK, length + 1)), start, count)
  }
  return count >> 1
}

/** With their places: X leaves none empty. */
export const inARow = (words: ReadonlyArray<string>): Tokens => {
  while (counted.length < words.length) {
    counted.push(counted.length)
  }
  return { words, positions: counted }
}

// ---- helpers ----

// What is imported is looked up anew each time it is used; a constant of the module's own is not.
const GROUP = FOUR
const BLOCK = MANY
const row = groups
const mark = addBounds
const letters = lettersIn
const digits = digitsIn
const lower = folded
const bits = bitsOf

/** In lower case from now on; gives the bits of those that are parts of words. */
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

/** 0, 1, 2 and on: one list for all texts, as long as the longest needed. */
const counted: Array<number> = []

const separator = 0
const letter = 1
const capital = 2
/** Part of no word, yet ends none. */
const dropped = 3
const emoji = 4
/** A symbol such as © or ↔, an emoji only when a variation selector says so. */
const symbolOrEmoji = 5

const ascii = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  ascii[code] = /[A-Z]/.test(char) ? capital : /[a-z0-9]/.test(char) ? letter : separator
}

const variationSelector = 0xfe0f
const keycap = 0x20e3
const joiner = 0x200d

function wideTokens(original: string): ReadonlyArray<string> {
  // A post may hold a letter and its accent as two characters where the rule has one, or the other way round.
  const text = /[\u0300-\u036f]/.test(original) ? original.normalize("NFC") : original
  const words: Array<string> = []
  const length = text.length
  let before = ""
  let start = -1
  const flush = (end: number) => {
    const word = start >= 0 ? before + text.slice(start, end) : before
    if (word !== "") {
      // Whether a lower-case sigma is a final one depends on its neighbours, so both forms count as one.
      words.push(word.toLowerCase().replaceAll("ς", "σ"))
    }
    before = ""
    start = -1
  }
  let i = 0
  while (i < length) {
    const code = text.codePointAt(i) ?? 0
    const width = code > 0xffff ? 2 : 1
    let kind = code < 128 ? ascii[code] : classOf(code)
    if (kind === symbolOrEmoji) {
      kind = text.charCodeAt(i + 1) === variationSelector ? emoji : separator
    } else if (code < 128 && isKeycap(text, i)) {
      kind = emoji
    }
    if (kind === letter || kind === capital) {
      if (start < 0) {
        start = i
      }
      i += width
    } else if (kind === dropped) {
      if (start >= 0) {
        before += text.slice(start, i)
        start = -1
      }
      i += width
    } else {
      flush(i)
      if (kind === emoji) {
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
  return next === keycap || (next === variationSelector && text.charCodeAt(i + 2) === keycap)
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
    if (code === variationSelector || code === 0xfe0e || code === keycap) {
      i += 1
    } else if ((code >= 0x1f3fb && code <= 0x1f3ff) || (code >= 0xe0020 && code <= 0xe007f)) {
      i += 2
    } else if (code === joiner) {
      const joined = text.codePointAt(i + 1) ?? 0
      const kind = joined < 128 ? letter : classOf(joined)
      if (kind !== emoji && kind !== symbolOrEmoji) {
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

/** Classes of 256 code points at a time, worked out when the first of them is seen: most texts touch a few pages. */
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
  return classes[code & 255] ?? letter
}

function classify(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) {
    return separator
  }
  const char = String.fromCodePoint(code)
  if (/\p{Emoji_Presentation}/u.test(char)) {
    return emoji
  }
  if (/\p{Extended_Pictographic}/u.test(char)) {
    return code >= 0x2600 ? emoji : symbolOrEmoji
  }
  if (code > 0xffff) {
    return letter
  }
  if (code >= 0xfe00 && code <= 0xfe0f) {
    return dropped
  }
  if (/\p{Cf}/u.test(char)) {
    // The zero-width space parts words; the joiners belong to the spelling of Persian and Indic words.
    return code === 0x200b ? separator : code === 0x200c || code === joiner ? letter : dropped
  }
  return /[\p{P}\p{S}\p{Z}\p{Cc}]/u.test(char) ? separator : letter
}
