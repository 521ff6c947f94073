/** Identifiers: a UUIDv7 in the store, `prefix_` and 26 characters of lower-case base32 on the wire. */
import { Context, Effect, Layer, Schema } from "effect"
import { Entropy } from "./Entropy.ts"

export const AccountId = idSchema("acct").pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

export const KeyId = idSchema("key").pipe(Schema.brand("KeyId"))
export type KeyId = typeof KeyId.Type

export const RuleId = idSchema("rule").pipe(Schema.brand("RuleId"))
export type RuleId = typeof RuleId.Type

export const asRuleId = Schema.decodeUnknownOption(RuleId)

export const MatchId = idSchema("match").pipe(Schema.brand("MatchId"))
export type MatchId = typeof MatchId.Type

export const WebhookId = idSchema("webhook").pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

export const AttemptId = idSchema("attempt").pipe(Schema.brand("AttemptId"))
export type AttemptId = typeof AttemptId.Type

export const GrantId = idSchema("grant").pipe(Schema.brand("GrantId"))
export type GrantId = typeof GrantId.Type

/** Ids of one process sort in the order of creation, as text and as UUIDs. */
export class Ids extends Context.Tag("core/Ids")<
  Ids,
  {
    readonly account: Effect.Effect<AccountId>
    readonly key: Effect.Effect<KeyId>
    readonly rule: Effect.Effect<RuleId>
    /** The first id is random, the others count up from it. */
    readonly matches: (count: number) => Effect.Effect<ReadonlyArray<MatchId>>
    readonly webhook: Effect.Effect<WebhookId>
    readonly attempt: Effect.Effect<AttemptId>
    readonly grant: Effect.Effect<GrantId>
  }
>() {
  static readonly layer: Layer.Layer<Ids, never, Entropy> = Layer.effect(
    Ids,
    Effect.map(Entropy, ({ uuid }) =>
      Ids.of({
        account: Effect.sync(() => fromUuid("acct", uuid())),
        key: Effect.sync(() => fromUuid("key", uuid())),
        rule: Effect.sync(() => fromUuid("rule", uuid())),
        matches: (count) => Effect.sync(() => matchIdsAfter(fromUuid("match", uuid()), count)),
        webhook: Effect.sync(() => fromUuid("webhook", uuid())),
        attempt: Effect.sync(() => fromUuid("attempt", uuid())),
        grant: Effect.sync(() => fromUuid("grant", uuid()))
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
  readonly grant: GrantId
}

type AnyId = IdOf[keyof IdOf]

/** For an error message: `a match` for `match_…`. Undefined without a known prefix. */
export const kindOf = (id: string): string | undefined => {
  const [, prefix = ""] = /^([a-z]+)_/.exec(id) ?? []
  return kinds.get(prefix)
}

/** `rule_01…` for a UUID in lower-case hexadecimal. Preserves the order of UUIDs. */
export const fromUuid = <P extends keyof IdOf>(prefix: P, uuid: string): IdOf[P] => {
  // 26 groups of 5 bits hold 128 bits and two leading zeros.
  let bits = 2
  let buffer = 0
  let at = 0
  for (let i = 0; i < uuid.length; i++) {
    const nibble = hexValue(uuid.charCodeAt(i))
    if (nibble < 0) continue
    buffer = (buffer << 4) | nibble
    bits += 4
    if (bits >= 5) {
      bits -= 5
      codes[at++] = ALPHABET.charCodeAt((buffer >> bits) & 31)
      buffer &= (1 << bits) - 1
    }
  }
  // Valid by construction; the schema's check would cost more than the encoding.
  return `${prefix}_${String.fromCharCode(...codes)}` as IdOf[P]
}

/** Expects a valid id. */
export const toUuid = (id: AnyId): string => {
  let hex = ""
  let bits = -2
  let buffer = 0
  for (let i = id.length - 26; i < id.length; i++) {
    buffer = (buffer << 5) | (base32Values[id.charCodeAt(i)] ?? 0)
    bits += 5
    while (bits >= 4) {
      bits -= 4
      hex += HEX[(buffer >> bits) & 15]
    }
    buffer &= (1 << bits) - 1
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** A lower bound for the ids of matches from that time (milliseconds) on. */
export const firstMatchIdAt = (time: number): MatchId => {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, "0")
  return fromUuid("match", `${hex}-7000-8000-000000000000`)
}

/** The next `count` ids, in order. */
export const matchIdsAfter = (last: MatchId, count: number): ReadonlyArray<MatchId> => {
  const number = BigInt(`0x${toUuid(last).replaceAll("-", "")}`)
  const end = Number(number & LOW_BITS)
  // Fast path: only the last six characters change.
  if (end + count < 2 ** 30) {
    const start = last.slice(0, -6)
    // Valid because `last` is.
    return Array.from({ length: count }, (_, i) => (start + base32(end + i + 1)) as MatchId)
  }
  return Array.from({ length: count }, (_, i) =>
    fromUuid("match", (number + BigInt(i + 1)).toString(16).padStart(32, "0"))
  )
}

/** Creation time in milliseconds. An id sent by a client may hold any time. */
export const timeOf = (id: AnyId): number => Number.parseInt(toUuid(id).slice(0, 13).replace("-", ""), 16)

// ---- helpers ----

const kindByPrefix: Readonly<Record<keyof IdOf, string>> = {
  acct: "an account",
  key: "a key",
  rule: "a rule",
  match: "a match",
  webhook: "a webhook",
  attempt: "a delivery attempt",
  grant: "a grant"
}

const kinds: ReadonlyMap<string, string> = new Map(Object.entries(kindByPrefix))

/** Crockford's base32: sorts in ASCII order and omits letters that look like digits. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

/** Of the id that is being encoded: adding letter by letter makes garbage for each. */
const codes = new Uint8Array(26)

/** Indexed by character code. */
const base32Values = new Uint8Array(128)
for (let i = 0; i < ALPHABET.length; i++) base32Values[ALPHABET.charCodeAt(i)] = i

const HEX = "0123456789abcdef"

/** The bits in the last six characters of an id. */
const LOW_BITS = 2n ** 30n - 1n

const base32 = (bits: number): string => {
  let out = ""
  for (let shift = 25; shift >= 0; shift -= 5) out += ALPHABET[(bits >> shift) & 31]
  return out
}

function idSchema(prefix: keyof IdOf) {
  return Schema.String.pipe(
    Schema.pattern(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`), {
      description: "An opaque identifier; identifiers sort by creation time"
    })
  )
}

const hexValue = (code: number): number =>
  code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : -1
