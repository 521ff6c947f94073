/** Identifiers: a UUIDv7 in the store, `prefix_` and 26 characters of lower-case base32 on the wire. */
import { Context, Effect, Layer, Schema } from "effect"
import { Entropy } from "./Entropy.ts"

export const AccountId = idSchema("acct").pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

export const KeyId = idSchema("key").pipe(Schema.brand("KeyId"))
export type KeyId = typeof KeyId.Type

export const RuleId = idSchema("rule").pipe(Schema.brand("RuleId"))
export type RuleId = typeof RuleId.Type

/** The id in a caller's text, if it is one. */
export const asRuleId = Schema.decodeUnknownOption(RuleId)

export const MatchId = idSchema("match").pipe(Schema.brand("MatchId"))
export type MatchId = typeof MatchId.Type

export const WebhookId = idSchema("webhook").pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

export const AttemptId = idSchema("attempt").pipe(Schema.brand("AttemptId"))
export type AttemptId = typeof AttemptId.Type

/** Mints ids. Ids of one process sort by the order in which they were minted, in either form. */
export class Ids extends Context.Tag("core/Ids")<
  Ids,
  {
    readonly account: Effect.Effect<AccountId>
    readonly key: Effect.Effect<KeyId>
    readonly rule: Effect.Effect<RuleId>
    /** So many at once: the first is random, the others follow it. */
    readonly matches: (count: number) => Effect.Effect<ReadonlyArray<MatchId>>
    readonly webhook: Effect.Effect<WebhookId>
    readonly attempt: Effect.Effect<AttemptId>
  }
>() {
  static readonly layer: Layer.Layer<Ids, never, Entropy> = Layer.effect(
    Ids,
    Effect.map(Entropy, ({ uuid }) =>
      Ids.of({
        account: Effect.sync(() => fromUuid("acct", uuid())),
        key: Effect.sync(() => fromUuid("key", uuid())),
        rule: Effect.sync(() => fromUuid("rule", uuid())),
        matches: (count) => Effect.sync(() => matchesAfter(fromUuid("match", uuid()), count)),
        webhook: Effect.sync(() => fromUuid("webhook", uuid())),
        attempt: Effect.sync(() => fromUuid("attempt", uuid()))
      })
    )
  )
}

interface IdOf {
  readonly acct: AccountId
  readonly key: KeyId
  readonly rule: RuleId
  readonly match: MatchId
  readonly webhook: WebhookId
  readonly attempt: AttemptId
}

type AnyId = IdOf[keyof IdOf]

/** `rule_01…` for a UUID in its usual lower-case hexadecimal form. Keeps the order of the UUIDs. */
export const fromUuid = <P extends keyof IdOf>(prefix: P, uuid: string): IdOf[P] => {
  let out = `${prefix}_`
  // 128 bits are 26 groups of 5 with two zero bits in front.
  let bits = 2
  let buffer = 0
  for (let i = 0; i < uuid.length; i++) {
    const nibble = hexValue(uuid.charCodeAt(i))
    if (nibble < 0) continue
    buffer = (buffer << 4) | nibble
    bits += 4
    if (bits >= 5) {
      bits -= 5
      out += ALPHABET[(buffer >> bits) & 31]
      buffer &= (1 << bits) - 1
    }
  }
  // Well-formed by construction; the schema's own check would cost more than the encoding.
  return out as IdOf[P]
}

/** The UUID inside an id that one of the schemas above has accepted. */
export const toUuid = (id: AnyId): string => {
  let hex = ""
  let bits = -2
  let buffer = 0
  for (let i = id.length - 26; i < id.length; i++) {
    buffer = (buffer << 5) | (VALUES[id.charCodeAt(i)] ?? 0)
    bits += 5
    while (bits >= 4) {
      bits -= 4
      hex += HEX[(buffer >> bits) & 15]
    }
    buffer &= (1 << bits) - 1
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** No match of that time, in milliseconds, or of a later one has a smaller id. */
export const firstMatchAt = (time: number): MatchId => {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, "0")
  return fromUuid("match", `${hex}-7000-8000-000000000000`)
}

/** So many ids right after this one, in order. */
export const matchesAfter = (last: MatchId, count: number): ReadonlyArray<MatchId> => {
  const number = BigInt(`0x${toUuid(last).replaceAll("-", "")}`)
  const end = Number(number & LOW_BITS)
  // Nearly always only the end changes, and no more than that is counted on.
  if (end + count < 2 ** 30) {
    const start = last.slice(0, -6)
    // As well-formed as the one before.
    return Array.from({ length: count }, (_, i) => (start + base32(end + i + 1)) as MatchId)
  }
  return Array.from({ length: count }, (_, i) =>
    fromUuid("match", (number + BigInt(i + 1)).toString(16).padStart(32, "0"))
  )
}

/** When the id was made, in milliseconds. An id that someone made up may say anything. */
export const timeOf = (id: AnyId): number => Number.parseInt(toUuid(id).slice(0, 13).replace("-", ""), 16)

// ---- helpers ----

/** Crockford's base32: in the order of its ASCII codes, without the letters that read as digits. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

/** By the code of the character. */
const VALUES = new Uint8Array(128)
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i

const HEX = "0123456789abcdef"

/** What the last six characters of an id hold. */
const LOW_BITS = 2n ** 30n - 1n

const base32 = (bits: number): string => {
  let out = ""
  for (let shift = 25; shift >= 0; shift -= 5) out += ALPHABET[(bits >> shift) & 31]
  return out
}

function idSchema(prefix: keyof IdOf) {
  return Schema.String.pipe(
    Schema.pattern(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`), {
      description: "An opaque identifier; identifiers sort by the time of their creation"
    })
  )
}

const hexValue = (code: number): number =>
  code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : -1
