/** Every error that a caller can act on. The gateway maps them by `_tag`; anything else is a defect. */
import { Schema } from "effect"
import { describeOmitted, MAX_ISSUES } from "../text/shownIssues.ts"
import { truncated } from "../text/truncated.ts"
import { kindOf } from "./Ids.ts"
import { optional } from "./optional.ts"
import { PlatformId } from "./PlatformId.ts"
import { Timestamp } from "./Timestamp.ts"
import { WireFix, WireSpan, WireTranslation } from "./wire.ts"

export const ArgumentIssue = Schema.Struct({
  path: Schema.String.annotations({
    description: "Path in the request: overrides.x, platforms.0, line 17. Empty for the whole request"
  }),
  message: Schema.String,
  span: optional(WireSpan, "Of a filter: where in its text"),
  expected: optional(
    Schema.Array(Schema.String),
    "Of a filter, or of a platform to choose: what could be there instead"
  ),
  fix: optional(WireFix, "Of a filter: how to fix it"),
  suggestion: optional(WireTranslation, "For a missing filter: the filter of another platform, translated")
}).annotations({ identifier: "ArgumentIssue" })
export type ArgumentIssue = typeof ArgumentIssue.Type

export class InvalidArgument extends Schema.TaggedError<InvalidArgument>()("InvalidArgument", {
  issues: Schema.NonEmptyArray(ArgumentIssue),
  /** Further issues that were only counted. */
  omitted: Schema.optionalWith(Schema.Number, { default: () => 0 })
}) {
  override get message() {
    const [first, ...rest] = this.issues
    const location = first.path === "" ? "" : `"${truncated(first.path, MAX_PATH)}": `
    const others = rest.length + this.omitted
    const more = others === 0 ? "" : ` (and ${others} more, see details)`
    return `Request is not valid: ${location}${truncated(first.message, MAX_MESSAGE)}${more}`
  }

  /** The issues as a caller sees them: limited in number and length. */
  get shown(): ReadonlyArray<ArgumentIssue> {
    const shown = this.issues.slice(0, MAX_ISSUES).map((issue) => ({
      ...issue,
      path: truncated(issue.path, MAX_PATH),
      message: truncated(issue.message, MAX_MESSAGE)
    }))
    const others = this.issues.length - shown.length + this.omitted
    return others === 0 ? shown : [...shown, { path: "", message: describeOmitted(others) }]
  }
}

/** The same for a mistyped, unknown, expired or revoked key (`refused`), so that keys cannot be probed. */
export class Unauthenticated extends Schema.TaggedError<Unauthenticated>()("Unauthenticated", {
  /** `token`: an access token of a client that signed in. */
  key: Schema.Literal("missing", "unreadable", "refused", "token")
}) {
  override get message() {
    return KEY_PROBLEMS[this.key]
  }
}

/** Decided before the request is read, so it is the same for every id. */
export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()("PermissionDenied", {
  scope: Schema.String,
  needed: Schema.String
}) {
  override get message() {
    return `The key has the scope "${this.scope}", but "${this.needed}" is needed: use another key, or ask an admin of the account for one`
  }
}

/** The same for an unknown or malformed id and for another account's. */
export class RuleNotFound extends Schema.TaggedError<RuleNotFound>()("RuleNotFound", { ruleId: Schema.String }) {
  override get message() {
    return cannotFind("rule", this.ruleId)
  }
}

/** The same for an unknown or malformed id and for another account's. */
export class WebhookNotFound extends Schema.TaggedError<WebhookNotFound>()("WebhookNotFound", {
  webhookId: Schema.String
}) {
  override get message() {
    return cannotFind("webhook", this.webhookId)
  }
}

/** The account has not added it. */
export class FeedNotFound extends Schema.TaggedError<FeedNotFound>()("FeedNotFound", { url: Schema.String }) {
  override get message() {
    return cannotFind("feed", this.url)
  }
}

/** The same for an unknown, malformed or expired id and for another account's. */
export class MatchNotFound extends Schema.TaggedError<MatchNotFound>()("MatchNotFound", { matchId: Schema.String }) {
  override get message() {
    return cannotFind("match", this.matchId)
  }
}

