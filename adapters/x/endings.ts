/** How a connection to X's stream ended, or why there was none. */
import { jsonOf } from "../../core/syntax/json.ts"
import type { Answer, Unreachable } from "../http/call.ts"
import { Ended } from "../http/supervised.ts"
import { secondsUntilReset } from "./limits.ts"
import { failureOf, notReadyReason, type Problem, problemIn } from "./problems.ts"

export const endedByNetwork = ({ reason }: Unreachable): Ended =>
  new Ended({ kind: "cut", reason: `The connection failed: ${reason}` })

/** X says so in the stream itself. */
export const endedByWord = (problem: Problem, reason: string): Ended =>
  notReadyReason(problem) === undefined
    ? new Ended({ kind: isTaken(problem) ? "failed" : "cut", reason })
    : new Ended({ kind: "failed", reason, refusal: refusalBy(problem) })

/** X answered, but not with a stream. */
export const endedByAnswer = (answer: Answer, now: number): Ended => {
  const failure = failureOf(answer, now)
  const reason = capitalised(failure.reason)
  const problem = problemIn(jsonOf(answer.text))
  if (failure._tag === "PlatformNotReady") {
    return new Ended({ kind: "failed", reason, refusal: refusalBy(problem, answer.status) })
  }
  if (answer.status === 409 && ISSUES_WITHOUT_RULES.includes(problem.connectionIssue)) {
    return new Ended({ kind: "unruled", reason })
  }
  if (isTaken(problem)) return new Ended({ kind: "failed", reason: TAKEN })
  if (answer.status !== 429) return new Ended({ kind: "failed", reason })
  const seconds = secondsUntilReset(answer.headers, now)
  return new Ended({ kind: "limited", reason, ...(seconds !== undefined && { waitMillis: seconds * 1_000 }) })
}

export const silent = (silentSince: number): Ended =>
  new Ended({ kind: "stalled", reason: `Nothing came for ${SILENCE_SECONDS} s, not even a sign of life`, silentSince })

/** X sends a sign of life every 20 seconds. */
export const SILENCE_SECONDS = 30

export const tooQuiet = (millis: number, now: number): Ended =>
  new Ended({
    kind: "stalled",
    reason: `No post came for ${Math.round(millis / 60_000)} min, which is unusual here, so it may have gone deaf`,
    silentSince: now - millis
  })

// ---- helpers ----

/** Other issues that come with 409 are not about rules that are missing. */
const ISSUES_WITHOUT_RULES: ReadonlyArray<string | undefined> = ["RuleConfigurationIssue", undefined]

/**
 * Has nothing to do with the limit of calls, although it comes as a 429: a connection that was not closed in order
 * counts for some seconds more, as after a restart, and a minute of waiting would be a minute of posts.
 */
const isTaken = ({ connectionIssue }: Problem): boolean => connectionIssue === "TooManyConnections"

const TAKEN =
  "X counts another connection of this app: one that broke is let go after a while, one of another program is not"

const refusalBy = ({ kind, title }: Problem, status?: number): NonNullable<Ended["refusal"]> => {
  if (kind === "usage-capped" || title === "UsageCapExceeded") return "cap"
  return status === 402 || title === "CreditsDepleted" ? "credit" : "not_configured"
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
