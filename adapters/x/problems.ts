/** What X says when it does not do as it is asked, as the errors of the port. */
import {
  PlatformLimitReached,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable
} from "../../core/model/Errors.ts"
import type { PlatformFailure, RuleRefusal } from "../../core/platforms/Platform.ts"
import { type JsonObject, jsonOf, objectOf, objectsOf, textOf, textsOf } from "../../core/syntax/json.ts"
import type { Answer } from "../http/call.ts"
import { secondsUntilReset } from "./limits.ts"

/** One problem, wherever it stood: in a body, in the `errors` of one, or in the stream. */
export interface Problem {
  /** The last part of its type, which is the same for both hosts: "usage-capped". */
  readonly kind: string
  readonly title: string
  /** In X's own words; empty when it has none. */
  readonly words: string
  /** "TooManyConnections" and the like. */
  readonly connectionIssue: string | undefined
}

/** Old answers wrap their only problem in `errors`; others list there what is wrong with the request. */
export const problemIn = (body: unknown): Problem => {
  const whole = objectOf(body) ?? {}
  const errors = objectsOf(whole["errors"])
  const isWrapped = textOf(whole["title"]) === undefined && textOf(whole["type"]) === undefined
  const problem = (isWrapped ? errors[0] : undefined) ?? whole
  const title = textOf(problem["title"]) ?? ""
  const listed = errors.flatMap((error) => textOf(error["message"]) ?? [])
  const details = [...textsOf(problem["details"]), ...listed]
  return {
    kind: textOf(problem["type"])?.split("/").at(-1) ?? "",
    title,
    words: shortened(details.length > 0 ? details.join("; ") : (textOf(problem["detail"]) ?? title)),
    connectionIssue: textOf(problem["connection_issue"])
  }
}

/** For an answer that is no success. */
export const failureOf = (answer: Answer, now: number): PlatformFailure | RuleRefusal => {
  const { status, headers } = answer
  const upstream = bodyOf(answer)
  const problem = problemIn(upstream)
  const said = `it answered ${status}${problem.words === "" ? "" : ` (${problem.words})`}`
  const notReady = notReadyReason(problem, status)
  if (notReady !== undefined) return new PlatformNotReady({ platform: "x", reason: notReady, upstream })
  if (isRuleCap(problem)) return new PlatformLimitReached({ platform: "x", reason: problem.words, upstream })
  if (status === 429) {
    const retryAfterSeconds = secondsUntilReset(headers, now) ?? SECONDS_WITHOUT_RESET
    return new PlatformUnavailable({ platform: "x", reason: said, retryAfterSeconds, upstream })
  }
  return BAD_REQUESTS.has(status)
    ? new PlatformRefused({ platform: "x", reason: problem.words === "" ? said : problem.words, upstream })
    : new PlatformUnavailable({ platform: "x", reason: said, upstream })
}

/** For what X says about one rule in an answer that is a success as a whole. */
export const refusalOf = (error: JsonObject): RuleRefusal => {
  const problem = problemIn(error)
  const reason = problem.words === "" ? "it gives no reason" : problem.words
  const refusal = { platform: "x", reason, upstream: error } as const
  return isRuleCap(problem) ? new PlatformLimitReached(refusal) : new PlatformRefused(refusal)
}

export const isDuplicate = (error: JsonObject): boolean => {
  const { kind, title } = problemIn(error)
  return kind === "duplicate-rules" || title === "DuplicateRule"
}

/** Why X does not let us in, with what to look at; undefined when that is not the problem. */
export const notReadyReason = ({ kind, title, words }: Problem, status?: number): string | undefined => {
  const inItsWords = words === "" ? "" : ` (${words})`
  if (kind === "usage-capped" || title === "UsageCapExceeded") {
    return `the posts that the plan allows in this period are used up${inItsWords}`
  }
  if (status === 402 || title === "CreditsDepleted") {
    return `the account is out of credit: add some in X's developer console${inItsWords}`
  }
  if (status === 401) return `it does not know the token: check X_BEARER_TOKEN${inItsWords}`
  if (kind === "unsupported-authentication") {
    return `it asks for the bearer token of an app, not of a user: check X_BEARER_TOKEN${inItsWords}`
  }
  return status === 403 ? `the plan of the app has no access to the filtered stream${inItsWords}` : undefined
}

/** For logs and messages: upstream texts can be of any length. */
export const shortened = (text: string): string => (text.length <= MOST_WORDS ? text : `${text.slice(0, MOST_WORDS)}…`)

// ---- helpers ----

const MOST_WORDS = 500

/** Error bodies are small; what is larger is not worth keeping whole. */
const MOST_BODY = 10_000

/** A minute is what X asks for after the first 429. */
const SECONDS_WITHOUT_RESET = 60

/** It is what we sent that X does not take. */
const BAD_REQUESTS: ReadonlySet<number> = new Set([400, 413, 422])

const isRuleCap = ({ kind, title }: Problem): boolean => kind === "rule-cap" || title === "RulesCapExceeded"

const bodyOf = ({ text }: Answer): unknown =>
  text.length <= MOST_BODY ? (jsonOf(text) ?? shortened(text)) : shortened(text)