/** The same for an unknown event and for one that another account sent. */
export class EventNotFound extends Schema.TaggedError<EventNotFound>()("EventNotFound", {
  platform: PlatformId,
  /** The platform's id of it. */
  postId: Schema.String,
  /** It was removed from the match. */
  isRedacted: Schema.Boolean
}) {
  override get message() {
    return this.isRedacted
      ? `Cannot find event "${this.postId}" of "${this.platform}": it was removed, for instance because it was deleted on the platform`
      : `Cannot find event "${this.postId}" among the recent events of "${this.platform}": send the event itself as "event"`
  }
}

/** The receiver of a subscription did not prove that it wants the events. */
export class CallbackFailed extends Schema.TaggedError<CallbackFailed>()("CallbackFailed", {
  /** A word for programs, such as `timeout`. */
  reason: Schema.String
}) {
  override get message() {
    return `Callback endpoint failed: ${CALLBACK_PROBLEMS[this.reason] ?? this.reason}`
  }
}

/** A limit of the account, except those on rules. */
export class LimitReached extends Schema.TaggedError<LimitReached>()("LimitReached", {
  name: Schema.String,
  limit: Schema.Number,
  used: Schema.Number,
  /** If the limit starts again with time. */
  retryAfterSeconds: optional(Schema.Number)
}) {
  override get message() {
    const { name, limit, used, retryAfterSeconds } = this
    const remedy = retryAfterSeconds === undefined ? "free some" : `try again in ${retryAfterSeconds} seconds`
    return `The account has reached its limit "${name}": ${used} of ${limit} are used; ${remedy}, or ask the operator for a higher limit`
  }
}

/** The server's limit for the feeds of all accounts. */
export class FeedLimitReached extends Schema.TaggedError<FeedLimitReached>()("FeedLimitReached", {
  limit: Schema.Number
}) {
  override get message() {
    return `The accounts of this server have ${this.limit} feeds, and it reads no more: ask the operator to read it for all accounts with EARSHOT_FEEDS`
  }
}

/** Retention has deleted matches that follow the cursor. */
export class CursorExpired extends Schema.TaggedError<CursorExpired>()("CursorExpired", {
  /** Matches from before this time are deleted. */
  floor: Timestamp
}) {
  override get message() {
    return `Cannot continue from this cursor: matches from before "${this.floor}" are no longer kept; start again without a cursor`
  }
}

/** The same for an unknown or malformed id and for another account's. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { keyId: Schema.String }) {
  override get message() {
    return cannotFind("key", this.keyId)
  }
}

/** Revoked or expired. */
export class KeyInactive extends Schema.TaggedError<KeyInactive>()("KeyInactive", { keyId: Schema.String }) {
  override get message() {
    return `Cannot rotate key "${this.keyId}": it is revoked or expired; create a new key`
  }
}

/** The same for an unknown or malformed id and for another account's. */
export class GrantNotFound extends Schema.TaggedError<GrantNotFound>()("GrantNotFound", { grantId: Schema.String }) {
  override get message() {
    return cannotFind("grant", this.grantId)
  }
}

/** Only whoever has a key may allow a client to act for the account: not a client, and not the operator. */
export class ConsentNeedsKey extends Schema.TaggedError<ConsentNeedsKey>()("ConsentNeedsKey", {}) {
  override get message() {
    return "Access can only be allowed with an API key of the account: sign in to the console with one"
  }
}

