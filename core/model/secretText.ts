/** The text of secrets that clients send: API keys, and the codes and tokens of OAuth. */

/** API key; access token, refresh token and authorization code of OAuth. */
export type SecretPrefix = "es_" | "eat_" | "ert_" | "eac_"

/** A prefix, 32 random characters and 6 of checksum. */
export const makeSecret = (random: (length: number) => Uint8Array, prefix: SecretPrefix = "es_"): string => {
  let secret = ""
  while (secret.length < SECRET_LENGTH) {
    for (const byte of random(SECRET_LENGTH * 2)) {
      // 248 is the largest multiple of 62 in a byte. Larger bytes would bias the choice of characters.
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += BASE62[byte % 62]
    }
  }
  return `${prefix}${secret}${checksum(secret)}`
}

/** True for the format of our secrets with a wrong checksum. Saves a query. */
export const isMistyped = (secret: string): boolean => {
  const [, random = "", sum] = FORMAT.exec(secret) ?? []
  return sum !== undefined && checksum(random) !== sum
}

// ---- helpers ----

const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 6

const FORMAT = /^(?:es|eat|ert|eac)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const checksum = (text: string): string => {
  let rest = crc32(text)
  let out = ""
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    out = BASE62.charAt(rest % 62) + out
    rest = Math.floor(rest / 62)
  }
  return out
}

const crc32 = (text: string): number => {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
    }
  }
  return (crc ^ 0xffffffff) >>> 0
}
