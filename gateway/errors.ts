/** Maps every failure to `{code, message, details}` and a status, for all interfaces. */
import { Cause, Data } from "effect"
import type { ErrorDetails } from "../api/ErrorDetails.ts"
import type { CoreError } from "../core/model/Errors.ts"
import { WINDOW_SECONDS } from "../core/quotas/Limit.ts"
import type { Rate } from "../core/quotas/Quotas.ts"
import { nearest } from "../core/text/nearest.ts"
import { truncated } from "../core/text/truncated.ts"

export const ERROR_CODES = [
  "invalid_argument",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "unimplemented",
  "resource_exhausted",
  "failed_precondition",
  "aborted",
  "unavailable",
  "internal",
  "canceled"
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

export interface WireError {
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
  readonly details: ErrorDetails
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that fails before a use case is called: wrong path, wrong method, unreadable body. */
export class RequestError extends Data.TaggedError("RequestError")<WireError> {}

export type DoorFailure = CoreError | RequestError

export const toWire = (failure: DoorFailure): WireError =>
  // The table has an entry for every `_tag`; TypeScript cannot relate the entry to the member of the union.
  bounded((wire[failure._tag] as (failure: DoorFailure) => WireError)(failure))

/** `known`: the paths of which the nearest is suggested. */
export const noSuchPath = (path: string, known: Iterable<string> = []) => {
  const suggestion = nearest(path, known)
  const hint = suggestion === undefined ? "" : ` did you mean "${suggestion}"?`
  return new RequestError({
    status: 404,
    code: "not_found",
    message: `Cannot find path "${path.slice(0, 200)}":${hint} GET /openapi.json lists all paths, and GET /docs shows them in a browser`,
    details: {}
  })
}

export const methodNotAllowed = (method: string, path: string, allowed: ReadonlyArray<string>) =>
  new RequestError({
    status: 405,
    code: "unimplemented",
    message: `${path} does not accept ${method}: use ${allowed.join(" or ")}`,
    details: { allowed },
    headers: { allow: allowed.join(", ") }
  })

/** A request that a web page of another site sent through the user's browser. */
export const foreignCaller = (header: "Host" | "Origin", value: string | null) =>
  new RequestError({
    status: 403,
    code: "permission_denied",
    message: `${header} ${value === null ? "is missing" : `"${value.slice(0, 100)}" is not allowed`}: call this server as localhost, 127.0.0.1 or [::1]`,
    details: { header }
  })

export const operatorsOnly = (path: string) =>
  new RequestError({
    status: 403,
    code: "permission_denied",
    message: `${path} is for the operator of the server, and no key of an account allows it: ask the operator, who may call it on the operator's socket in the data folder, or anywhere with the key in the server's setting EARSHOT_OPERATOR_KEY`,
    details: { needed: "operator" }
  })

/** Closes the connection, because the rest of the upload is not read. */
export const bodyTooLarge = (limit: number, actual?: number) =>
  new RequestError({
    status: 413,
    code: "invalid_argument",
    message: `Request body is too large: ${actual === undefined ? "" : `it has ${actual} bytes, and `}at most ${limit} bytes are allowed`,
    details: { limit },
    headers: { connection: "close" }
  })

export const wrongContentType = (actual: string | null, expected: ReadonlyArray<string>, hint?: string) =>
  new RequestError({
    status: 415,
    code: "invalid_argument",
    message: [
      `Content-Type must be ${expected.join(" or ")}, but is ${actual === null ? "missing" : `"${actual.slice(0, 100)}"`}`,
      ...(hint === undefined ? [] : [hint])
    ].join(": "),
    details: { expected }
  })

export const unreadableBody = (message: string) =>
  new RequestError({ status: 400, code: "invalid_argument", message, details: { issues: [{ path: "", message }] } })

/** Of JSON-RPC, which tRPC and MCP use. */
export const INVALID_REQUEST = -32_600
export const PARSE_ERROR = -32_700

/** The response body for bytes that are not an HTTP request. */
export const unreadableRequest: string = JSON.stringify({
  code: "invalid_argument",
  message: "Request cannot be read: it is not valid HTTP, or its address and headers are longer than 16 KiB",
  details: {}
})

/** Without details of the defect, which are in the log under the request id. */
export const internal: WireError = {
  status: 500,
  code: "internal",
  message: "Internal error: the log has it under the request id",
  details: {}
}

export const canceled: WireError = {
  status: 499,
  code: "canceled",
  message: "The client closed the connection",
  details: {}
}

/** The error for a cause without a failure. `isGone`: whether the client has disconnected, which interrupts its request. */
export const wireOfCause = (cause: Cause.Cause<unknown>, isGone: () => boolean): WireError => {
  if (!Cause.isInterruptedOnly(cause)) return internal
  return isGone() ? canceled : interrupted
}

/** As in draft-ietf-httpapi-ratelimit-headers-11. */
export const rateHeaders = ({ limit, remaining, resetSeconds }: Rate): Readonly<Record<string, string>> => ({
  "ratelimit-policy": `"default";q=${limit};w=${WINDOW_SECONDS}`,
  ratelimit: `"default";r=${remaining};t=${resetSeconds}`
})

// ---- helpers ----

const RETRY_AFTER_SECONDS = 5

/** While the client waited, so that it sends the request again. */
const interrupted: WireError = {
  status: 503,
  code: "unavailable",
  message: "The server interrupted the request because it stops, or because another server took over: send it again",
  details: {},
  headers: { "retry-after": "1" }
}

/** In characters. Messages and details repeat ids from the request, which may be of any length. */
const MAX_TEXT = 1_000

const bounded = (error: WireError): WireError => ({
  ...error,
  message: truncated(error.message, MAX_TEXT),
  // Only texts change, and they stay texts.
  details: Object.fromEntries(
    Object.entries(error.details).map(([name, value]) => [
      name,
      typeof value === "string" ? truncated(value, MAX_TEXT) : value
    ])
  ) as ErrorDetails
})

const wire: { readonly [Tag in DoorFailure["_tag"]]: (failure: Extract<DoorFailure, { _tag: Tag }>) => WireError } = {
  RequestError: (error) => error,
  InvalidArgument: ({ message, shown }) => ({
    status: 400,
    code: "invalid_argument",
    message,
    details: { issues: shown }
  }),
  Unauthenticated: ({ message }) => ({
    status: 401,
    code: "unauthenticated",
    message,
    details: {},
    headers: { "www-authenticate": "Bearer" }
  }),
  PermissionDenied: ({ message, scope, needed }) => ({
    status: 403,
    code: "permission_denied",
    message,
    details: { scope, needed }
  }),
  RuleNotReady: ({ message, ruleId }) => ({
    status: 400,
    code: "failed_precondition",
    message,
    details: { rule_id: ruleId }
  }),
  ShadowNotFound: ({ message, ruleId }) => ({
    status: 400,
    code: "failed_precondition",
    message,
    details: { rule_id: ruleId }
  }),
  RuleVersionChanged: ({ message, expected, version }) => ({
    status: 409,
    code: "aborted",
    message,
    details: { expected_version: expected, version }
  }),
  RuleNotFound: ({ message, ruleId }) => ({ status: 404, code: "not_found", message, details: { rule_id: ruleId } }),
  WebhookNotFound: ({ message, webhookId }) => ({
    status: 404,
    code: "not_found",
    message,
    details: { webhook_id: webhookId }
  }),
  FeedNotFound: ({ message }) => ({ status: 404, code: "not_found", message, details: {} }),
  FeedLimitReached: ({ message, limit }) => ({ status: 429, code: "resource_exhausted", message, details: { limit } }),
  MatchNotFound: ({ message, matchId }) => ({
    status: 404,
    code: "not_found",
    message,
    details: { match_id: matchId }
  }),
  EventNotFound: ({ message, platform, postId }) => ({
    status: 404,
    code: "not_found",
    message,
    details: { platform, platform_post_id: postId }
  }),
  LimitReached: ({ message, name, limit, used, retryAfterSeconds }) => ({
    status: 429,
    code: "resource_exhausted",
    message,
    details: { name, limit, used },
    ...(retryAfterSeconds !== undefined && {
      headers: {
        "retry-after": String(retryAfterSeconds),
        ...(name === "requests" && rateHeaders({ limit, remaining: 0, resetSeconds: retryAfterSeconds }))
      }
    })
  }),
  CursorExpired: ({ message, floor }) => ({ status: 400, code: "failed_precondition", message, details: { floor } }),
  KeyNotFound: ({ message, keyId }) => ({ status: 404, code: "not_found", message, details: { key_id: keyId } }),
  KeyInactive: ({ message, keyId }) => ({
    status: 400,
    code: "failed_precondition",
    message,
    details: { key_id: keyId }
  }),
  GrantNotFound: ({ message, grantId }) => ({
    status: 404,
    code: "not_found",
    message,
    details: { grant_id: grantId }
  }),
  ConsentNeedsKey: ({ message }) => ({ status: 403, code: "permission_denied", message, details: { needed: "key" } }),
  LastAdminKey: ({ message, keyId }) => ({
    status: 400,
    code: "failed_precondition",
    message,
    details: { key_id: keyId }
  }),
  RuleLimitReached: ({ message, platform, limit, used }) => ({
    status: 429,
    code: "resource_exhausted",
    message,
    details: { platform, limit, used }
  }),
  PlatformNotConfigured: ({ message, platform }) => ({
    status: 400,
    code: "failed_precondition",
    message,
    details: { platform }
  }),
  PlatformRefused: ({ message, platform, reason, upstream }) => ({
    status: 400,
    code: "invalid_argument",
    message,
    details: { issues: [{ path: `overrides.${platform}`, message: reason }], platform, upstream }
  }),
  PlatformLimitReached: ({ message, platform, upstream }) => ({
    status: 429,
    code: "resource_exhausted",
    message,
    details: { platform, upstream }
  }),
  PlatformNotReady: ({ message, platform, upstream }) => ({
    status: 400,
    code: "failed_precondition",
    message,
    details: { platform, upstream }
  }),
  PlatformUnavailable: ({ message, platform, retryAfterSeconds = RETRY_AFTER_SECONDS, upstream }) => ({
    status: 503,
    code: "unavailable",
    message,
    details: { platform, ...(upstream !== undefined && { upstream }) },
    headers: { "retry-after": String(retryAfterSeconds) }
  }),
  IdempotencyKeyReused: ({ message, key }) => ({
    status: 422,
    code: "invalid_argument",
    message,
    details: { issues: [{ path: "idempotency_key", message }], idempotency_key: key }
  }),
  IdempotencyKeyInUse: ({ message, key }) => ({
    status: 409,
    code: "aborted",
    message,
    details: { idempotency_key: key },
    headers: { "retry-after": "1" }
  }),
  DiskNearlyFull: ({ message, used }) => ({
    status: 429,
    code: "resource_exhausted",
    message,
    details: { name: "disk", used }
  }),
  StoreUnavailable: ({ message, reason }) => ({
    status: 503,
    code: "unavailable",
    message,
    details: reason === undefined ? {} : { reason },
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) }
  }),
  ServerStopping: ({ message }) => ({ ...interrupted, message })
}
