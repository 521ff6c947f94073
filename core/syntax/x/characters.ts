/** Character classes of X's rule language. */

/** Includes control characters, which are reported separately. */
export const isSpace = (code: number): boolean => code <= 32 || code === 127

/** Unicode spaces that X does not accept as white space. */
export const isOddSpace = (code: number): boolean =>
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000

/** Invisible characters that copying brings into a rule. Excludes the joiners that some scripts need. */
export const isInvisible = (code: number): boolean =>
  code === 0x200b ||
  code === 0x200e ||
  code === 0x200f ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  code === 0xfeff ||
  code === 0xad ||
  code === 0x61c

/** Applies to keywords and to values without quotes. */
export const startsKeyword = (code: number): boolean => {
  if (code < 0x7b) {
    return asciiStart[code] === 1
  }
  return !(
    code <= 0xbf ||
    (code >= 0x2b0 && code <= 0x37f) ||
    (code >= 0x2000 && code <= 0x2bff) ||
    (code >= 0xff00 && code <= 0xff03) ||
    (code >= 0xff05 && code <= 0xff0f) ||
    isOddSpace(code) ||
    isInvisible(code)
  )
}

/** Letters, digits, marks, `_` and the few signs that scripts use inside words. */
export const isHashtag = (text: string): boolean => hashtag.test(text)

export const isAsciiAlphanumeric = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)

export const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Quotes that users and word processors write instead of a straight double quote. */
export const curlyQuotes = "“”„‟«»″＂"
export const singleQuotes = "'‘’‚`′"

/** Parentheses of Chinese and Japanese keyboards. */
export const FULL_WIDTH_OPEN = "（"
export const FULL_WIDTH_CLOSE = "）"

/** Removes trailing punctuation. A regular expression would take quadratic time. */
export const trimPunctuation = (text: string): string => {
  let end = text.length
  while (end > 0 && !/[\p{L}\p{N}\p{M}_\p{Cs}]/u.test(text.charAt(end - 1))) {
    end--
  }
  return text.slice(0, end)
}

// ---- helpers ----

const asciiStart = new Uint8Array(0x7b)
for (let code = 33; code < 0x7b; code++) {
  asciiStart[code] = "!%&\\'()*+-./;<=>?,:#@\"[]_$".includes(String.fromCharCode(code)) ? 0 : 1
}

const hashtag =
  /^[\p{L}\p{N}\p{M}_\u200c-\u200d\ua67e\u05be\u05f3\u05f4\uff5e\u301c\u309b\u309c\u30a0\u30fb\u3003\u0f0b\u0f0c\u00b7]+$/u
