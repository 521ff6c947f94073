/** A subscription of an MCP client: a webhook with a body, a secret and an end of its own. */
import { Option } from "effect"
import type { Caller } from "../keys/Key.ts"
import type { AccountId, GrantId, KeyId, RuleId } from "../model/Ids.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { WebhookEvent } from "./Webhook.ts"

/** The types of events, by what a webhook calls them. */
export const EVENT_NAMES = {
  "match.created": "match",
  "match.redacted": "match.redacted",
  "coverage.gap": "coverage.gap"
} as const satisfies Readonly<Record<string, WebhookEvent>>
export type EventName = keyof typeof EVENT_NAMES

/**
 * Why a subscription ends before it expires: its key or grant was revoked or has expired, its rules were deleted, or its
 * account deleted it.
 */
export type EndReason = "key" | "rule" | "deleted"

export interface NewSubscription {
  /** `sub_…`: the same for the same principal, URL, event and arguments. */
  readonly id: string
  readonly event: EventName
  readonly key: KeyId
  /** What the client was allowed, if it signed in without a key. */
  readonly grant: Option.Option<GrantId>
  /** The client's own name. */
  readonly client: Option.Option<string>
  readonly expiresAt: Timestamp
  /** A rule that was made for it, and is deleted with it. */
  readonly ownRule: Option.Option<RuleId>
}

export interface Subscription extends NewSubscription {
  readonly ended: Option.Option<EndReason>
}

/** Who subscribes. Tokens change, so they are no part of it. */
export interface Principal {
  readonly id: string
  readonly key: KeyId
  readonly grant: Option.Option<GrantId>
}

/** None for a local caller, which has no key to end with. */
export const principalOf = ({ account, key, grant }: Caller): Option.Option<Principal> =>
  Option.map(Option.fromNullable(key), (key) => ({
    id: `${account} ${grant?.client ?? key}`,
    key,
    grant: Option.fromNullable(grant?.id)
  }))

/** `sha256` in hexadecimal. */
export const subscriptionIdOf = (
  sha256: (text: string) => string,
  identity: {
    readonly principal: Principal
    readonly url: string
    readonly name: string
    readonly arguments: unknown
  }
): string => {
  const { principal, url, name } = identity
  return `sub_${sha256(canonicalJson([principal.id, url, name, identity.arguments])).slice(0, 32)}`
}

/** The rules of a subscription are those of its account only. */
export interface SubscriptionKey {
  readonly account: AccountId
  readonly id: string
}

// ---- helpers ----

/** With sorted keys: two orders of the same arguments are one subscription. */
const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join()}}`
}
