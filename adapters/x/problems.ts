/** Maps X's error responses to core errors. */

import {
  PlatformLimitReached,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable
} from "../../core/model/Errors.ts"
import type { PlatformFailure, RuleRefusal } from "../../core/platforms/Platform.ts"
import { type JsonObject, jsonOf, objectOf, objectsOf, textOf, textsOf } from "../../core/text/json.ts"
import { truncated } from "../../core/text/truncated.ts"
import type { Answer } from "../http/call.ts"
import { secondsUntilReset } from "./limits.ts"

/** A problem from a response body, from its `errors`, or from the stream. */
export interface Problem {
  /** The last path segment of its type URL, for instance "usage-capped". X uses two hosts. */
  readonly kind: string
  readonly title: string
  /** X's own message; empty when there is none. */
  readonly detail: string
  /** For instance "TooManyConnections". */
  readonly connectionIssue: string | undefined
}

/** Old responses wrap a single problem in `errors`; newer ones list the mistakes of the request there. */
export const problemIn = (body: unknown): Problem => {
  const whole = objectOf(body) ?? {}
  const errors = objectsOf(whole["errors"])
  const isWrapped = textOf(whole["title"]) === undefined && textOf(whole["type"]) === undefined
  const problem = (isWrapped ? errors[0] : undefined) ?? whole
  const title = textOf(problem["title"]) ?? ""
  const messages = errors.flatMap((error) => textOf(error["message"]) ?? [])
  const details = [...textsOf(problem["details"]), ...messages]
  return {
    kind: textOf(problem["type"])?.split("/").at(-1) ?? "",
    title,
    detail: truncated(details.length > 0 ? details.join("; ") : (textOf(problem["detail"]) ?? title), MAX_CHARACTERS),
    connectionIssue: textOf(problem["connection_issue"])
  }
}

/** For a response that is not a success. */
export const failureOf = (answer: Answer, now: number): PlatformFailure | RuleRefusal => {
  const { status, headers } = answer
  const upstream = bodyOf(answer)
  const problem = problemIn(upstream)
  const statusReason = `X answered ${status}${inBrackets(problem.detail)}`
  const notReady = notReadyReason(problem, status)
  if (notReady !== undefined) return new PlatformNotReady({ platform: "x", reason: notReady, upstream })
  if (isRuleCap(problem)) return new PlatformLimitReached({ platform: "x", reason: problem.detail, upstream })
  if (status === 429) {
    const retryAfterSeconds = secondsUntilReset(headers, now) ?? DEFAULT_RETRY_SECONDS
    return new PlatformUnavailable({ platform: "x", reason: statusReason, retryAfterSeconds, upstream })
  }
  return badRequestStatuses.has(status)
    ? new PlatformRefused({ platform: "x", reason: problem.detail === "" ? statusReason : problem.detail, upstream })
    : new PlatformUnavailable({ platform: "x", reason: statusReason, upstream })
}

/** For the error of one rule in a successful response. */
export const refusalOf = (error: JsonObject): RuleRefusal => {
  const problem = problemIn(error)
  const reason = problem.detail === "" ? "X gave no reason" : problem.detail
  const refusal = { platform: "x", reason, upstream: error } as const
  return isRuleCap(problem) ? new PlatformLimitReached(refusal) : new PlatformRefused(refusal)
}

export const isDuplicate = (error: JsonObject): boolean => {
  const { kind, title } = problemIn(error)
  return kind === "duplicate-rules" || title === "DuplicateRule"
}

/** Why X denies access, with what to check; undefined for other problems. */
export const notReadyReason = ({ kind, title, detail }: Problem, status?: number): string | undefined => {
  const suffix = inBrackets(detail)
  if (isUsageCap({ kind, title })) {
    return `the plan's posts for this period are used up${suffix}`
  }
  if (status === 402 || title === "CreditsDepleted") {
    return `the account is out of credit: add some in X's developer console${suffix}`
  }
  if (status === 401) return `X rejects the token: check X_BEARER_TOKEN${suffix}`
  if (kind === "unsupported-authentication") {
    return `X requires an app's bearer token, not a user's: check X_BEARER_TOKEN${suffix}`
  }
  return status === 403 ? `the app's plan has no access to the filtered stream${suffix}` : undefined
}

/** The plan's posts for this period are used up. Comes as a 429, but is not a rate limit. */
export const isUsageCap = ({ kind, title }: Pick<Problem, "kind" | "title">): boolean =>
  kind === "usage-capped" || title === "UsageCapExceeded"

/** Of a text from X in a message. */
export const MAX_CHARACTERS = 500

// ---- helpers ----

/** Larger error bodies are truncated. */
const MAX_BODY = 10_000

/** X asks for a minute after the first 429. */
const DEFAULT_RETRY_SECONDS = 60

const badRequestStatuses: ReadonlySet<number> = new Set([400, 413, 422])

const isRuleCap = ({ kind, title }: Problem): boolean => kind === "rule-cap" || title === "RulesCapExceeded"

const inBrackets = (detail: string): string => (detail === "" ? "" : ` (${detail})`)

const bodyOf = ({ text }: Answer): unknown =>
  (text.length <= MAX_BODY ? jsonOf(text) : undefined) ?? truncated(text, MAX_CHARACTERS)
