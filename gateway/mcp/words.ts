/** What the tools say to a language model: what came of the call, and what to call next. */

import { Schema } from "effect"
import type { Match } from "../../core/matches/Match.ts"
import type { MatchList, WaitResult } from "../../core/matches/Matches.ts"
import { counted } from "../../core/model/counted.ts"
import { ArgumentIssue } from "../../core/model/Errors.ts"
import type { Rule } from "../../core/rules/Rule.ts"
import type { CheckedFilter, CheckResult } from "../../core/rules/RuleCheck.ts"
import type { createRule } from "../operations.ts"
import type { Refusal } from "./calls.ts"
import { fenced, shown, shownWords } from "./untrusted.ts"

export const checkedInWords = ({ platforms }: CheckResult, args: unknown, secret: string): string => {
  const checked = Object.entries(platforms)
  const isValid = checked.every(([, filter]) => filter?.valid === true)
  const samples = checked.flatMap(([, filter]) => filter?.backtest?.samples ?? [])
  return [
    ...checked.flatMap(([platform, filter]) =>
      filter === undefined ? [] : [filterInWords(platform, filter, sentFilter(args, platform))]
    ),
    ...(samples.length === 0 ? [] : [`Samples of what it matched:\n${fenced(secret, samples)}`]),
    isValid ? "Next: create_rule, if this is what is meant" : "Next: mend the filter and call check_rule again"
  ].join("\n\n")
}

export const createdInWords = ({ rule_id, platforms }: Created, cursor: string): string =>
  [
    `Created ${rule_id}. It is watched from now on:`,
    ...Object.entries(platforms).flatMap(([platform, registered]) =>
      registered === undefined
        ? []
        : [
            `- ${platform}: ${shown(registered.translated_value, MOST_OF_A_FILTER)}`,
            ...(registered.warnings ?? []).map((issue) => `  ${issueInWords(issue)}`)
          ]
    ),
    `Next: wait_for_matches with {"rule_id": "${rule_id}", "cursor": "${cursor}"}`
  ].join("\n")

export const rulesInWords = (rules: ReadonlyArray<Rule>): string =>
  rules.length === 0
    ? "There are no rules yet. Next: platform_syntax and check_rule, then create_rule"
    : [`${counted(rules.length, "rule")}, newest first:`, ...rules.map(ruleInWords)].join("\n")

export const listedInWords = ({ matches, next_cursor, coverage }: MatchList, secret: string): string => {
  const newest = matches[0]?.id
  return [
    matchesInWords(matches, "newest first", secret),
    `Watched: ${coverage.platforms.map(coverageInWords).join("; ")}`,
    ...(coverage.kept_since === undefined ? [] : [`Matches from before ${coverage.kept_since} are no longer kept`]),
    ...(next_cursor === undefined ? [] : [`There are older ones: call list_matches with cursor "${next_cursor}"`]),
    newest === undefined
      ? "Next: wait_for_matches, for what comes from now on"
      : `Next: for what comes after the first of these, wait_for_matches with cursor "${newest}"`
  ].join("\n\n")
}

export const waitedInWords = ({ matches, cursor }: WaitResult, secret: string): string =>
  [
    matches.length === 0
      ? "Nothing matched in this time. That is no error"
      : matchesInWords(matches, "oldest first", secret),
    `Next: to go on waiting, wait_for_matches with cursor "${cursor}"`
  ].join("\n\n")

/** What went wrong and what to do about it. */
export const refusalInWords = ({ code, message, details }: Refusal): string =>
  [
    `${code}: ${shownWords(message)}`,
    ...issuesIn(details).map((issue) => `- ${issue.path === "" ? "" : `${issue.path}: `}${issueInWords(issue)}`),
    `Next: ${nextAfter(code, details)}`
  ].join("\n")

// ---- helpers ----

type Created = (typeof createRule)["output"]["Type"]

/** In characters. */
const MOST_OF_A_FILTER = 2_000
const MOST_OF_A_SENTENCE = 1_000

const filterInWords = (platform: string, filter: CheckedFilter, sent: string): string =>
  [
    filter.canonical === undefined
      ? `${platform}: not valid`
      : `${platform}: valid; it would be registered as ${shown(filter.canonical, MOST_OF_A_FILTER)}`,
    ...filter.issues.map((issue) => `- ${issue.severity}: ${issueInWords(issue, sent)}`),
    ...Object.entries(filter.translations).flatMap(([other, translation]) =>
      translation === undefined
        ? []
        : [
            translation.text === undefined
              ? `- for ${other} there is no such filter${translation.reason === undefined ? "" : `: ${translation.reason}`}`
              : `- the same for ${other} (${translation.fidelity}): ${shown(translation.text, MOST_OF_A_FILTER)}`
          ]
    ),
    ...(filter.explanation === undefined
      ? []
      : [
          `- ${filter.explanation.matched ? "matches" : "does not match"} the event you gave: ${filter.explanation.clauses
            .map(({ held, description }) => `${held ? "yes" : "no"}, ${description}`)
            .join("; ")}`
        ]),
    ...(filter.backtest === undefined ? [] : [`- ${backtestInWords(filter.backtest)}`]),
    ...(filter.platform_verdict === undefined
      ? []
      : [
          filter.platform_verdict.accepted
            ? `- ${platform} itself would take it`
            : `- ${platform} itself would refuse it: ${shownWords(filter.platform_verdict.reason ?? "without a reason")}`
        ])
  ].join("\n")

