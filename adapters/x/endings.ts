/** Why a connection to X's stream ended or could not be opened. */
import { jsonOf } from "../../core/text/json.ts"
import type { Answer, Unreachable } from "../http/call.ts"
import { Ended } from "../http/supervised.ts"
import { secondsUntilReset, secondsUntilUsageReset } from "./limits.ts"
import { failureOf, isUsageCap, notReadyReason, type Problem, problemIn } from "./problems.ts"

/** X sends a keep-alive every 20 seconds. */
export const SILENCE_SECONDS = 30

/** For one line, also on a slow connection. */
export const LINE_SECONDS = 60

export const endedByNetwork = ({ reason }: Unreachable): Ended =>
  new Ended({ kind: "cut", reason: `The connection failed: ${reason}` })

/** For a problem that X reports in an open stream. */
export const endedInStream = (problem: Problem, reason: string): Ended => {
  if (isUsageCap(problem)) return new Ended({ kind: "limited", reason, refusal: "cap" })
  return notReadyReason(problem) === undefined
    ? new Ended({ kind: isTooManyConnections(problem) ? "failed" : "cut", reason })
    : new Ended({ kind: "failed", reason, refusal: refusalBy(problem) })
}

/** For a status other than 200. */
export const endedByAnswer = (answer: Answer, now: number): Ended => {
  const failure = failureOf(answer, now)
  const reason = capitalized(failure.reason)
  const problem = problemIn(jsonOf(answer.text))
  if (isUsageCap(problem)) {
    const seconds = secondsUntilUsageReset(answer.headers, now)
    return new Ended({ kind: "limited", reason, refusal: "cap", ...waitOf(seconds) })
  }
  if (failure._tag === "PlatformNotReady") {
    return new Ended({ kind: "failed", reason, refusal: refusalBy(problem, answer.status) })
  }
  if (answer.status === 409 && noRulesIssues.includes(problem.connectionIssue)) {
    return new Ended({ kind: "unruled", reason })
  }
  if (isTooManyConnections(problem)) return new Ended({ kind: "failed", reason: TOO_MANY_CONNECTIONS })
  if (answer.status !== 429) return new Ended({ kind: "failed", reason })
  return new Ended({ kind: "limited", reason, ...waitOf(secondsUntilReset(answer.headers, now)) })
}

export const endedSilent: Ended = new Ended({
  kind: "stalled",
  reason: `No data came for ${SILENCE_SECONDS} s, not even a keep-alive`
})

/** A keep-alive is a line, too: this is a line that does not end. */
export const endedUnfinished: Ended = new Ended({
  kind: "stalled",
  reason: `No line ended for ${LINE_SECONDS} s`
})

export const POSTS_MISSING = "X counts posts that the stream did not send"

export const endedDeaf = (silentSince: number): Ended =>
  new Ended({ kind: "stalled", reason: POSTS_MISSING, silentSince })

/** Nothing is proved: the gap is only that of the new connection. */
export const endedUnproved = (minutes: number): Ended =>
  new Ended({ kind: "stalled", reason: `No post came for ${minutes} min: connecting anew to make sure` })

/**
 * Comes as a 429, but is not a rate limit: X still counts a broken connection for some seconds, for instance after a
 * restart. A wait of a minute would lose a minute of posts.
 */
export const isTooManyConnections = ({ connectionIssue }: Problem): boolean => connectionIssue === "TooManyConnections"

// ---- helpers ----

/** Other issues with status 409 are not about missing rules. */
const noRulesIssues: ReadonlyArray<string | undefined> = ["RuleConfigurationIssue", undefined]

const TOO_MANY_CONNECTIONS =
  "X counts another connection of this app: a broken one expires after a while, one of another program does not"

const refusalBy = ({ title }: Problem, status?: number): NonNullable<Ended["refusal"]> =>
  status === 402 || title === "CreditsDepleted" ? "credit" : "not_configured"

const waitOf = (seconds: number | undefined) => (seconds === undefined ? {} : { waitMillis: seconds * 1_000 })

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
