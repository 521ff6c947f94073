/** Maps Firehose's error responses to core errors. Error bodies are not documented: this reads every known shape. */

import { Either, Option } from "effect"
import {
  PlatformLimitReached,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable
} from "../../core/model/Errors.ts"
import type { Acceptance, PlatformFailure, RuleRefusal } from "../../core/platforms/Platform.ts"
import { jsonOf, listOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { truncated } from "../../core/text/truncated.ts"
import type { Answer } from "../http/call.ts"
import { retryAfterMillis } from "../http/retryAfter.ts"

/** For a response that refuses a rule text. */
export const refusalOf = (answer: Answer): RuleRefusal => {
  const reason = messageIn(answer.text) ?? `it gave no reason (status ${answer.status})`
  const problem = { platform: "firehose", reason, upstream: upstreamOf(answer.text) } as const
  return ruleLimitPattern.test(reason) ? new PlatformLimitReached(problem) : new PlatformRefused(problem)
}

/** The result of a validation. Its format is not documented: only an explicit `valid` of true or false is a verdict. */
export const verdictOf = ({ text }: Answer): Either.Either<Acceptance, RuleRefusal> => {
  const body = objectOf(jsonOf(text))
  const verdict = objectOf(body?.["data"]) ?? body
  if (verdict?.["valid"] !== false) return Either.right(verdict?.["valid"] === true ? "confirmed" : "presumed")
  const errors = objectsOf(verdict["diagnostics"]).filter(({ severity }) => severity !== "warning")
  const messages = errors.flatMap(({ message }) => textOf(message) ?? [])
  const reason = messages.length === 0 ? "it gave no reason" : oneLine(messages.join("; "))
  return Either.left(new PlatformRefused({ platform: "firehose", reason, upstream: upstreamOf(text) }))
}

/** For any other error response. `now` is in milliseconds. */
export const failureOf = (answer: Answer, now: number): PlatformFailure => {
  const { status, text } = answer
  const message = messageIn(text)
  const suffix = message === undefined ? "" : `; it says "${message}"`
  const problem = { platform: "firehose", upstream: upstreamOf(text) } as const
  const notReady = notReadyReasons[status]
  if (notReady !== undefined) return new PlatformNotReady({ ...problem, reason: `${notReady}${suffix}` })
  const wait = waitMillisOf(answer, now)
  return new PlatformUnavailable({
    ...problem,
    reason: `${status === 429 ? "the rate limit is reached" : `it answered with status ${status}`}${suffix}`,
    ...(Option.isSome(wait) && { retryAfterSeconds: Math.ceil(wait.value / 1_000) })
  })
}

export const unreadable = (): PlatformUnavailable =>
  new PlatformUnavailable({ platform: "firehose", reason: "its response cannot be read" })

/** From Retry-After, in milliseconds. A 429 without it means a minute, the window of the rate limits. */
export const waitMillisOf = ({ status, headers }: Answer, now: number): Option.Option<number> => {
  const millis = retryAfterMillis(headers.get("retry-after"), now)
  if (millis !== undefined) return Option.some(Math.min(Math.max(millis, MIN_WAIT_MILLIS), MAX_WAIT_MILLIS))
  return status === 429 ? Option.some(60_000) : Option.none()
}

/** The message in an error body, in one line; undefined when there is none for people to read. */
export const messageIn = (text: string): string | undefined => {
  const body = objectOf(jsonOf(text))
  const nested = objectOf(body?.["error"])
  const errors = body?.["errors"]
  const found = [
    body?.["message"],
    nested?.["message"] ?? body?.["error"],
    ...listOf(errors).map((one) => objectOf(one)?.["message"] ?? one),
    ...Object.values(objectOf(errors) ?? {}).flatMap((one) => (Array.isArray(one) ? one : [one]))
  ].flatMap((one) => textOf(one)?.replace(/\.$/, "") ?? [])
  if (found.length > 0) return oneLine([...new Set(found)].join("; "))
  // HTML of a proxy, or JSON without a message.
  return /^\s*([<[{]|$)/.test(text) ? undefined : oneLine(text)
}

/** Truncated, for logs and messages. */
export const oneLine = (text: string): string => {
  const line = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(/\s+/g, " ")
    .trim()
  return truncated(line, MAX_CHARACTERS)
}

// ---- helpers ----

const MIN_WAIT_MILLIS = 1_000
const MAX_WAIT_MILLIS = 15 * 60_000

const MAX_CHARACTERS = 300

/** Longer bodies are truncated, which also limits their nesting depth. */
const MAX_UPSTREAM = 2_000

const TOKEN_REMEDY = 'set it to the token of a tap ("fh_…"), not a management key'

const notReadyReasons: Readonly<Record<number, string>> = {
  401: `Firehose rejects FIREHOSE_TAP_TOKEN: ${TOKEN_REMEDY}`,
  402: "the credit is used up: top it up in the Firehose dashboard",
  403: `FIREHOSE_TAP_TOKEN has no access: ${TOKEN_REMEDY}`
}

/** Matches a limit on the number of rules, not a limit inside of one rule. */
const ruleLimitPattern =
  /\brules? (limit|quota|cap)\b|\b(limit|quota|maximum|too many)\b.*\b(rules|plan)\b|\brules\b.*\b(limit|quota|maximum)\b/i

const upstreamOf = (text: string): unknown =>
  (text.length <= MAX_UPSTREAM ? jsonOf(text) : undefined) ?? truncated(text, MAX_UPSTREAM)