/** A request of an OAuth client that gets no token. */
export class TokenRefused extends Schema.TaggedError<TokenRefused>()("TokenRefused", {
  /** As in RFC 6749. */
  error: Schema.Literal("invalid_grant", "invalid_client", "invalid_target", "invalid_scope"),
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

export class LastAdminKey extends Schema.TaggedError<LastAdminKey>()("LastAdminKey", { keyId: Schema.String }) {
  override get message() {
    return `Cannot revoke key "${this.keyId}": it is the last active admin key of the account; create another admin key first, or, as the operator of the server, use earshot keys revoke --force`
  }
}

/** The account's limit, not the platform's. */
export class RuleLimitReached extends Schema.TaggedError<RuleLimitReached>()("RuleLimitReached", {
  platform: PlatformId,
  limit: Schema.Number,
  used: Schema.Number
}) {
  override get message() {
    return `Cannot create another rule on "${this.platform}": ${this.used} of ${this.limit} are in use; delete one or ask the operator for a higher limit`
  }
}

/** The rule cannot be changed in this way now. */
export class RuleNotReady extends Schema.TaggedError<RuleNotReady>()("RuleNotReady", {
  ruleId: Schema.String,
  reason: Schema.Literal("is paused: resume it first", "has a shadow: promote or drop it first")
}) {
  override get message() {
    return `Rule "${this.ruleId}" ${this.reason}`
  }
}

/** The rule exists, but has no shadow. */
export class ShadowNotFound extends Schema.TaggedError<ShadowNotFound>()("ShadowNotFound", { ruleId: Schema.String }) {
  override get message() {
    return `Rule "${this.ruleId}" has no shadow: start one first`
  }
}

/** Someone else has changed the rule in the meantime. */
export class RuleVersionChanged extends Schema.TaggedError<RuleVersionChanged>()("RuleVersionChanged", {
  ruleId: Schema.String,
  expected: Schema.Number,
  version: Schema.Number
}) {
  override get message() {
    return `The rule has version ${this.version}, not ${this.expected}: read it again, then repeat the change`
  }
}

export class PlatformNotConfigured extends Schema.TaggedError<PlatformNotConfigured>()("PlatformNotConfigured", {
  platform: PlatformId
}) {
  override get message() {
    return `Platform "${this.platform}" is not configured on this server`
  }
}

/** The platform rejected this filter. */
export class PlatformRefused extends Schema.TaggedError<PlatformRefused>()("PlatformRefused", {
  platform: PlatformId,
  /** The platform's own message. */
  reason: Schema.String,
  /** The platform's response. */
  upstream: Schema.Unknown
}) {
  override get message() {
    return `Platform "${this.platform}" rejected the filter: ${this.reason}`
  }
}

/** The platform's limit for this deployment. */
export class PlatformLimitReached extends Schema.TaggedError<PlatformLimitReached>()("PlatformLimitReached", {
  platform: PlatformId,
  reason: Schema.String,
  upstream: Schema.Unknown
}) {
  override get message() {
    return `Platform "${this.platform}" accepts no more rules: ${this.reason.replace(/\.$/, "")}; delete a rule, or change the plan at the platform`
  }
}

/** Wrong credential, no access or no credit, or turned off by the operator, who can change it. */
export class PlatformNotReady extends Schema.TaggedError<PlatformNotReady>()("PlatformNotReady", {
  platform: PlatformId,
  reason: Schema.String,
  upstream: Schema.Unknown
}) {
  override get message() {
    return `Platform "${this.platform}" cannot be used by this server: ${this.reason}`
  }
}

/** Unreachable, timed out or rate limited. A later retry may succeed. */
export class PlatformUnavailable extends Schema.TaggedError<PlatformUnavailable>()("PlatformUnavailable", {
  platform: PlatformId,
  reason: Schema.String,
  retryAfterSeconds: optional(Schema.Number),
  upstream: optional(Schema.Unknown)
}) {
  override get message() {
    return `Platform "${this.platform}" is not available: ${this.reason}`
  }
}

/** The first request had another body. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {
  key: Schema.String
}) {
  override get message() {
    return `The idempotency key "${this.key}" was used before with another request: send the same request, or a new key`
  }
}

/** A request with this key is running now. */
export class IdempotencyKeyInUse extends Schema.TaggedError<IdempotencyKeyInUse>()("IdempotencyKeyInUse", {
  key: Schema.String
}) {
  override get message() {
    return `A request with the idempotency key "${this.key}" is still running: send it again shortly to get its answer`
  }
}

/** Why the store cannot be written. */
export const DiskProblem = Schema.Literal("disk_full", "read_only")
export type DiskProblem = typeof DiskProblem.Type

export const describeProblem = (problem: DiskProblem): string =>
  problem === "disk_full"
    ? "The disk of the store is full: nothing can be stored until the operator makes room"
    : "The disk of the store is read-only: nothing can be stored until the operator makes it writable"

/** Nothing was changed, except that `LocalFeed.publish` may have stored part of the events. A retry is safe. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect,
  /** If it is known: the store can be read, but not written. */
  reason: optional(DiskProblem)
}) {
  override get message() {
    return this.reason === undefined ? "The store cannot be reached: try again shortly" : describeProblem(this.reason)
  }
}

