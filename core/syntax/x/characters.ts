/** Which characters may stand where in a rule: white space, starts of keywords, parts of hashtags. */

/** Control characters count as white space here; they are reported apart. */
export const isSpace = (code: number): boolean => code <= 32 || code === 127

/** Spaces that look like one and are none to X. */
export const isOddSpace = (code: number): boolean =>
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000

/** Characters without a shape that get into a rule by copying. The joiners that spelling needs are not among them. */
export const isInvisible = (code: number): boolean =>
  code === 0x200b ||
  code === 0x200e ||
  code === 0x200f ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  code === 0xfeff ||
  code === 0xad ||
  code === 0x61c

/** Whether a keyword, or a value without quotes, may begin with this code unit. */
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

/** Whether the whole text can be a hashtag: letters, digits, marks, `_` and the few signs that scripts need inside words. */
export const isHashtag = (text: string): boolean => hashtag.test(text)

export const isAsciiAlphanumeric = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)

/** The text without the punctuation at its end. Walks backwards, because a pattern would try every run of it. */
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
