/** A cursor before all matches since a time: the smallest match id of that time. An id is a UUIDv7 in base32. */
import type { Match } from "../client.ts"

export const cursorAt = (millis: number): Match["id"] => {
  const hex = `${Math.max(0, Math.floor(millis)).toString(16).padStart(12, "0")}7000${"8000".padEnd(16, "0")}`
  let rest = BigInt(`0x${hex}`)
  let text = ""
  for (let i = 0; i < LENGTH; i++) {
    text = ALPHABET.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  // Valid by construction.
  return `match_${text}` as Match["id"]
}

// ---- helpers ----

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const LENGTH = 26