/** The server stops before the request is done. */
export class ServerStopping extends Schema.TaggedError<ServerStopping>()("ServerStopping", {}) {
  override get message() {
    return "The server is stopping: send the request again"
  }
}

/** The server has little disk space left, and this account is one of those that store the most. */
export class DiskNearlyFull extends Schema.TaggedError<DiskNearlyFull>()("DiskNearlyFull", {
  /** Bytes of the account's matches. */
  used: Schema.Number
}) {
  override get message() {
    return `The disk of the server is nearly full, and events of the accounts that store the most are refused first: this account stores ${this.used} bytes; delete rules with many matches, or ask the operator to make room`
  }
}

/** Permanent: a retry fails too. */
export class MatchesUnstorable extends Schema.TaggedError<MatchesUnstorable>()("MatchesUnstorable", {
  reason: Schema.String
}) {
  override get message() {
    return `The store cannot hold the match: ${this.reason}`
  }
}

export type CoreError =
  | InvalidArgument
  | Unauthenticated
  | PermissionDenied
  | RuleNotFound
  | WebhookNotFound
  | FeedNotFound
  | LimitReached
  | FeedLimitReached
  | MatchNotFound
  | EventNotFound
  | CursorExpired
  | KeyNotFound
  | KeyInactive
  | LastAdminKey
  | GrantNotFound
  | ConsentNeedsKey
  | RuleLimitReached
  | RuleVersionChanged
  | ShadowNotFound
  | RuleNotReady
  | PlatformNotConfigured
  | PlatformRefused
  | PlatformLimitReached
  | PlatformNotReady
  | PlatformUnavailable
  | IdempotencyKeyReused
  | IdempotencyKeyInUse
  | DiskNearlyFull
  | StoreUnavailable
  | ServerStopping

// ---- helpers ----

const CALLBACK_PROBLEMS: Readonly<Record<string, string>> = {
  not_allowed: "its address is not public, or http is not allowed there: use https and a public address",
  connection_refused: "it cannot be reached: its name has no address, or nothing answers there",
  tls_error: "its certificate or TLS handshake was not accepted",
  timeout: "it did not answer in time",
  http_3xx: "it answered with a redirect, which is not followed",
  http_4xx: "it answered the challenge with an error",
  http_5xx: "it answered the challenge with an error",
  challenge_failed: "its answer has not the same challenge"
}

const KEY_PROBLEMS = {
  missing: "A valid API key is required: send it as the header Authorization: Bearer <API_KEY>",
  unreadable:
    "The header Authorization has no API key in the form Bearer <API_KEY>: send the word Bearer, a space and the key, and nothing else",
  refused:
    "The API key is not known, has expired or was revoked: check that it is copied completely, or ask an admin of the account for a new one",
  token:
    "The access token is not known, has expired or was revoked: get a new one with the refresh token, or sign in again"
}

/** Says so if the id is one of another kind. */
const cannotFind = (what: "rule" | "webhook" | "feed" | "match" | "key" | "grant", id: string): string => {
  const kind = kindOf(id)
  const isOther = kind !== undefined && kind !== `a ${what}`
  return `Cannot find ${what} "${id}"${isOther ? `: this is the id of ${kind}` : ""}`
}

/** In characters, per issue. */
const MAX_PATH = 200
const MAX_MESSAGE = 500
