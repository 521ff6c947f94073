/** API keys: `es_`, 32 random characters, 6 of checksum. Only the digest of a key is stored. */
import { Schema } from "effect"
import { AccountId, KeyId } from "../model/Ids.ts"
import { Timestamp } from "../model/Timestamp.ts"

export const Key = Schema.Struct({
  id: KeyId,
  account_id: AccountId,
  account: Schema.String,
  name: Schema.String,
  /** The first characters of the key, so that its owner can recognize it. */
  hint: Schema.String,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
})
export type Key = typeof Key.Type

const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 6

export const makeSecret = (random: (length: number) => Uint8Array): string => {
  let secret = ""
  while (secret.length < SECRET_LENGTH) {
    for (const byte of random(SECRET_LENGTH * 2)) {
      // 248 is the largest multiple of 62 in a byte. Larger bytes would bias the choice of characters.
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += BASE62[byte % 62]
    }
  }
  return `es_${secret}${checksum(secret)}`
}

/** True for the format of our keys with a wrong checksum. Saves a query. */
export const isMistyped = (secret: string): boolean =>
  /^es_[0-9A-Za-z]{38}$/.test(secret) &&
  checksum(secret.slice(3, 3 + SECRET_LENGTH)) !== secret.slice(3 + SECRET_LENGTH)

export const hintOf = (secret: string): string => `${secret.slice(0, 8)}…`

// ---- helpers ----

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
