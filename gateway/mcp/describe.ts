/** Describes tool results to a language model: the result, and what to call next. */
import { Schema } from "effect"
import type { Match } from "../../core/matches/Match.ts"
import type { MatchList, WaitResult } from "../../core/matches/Matches.ts"
import { ArgumentIssue } from "../../core/model/Errors.ts"
import type { Rule } from "../../core/rules/Rule.ts"
import type { CheckedFilter, CheckResult } from "../../core/rules/RuleCheck.ts"
import { counted } from "../../core/text/counted.ts"
import type { createRule } from "../operations.ts"
import type { CallError } from "./calls.ts"
import { delimit, inlineJson, inlineText } from "./untrusted.ts"

export const describeCheck = ({ platforms }: CheckResult, args: unknown, secret: string): string => {
  const checked = Object.entries(platforms)
  const isValid = checked.every(([, filter]) => filter?.valid === true)
  const samples = checked.flatMap(([, filter]) => filter?.backtest?.samples ?? [])
  return [
    ...checked.flatMap(([platform, filter]) =>
      filter === undefined ? [] : [describeFilter(platform, filter, sentFilter(args, platform))]
    ),
    ...(samples.length === 0 ? [] : [`Samples of the matches:\n${delimit(secret, samples)}`]),
    isValid ? "Next: create_rule, if this is what the user wants" : "Next: fix the filter and call check_rule again"
  ].join("\n\n")
}

export const describeCreated = ({ rule_id, platforms }: Created, cursor: string): string =>
  [
    `Created ${rule_id}. It is active with these filters:`,
    ...Object.entries(platforms).flatMap(([platform, registered]) =>
      registered === undefined
        ? []
        : [
            `- ${platform}: ${inlineJson(registered.translated_value, MAX_FILTER_CHARACTERS)}`,
            ...(registered.warnings ?? []).map((issue) => `  ${describeIssue(issue)}`)
          ]
    ),
    `Next: wait_for_matches with {"rule_id": "${rule_id}", "cursor": "${cursor}"}`
  ].join("\n")

export const describeRules = (rules: ReadonlyArray<Rule>): string =>
  rules.length === 0
    ? "There are no rules yet. Next: platform_syntax and check_rule, then create_rule"
    : [`${counted(rules.length, "rule")}, newest first:`, ...rules.map(describeRule)].join("\n")

export const describeMatches = ({ matches, next_cursor, coverage }: MatchList, secret: string): string => {
  const newest = matches[0]?.id
  return [
    describeItems(matches, "newest first", secret),
    `Watched: ${coverage.platforms.map(describeCoverage).join("; ")}`,
    ...(coverage.kept_since === undefined
      ? []
      : [`Matches from before ${coverage.kept_since} were deleted after their retention time`]),
    ...(next_cursor === undefined ? [] : [`For older matches: list_matches with cursor "${next_cursor}"`]),
    newest === undefined
      ? "Next: wait_for_matches, for new matches"
      : `Next: for newer matches, wait_for_matches with cursor "${newest}"`
  ].join("\n\n")
}

export const describeWait = ({ matches, cursor }: WaitResult, secret: string): string =>
  [
    matches.length === 0
      ? "No match in this time. This is not an error"
      : describeItems(matches, "oldest first", secret),
    `Next: to keep waiting, wait_for_matches with cursor "${cursor}"`
  ].join("\n\n")

export const describeError = ({ code, message, details }: CallError): string =>
  [
    `${code}: ${inlineText(message)}`,
    ...issuesIn(details).map((issue) => `- ${issue.path === "" ? "" : `${issue.path}: `}${describeIssue(issue)}`),
    `Next: ${nextStep(code, details)}`
  ].join("\n")

// ---- helpers ----

type Created = (typeof createRule)["output"]["Type"]

const MAX_FILTER_CHARACTERS = 2_000
const MAX_NAME_CHARACTERS = 1_000

const describeFilter = (platform: string, filter: CheckedFilter, sent: string): string =>
  [
    filter.canonical === undefined
      ? `${platform}: not valid`
      : `${platform}: valid; it would be registered as ${inlineJson(filter.canonical, MAX_FILTER_CHARACTERS)}`,
    ...filter.issues.map((issue) => `- ${issue.severity}: ${describeIssue(issue, sent)}`),
    ...Object.entries(filter.translations).flatMap(([other, translation]) =>
      translation === undefined
        ? []
        : [
            translation.text === undefined
              ? `- cannot be translated to ${other}${translation.reason === undefined ? "" : `: ${translation.reason}`}`
              : `- translation to ${other} (${translation.fidelity}): ${inlineJson(translation.text, MAX_FILTER_CHARACTERS)}`
          ]
    ),
    ...(filter.explanation === undefined
      ? []
      : [
          `- ${filter.explanation.matched ? "matches" : "does not match"} your event: ${filter.explanation.clauses
            .map(({ held, description }) => `${held ? "yes" : "no"}, ${description}`)
            .join("; ")}`
        ]),
    ...(filter.backtest === undefined ? [] : [`- ${describeBacktest(filter.backtest)}`]),
    ...(filter.platform_verdict === undefined
      ? []
      : [
          filter.platform_verdict.accepted
            ? `- ${platform} itself would accept it`
            : `- ${platform} itself would refuse it: ${inlineText(filter.platform_verdict.reason ?? "no reason given")}`
        ])
  ].join("\n")

