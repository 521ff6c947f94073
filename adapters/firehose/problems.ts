/** What Firehose's refusals mean. The shape of its error bodies is not documented: every shape that was seen is read. */
import { Either, Option } from "effect"
import {
  PlatformLimitReached,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable
} from "../../core/model/Errors.ts"
import type { PlatformFailure, RuleRefusal } from "../../core/platforms/Platform.ts"
import { jsonOf, listOf, objectOf, objectsOf, textOf } from "../../core/syntax/json.ts"
import type { Answer } from "../http/call.ts"

/** Firehose understood the call and does not take the text of the rule. */
export const refusalOf = (answer: Answer): RuleRefusal => {
  const reason = wordsOf(answer.text) ?? `it gave no reason (status ${answer.status})`
  const problem = { platform: "firehose", reason, upstream: upstreamOf(answer.text) } as const
  return LIMIT.test(reason) ? new PlatformLimitReached(problem) : new PlatformRefused(problem)
}

/** What it says of a text that it was asked about. How it says so is not documented: only a clear no is one. */
export const verdictOf = ({ text }: Answer): Either.Either<void, RuleRefusal> => {
  const body = objectOf(jsonOf(text))
  const verdict = objectOf(body?.["data"]) ?? body
  if (verdict?.["valid"] !== false) return Either.void
  const errors = objectsOf(verdict["diagnostics"]).filter(({ severity }) => severity !== "warning")
  const words = errors.flatMap(({ message }) => textOf(message) ?? [])
  const reason = words.length === 0 ? "it gave no reason" : shortened(words.join("; "))
  return Either.left(new PlatformRefused({ platform: "firehose", reason, upstream: upstreamOf(text) }))
}

/** Firehose does nothing for us now. `now` is in milliseconds. */
export const failureOf = (answer: Answer, now: number): PlatformFailure => {
  const { status, text } = answer
  const words = wordsOf(text)
  const says = words === undefined ? "" : `; it says "${words}"`
  const problem = { platform: "firehose", upstream: upstreamOf(text) } as const
  const locked = LOCKED[status]
  if (locked !== undefined) return new PlatformNotReady({ ...problem, reason: `${locked}${says}` })
  const wait = waitMillisOf(answer, now)
  return new PlatformUnavailable({
    ...problem,
    reason: status === 429 ? `it asks for fewer calls${says}` : `it answered with status ${status}${says}`,
    ...(Option.isSome(wait) && { retryAfterSeconds: Math.ceil(wait.value / 1_000) })
  })
}

export const unreadable = (): PlatformUnavailable =>
  new PlatformUnavailable({ platform: "firehose", reason: "its answer cannot be read" })

/** How long it asks to wait, in milliseconds; a minute where it does not say so, which is the window of its limits. */
export const waitMillisOf = ({ status, headers }: Answer, now: number): Option.Option<number> => {
  const told = headers.get("retry-after") ?? ""
  const millis = /^\d{1,9}$/.test(told) ? Number(told) * 1_000 : Date.parse(told) - now
  if (!Number.isNaN(millis)) return Option.some(Math.min(Math.max(millis, SHORTEST_WAIT), LONGEST_WAIT))
  return status === 429 ? Option.some(60_000) : Option.none()
}

/** Its own words, in one line; undefined when there are none that were meant for readers. */
export const wordsOf = (text: string): string | undefined => {
  const body = objectOf(jsonOf(text))
  const nested = objectOf(body?.["error"])
  const errors = body?.["errors"]
  const found = [
    body?.["message"],
    nested?.["message"] ?? body?.["error"],
    ...listOf(errors).map((one) => objectOf(one)?.["message"] ?? one),
    ...Object.values(objectOf(errors) ?? {}).flatMap((one) => (Array.isArray(one) ? one : [one]))
  ].flatMap((one) => textOf(one)?.replace(/\.$/, "") ?? [])
  if (found.length > 0) return shortened([...new Set(found)].join("; "))
  // A page of some proxy on the way, or data that is no message.
  return /^\s*([<[{]|$)/.test(text) ? undefined : shortened(text)
}

/** For a line of a log. */
export const shortened = (text: string): string => {
  const line = text
    .slice(0, 4 * MOST_CHARACTERS)
    .replace(/\s+/g, " ")
    .trim()
  return line.length <= MOST_CHARACTERS ? line : `${line.slice(0, MOST_CHARACTERS)}…`
}

// ---- helpers ----

const SHORTEST_WAIT = 1_000
const LONGEST_WAIT = 15 * 60_000

const MOST_CHARACTERS = 300

/** Longer bodies are cut: nobody reads them, and what nests deeper than this cannot be written again. */
const MOST_UPSTREAM = 2_000

const TOKEN_KIND = 'it must be the token of a tap ("fh_…"), not a management key ("fhm_…")'

const LOCKED: Readonly<Record<number, string>> = {
  401: `it does not take the token in FIREHOSE_TAP_TOKEN: ${TOKEN_KIND}`,
  402: "its credit is used up: top it up in the dashboard of Firehose",
  403: `the token in FIREHOSE_TAP_TOKEN may not do this: ${TOKEN_KIND}`
}

/** Of rules, and not of a part of one: those words are about the text. */
const LIMIT =
  /\brules? (limit|quota|cap)\b|\b(limit|quota|maximum|too many)\b.*\b(rules|plan)\b|\brules\b.*\b(limit|quota|maximum)\b/i

const upstreamOf = (text: string): unknown =>
  text.length <= MOST_UPSTREAM ? (jsonOf(text) ?? text) : `${text.slice(0, MOST_UPSTREAM)}…`