const backtestInWords = ({ tested, matched, per_hour, note }: NonNullable<CheckedFilter["backtest"]>): string =>
  [
    `it matched ${matched} of the newest ${tested} events`,
    ...(per_hour === undefined ? [] : [`about ${Math.round(per_hour * 10) / 10} an hour`]),
    ...(note === undefined ? [] : [note])
  ].join("; ")

/** `sent` is the text in which the place is. */
const issueInWords = ({ message, span, expected, fix, suggestion }: AnyIssue, sent?: string): string =>
  [
    message,
    ...(span === undefined ? [] : [placeInWords(span, sent)]),
    ...(expected === undefined || expected.length === 0 ? [] : [`expected ${expected.slice(0, 12).join(", ")}`]),
    ...(fix === undefined ? [] : [`fix: ${fix.message}, so that it reads ${shown(fix.text, MOST_OF_A_FILTER)}`]),
    ...(suggestion?.text === undefined
      ? []
      : [`suggestion (${suggestion.fidelity}): ${shown(suggestion.text, MOST_OF_A_FILTER)}`])
  ].join("; ")

type AnyIssue = Partial<ArgumentIssue> & { readonly message: string }

/** Counted from 1, as the messages do. */
const placeInWords = ({ start, end }: { readonly start: number; readonly end: number }, sent = ""): string =>
  start === end
    ? `after character ${start}`
    : `at characters ${start + 1} to ${end}${sent === "" ? "" : `, which are ${shown(sent.slice(start, end), 100)}`}`

const ruleInWords = ({ id, name, intent, platforms, created_at }: Rule): string =>
  [
    `- ${id}, ${shown(name, MOST_OF_A_SENTENCE)}, created ${created_at}; intent: ${shown(intent, MOST_OF_A_SENTENCE)}`,
    ...Object.entries(platforms).flatMap(([platform, held]) =>
      held === undefined
        ? []
        : [
            `  ${platform}, ${held.state}${held.reason === undefined ? "" : ` (${shownWords(held.reason)})`}: ${shown(held.translated_value, MOST_OF_A_FILTER)}`
          ]
    )
  ].join("\n")

const matchesInWords = (matches: ReadonlyArray<Match>, order: string, secret: string): string =>
  matches.length === 0
    ? "No matches"
    : `${counted(matches.length, "match", `matches, ${order}`)}\n${fenced(secret, matches)}`

const coverageInWords = ({ platform, watched_since, gaps }: MatchList["coverage"]["platforms"][number]): string => {
  if (watched_since === undefined) return `${platform} never yet`
  const lost = gaps.filter(({ recovered }) => !recovered)
  const [newest] = lost
  return newest === undefined
    ? `${platform} since ${watched_since} without a gap in this time`
    : `${platform} since ${watched_since}, not in ${lost.length} gaps, the last from ${newest.from} ${newest.to === undefined ? "on" : `to ${newest.to}`} (${newest.cause})`
}

const nextAfter = (code: string, details: Refusal["details"]): string => {
  switch (code) {
    case "invalid_argument":
      return issuesIn(details).some(({ path }) => path.startsWith("overrides"))
        ? "mend the filter (check_rule checks it without saving anything, platform_syntax explains the language) and call again"
        : "mend the arguments by the schema of this tool and call again"
    case "not_found":
      return "list_rules gives the ids of the rules there are; take one of them as it stands"
    case "resource_exhausted":
      return "list_rules, and with the consent of the user delete_rule for one that is no longer needed; or leave that platform out; or ask the operator for a higher limit"
    case "failed_precondition":
      return "floor" in details
        ? "call again without cursor: matches older than floor are gone, so tell the user that some may have been missed"
        : "leave that platform out, or tell the user that the operator of the server has to set it up"
    case "unavailable":
      return "wait some seconds and call again; if it stays so, tell the user"
    case "unauthenticated":
      return "tell the user that the API key is not valid; it cannot be mended by another call"
    default:
      return "do not repeat the call; tell the user what happened"
  }
}

const issuesIn = (details: Refusal["details"]): ReadonlyArray<ArgumentIssue> =>
  isWithIssues(details) ? details.issues : []

const isWithIssues = Schema.is(Schema.Struct({ issues: Schema.Array(ArgumentIssue) }))

const isWithFilters = Schema.is(
  Schema.Struct({ overrides: Schema.Record({ key: Schema.String, value: Schema.String }) })
)

const sentFilter = (args: unknown, platform: string): string =>
  isWithFilters(args) ? (args.overrides[platform] ?? "") : ""
