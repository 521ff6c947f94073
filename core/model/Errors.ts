/** Every failure a caller can act on. Doors map each of them to their wire by `_tag`; anything else is a defect. */
import { Schema } from "effect"
import { WireFix, WireSpan, WireTranslation } from "../syntax/wire.ts"
import { PlatformId } from "./PlatformId.ts"
import { Timestamp } from "./Timestamp.ts"

/** One thing that is wrong with what the caller sent. */
export const ArgumentIssue = Schema.Struct({
  /** Where, as a path into the request: `overrides.x`, `platforms.0`. Empty for the request as a whole. */
  path: Schema.String,
  message: Schema.String,
  /** For a filter: the place in its text. */
  span: Schema.optionalWith(WireSpan, { exact: true }),
  expected: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
  fix: Schema.optionalWith(WireFix, { exact: true }),
  /** For a missing filter: the other platform's one, carried over. */
  suggestion: Schema.optionalWith(WireTranslation, { exact: true })
})
export type ArgumentIssue = typeof ArgumentIssue.Type

export class InvalidArgument extends Schema.TaggedError<InvalidArgument>()("InvalidArgument", {
  issues: Schema.NonEmptyArray(ArgumentIssue)
}) {
  override get message() {
    const [first, ...rest] = this.issues
    const place = first.path === "" ? "" : `"${first.path}": `
    const more = rest.length === 0 ? "" : ` (and ${rest.length} more, see details)`
    return `Request is not valid: ${place}${first.message}${more}`
  }
}

/** No key, a malformed, an unknown or a revoked one: all alike, so that nothing can be probed. */
export class Unauthenticated extends Schema.TaggedError<Unauthenticated>()("Unauthenticated", {}) {
  override get message() {
    return "A valid API key is required: send it as the header Authorization: Bearer <API_KEY>"
  }
}

/** Unknown, malformed, or another account's: all alike. */
export class RuleNotFound extends Schema.TaggedError<RuleNotFound>()("RuleNotFound", { ruleId: Schema.String }) {
  override get message() {
    return `Cannot find rule "${this.ruleId}"`
  }
}

/** Unknown, malformed, or another account's: all alike. */
export class WebhookNotFound extends Schema.TaggedError<WebhookNotFound>()("WebhookNotFound", {
  webhookId: Schema.String
}) {
  override get message() {
    return `Cannot find webhook "${this.webhookId}"`
  }
}

/** Unknown, malformed, another account's, or no longer kept: all alike. */
export class MatchNotFound extends Schema.TaggedError<MatchNotFound>()("MatchNotFound", { matchId: Schema.String }) {
  override get message() {
    return `Cannot find match "${this.matchId}"`
  }
}

export class WebhookLimitReached extends Schema.TaggedError<WebhookLimitReached>()("WebhookLimitReached", {
  limit: Schema.Number,
  used: Schema.Number
}) {
  override get message() {
    return `Cannot create another webhook: ${this.used} of ${this.limit} are in use; delete one first`
  }
}

/** The cursor points to where matches are deleted by now: what follows it there is not to be had. */
export class CursorExpired extends Schema.TaggedError<CursorExpired>()("CursorExpired", {
  /** From when on matches are kept. */
  floor: Timestamp
}) {
  override get message() {
    return `Cannot go on from this cursor: matches from before "${this.floor}" are no longer kept; begin again without a cursor`
  }
}

export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { keyId: Schema.String }) {
  override get message() {
    return `Cannot find key "${this.keyId}"`
  }
}

/** The account holds as many rules on the platform as it may. */
export class RuleLimitReached extends Schema.TaggedError<RuleLimitReached>()("RuleLimitReached", {
  platform: PlatformId,
  limit: Schema.Number,
  used: Schema.Number
}) {
  override get message() {
    return `Cannot create another rule on "${this.platform}": ${this.used} of ${this.limit} are in use; delete one or ask the operator for a higher limit`
  }
}

/** The platform exists but nothing in this deployment serves it. */
export class PlatformNotConfigured extends Schema.TaggedError<PlatformNotConfigured>()("PlatformNotConfigured", {
  platform: PlatformId
}) {
  override get message() {
    return `Platform "${this.platform}" is not configured on this server`
  }
}

/** The platform understood and does not take this filter. */
export class PlatformRefused extends Schema.TaggedError<PlatformRefused>()("PlatformRefused", {
  platform: PlatformId,
  /** In the platform's own words. */
  reason: Schema.String,
  /** What it sent. */
  upstream: Schema.Unknown
}) {
  override get message() {
    return `Platform "${this.platform}" refused the rule: ${this.reason}`
  }
}

/** The platform holds as many rules for this deployment as it takes. */
export class PlatformLimitReached extends Schema.TaggedError<PlatformLimitReached>()("PlatformLimitReached", {
  platform: PlatformId,
  reason: Schema.String,
  upstream: Schema.Unknown
}) {
  override get message() {
    return `Platform "${this.platform}" takes no more rules: ${this.reason}; delete one or ask the operator for a higher limit`
  }
}

/** The platform does not let this deployment in: wrong credential, no access, no credit. The operator can mend it. */
export class PlatformNotReady extends Schema.TaggedError<PlatformNotReady>()("PlatformNotReady", {
  platform: PlatformId,
  reason: Schema.String,
  upstream: Schema.Unknown
}) {
  override get message() {
    return `Platform "${this.platform}" does not let this server in: ${this.reason}`
  }
}

/** The platform could not be reached, did not answer in time, or asks to wait. Trying again later may help. */
export class PlatformUnavailable extends Schema.TaggedError<PlatformUnavailable>()("PlatformUnavailable", {
  platform: PlatformId,
  reason: Schema.String,
  retryAfterSeconds: Schema.optionalWith(Schema.Number, { exact: true }),
  upstream: Schema.optionalWith(Schema.Unknown, { exact: true })
}) {
  override get message() {
    return `Platform "${this.platform}" is not available: ${this.reason}`
  }
}

/** The store did not take the operation; nothing was changed by it. */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()("StorageUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect
}) {
  override get message() {
    return "The store cannot be reached: try again shortly"
  }
}

/** The store understood, and can never hold these matches as they are. */
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
  | RuleNotFound
  | WebhookNotFound
  | WebhookLimitReached
  | MatchNotFound
  | CursorExpired
  | KeyNotFound
  | RuleLimitReached
  | PlatformNotConfigured
  | PlatformRefused
  | PlatformLimitReached
  | PlatformNotReady
  | PlatformUnavailable
  | StorageUnavailable