const describeBacktest = ({ tested, matched, per_hour, note }: NonNullable<CheckedFilter["backtest"]>): string =>
  [
    `it matched ${matched} of the newest ${tested} events`,
    ...(per_hour === undefined ? [] : [`about ${Math.round(per_hour * 10) / 10} per hour`]),
    ...(note === undefined ? [] : [note])
  ].join("; ")

/** The span refers to the text `sent`. */
const describeIssue = ({ message, span, expected, fix, suggestion }: AnyIssue, sent?: string): string =>
  [
    message,
    ...(span === undefined ? [] : [describeSpan(span, sent)]),
    ...(expected === undefined || expected.length === 0 ? [] : [`expected ${expected.slice(0, 12).join(", ")}`]),
    ...(fix === undefined ? [] : [`fix: ${fix.message}; fixed text: ${inlineJson(fix.text, MAX_FILTER_CHARACTERS)}`]),
    ...(suggestion?.text === undefined
      ? []
      : [`suggestion (${suggestion.fidelity}): ${inlineJson(suggestion.text, MAX_FILTER_CHARACTERS)}`])
  ].join("; ")

type AnyIssue = Partial<ArgumentIssue> & { readonly message: string }

/** Counts from 1, as the messages do. */
const describeSpan = ({ start, end }: { readonly start: number; readonly end: number }, sent = ""): string =>
  start === end
    ? `after character ${start}`
    : `at characters ${start + 1} to ${end}${sent === "" ? "" : `: ${inlineJson(sent.slice(start, end), 100)}`}`

const describeRule = ({ id, name, intent, platforms, created_at }: Rule): string =>
  [
    `- ${id}, ${inlineJson(name, MAX_NAME_CHARACTERS)}, created ${created_at}; intent: ${inlineJson(intent, MAX_NAME_CHARACTERS)}`,
    ...Object.entries(platforms).flatMap(([platform, held]) =>
      held === undefined
        ? []
        : [
            `  ${platform}, ${held.state}${held.reason === undefined ? "" : ` (${inlineText(held.reason)})`}: ${inlineJson(held.translated_value, MAX_FILTER_CHARACTERS)}`
          ]
    )
  ].join("\n")

const describeItems = (matches: ReadonlyArray<Match>, order: string, secret: string): string =>
  matches.length === 0
    ? "No matches"
    : `${counted(matches.length, "match", `matches, ${order}`)}\n${delimit(secret, matches)}`

const describeCoverage = ({ platform, watched_since, gaps }: MatchList["coverage"]["platforms"][number]): string => {
  if (watched_since === undefined) return `${platform} not yet`
  const lost = gaps.filter(({ recovered }) => !recovered)
  const [newest] = lost
  return newest === undefined
    ? `${platform} since ${watched_since}, no gaps in this time`
    : `${platform} since ${watched_since}, except ${counted(lost.length, "gap")}, the last from ${newest.from} ${newest.to === undefined ? "until now" : `to ${newest.to}`} (${newest.cause})`
}

const nextStep = (code: string, details: CallError["details"]): string => {
  switch (code) {
    case "invalid_argument":
      return issuesIn(details).some(({ path }) => path.startsWith("overrides"))
        ? "fix the filter (check_rule checks it without saving anything, platform_syntax explains the syntax) and call again"
        : "fix the arguments as the schema of this tool requires and call again"
    case "not_found":
      return "call list_rules and use an id from there unchanged"
    case "resource_exhausted":
      return "call list_rules and, if the user agrees, delete_rule for a rule that is no longer needed; or leave that platform out; or ask the operator for a higher limit"
    case "failed_precondition":
      return "floor" in details
        ? "call again without cursor: matches older than floor were deleted, so tell the user that some may be missing"
        : "leave that platform out, or tell the user that the operator of the server must set it up"
    case "unavailable":
      return "wait a few seconds and call again; if it still fails, tell the user"
    case "permission_denied":
      return "tell the user that this needs a key with a wider scope; another call cannot fix this"
    case "unauthenticated":
      return "tell the user that the API key is not valid; another call cannot fix this"
    default:
      return "do not repeat the call; tell the user what happened"
  }
}

const issuesIn = (details: CallError["details"]): ReadonlyArray<ArgumentIssue> =>
  hasIssues(details) ? details.issues : []

const hasIssues = Schema.is(Schema.Struct({ issues: Schema.Array(ArgumentIssue) }))

const hasOverrides = Schema.is(
  Schema.Struct({ overrides: Schema.Record({ key: Schema.String, value: Schema.String }) })
)

const sentFilter = (args: unknown, platform: string): string =>
  hasOverrides(args) ? (args.overrides[platform] ?? "") : ""
