/** Describes tool results to a language model: the result, and what to call next. */
import { Predicate, Schema } from "effect"
import type { platforms } from "../../api/platforms.ts"
import type { rules } from "../../api/rules.ts"
import type { Account } from "../../core/accounts/Accounts.ts"
import type { Coverage } from "../../core/coverage/Coverage.ts"
import type { Match } from "../../core/matches/Match.ts"
import type { MatchList, WaitResult } from "../../core/matches/Matches.ts"
import { ArgumentIssue } from "../../core/model/Errors.ts"
import { isLoss } from "../../core/rules/describeLoss.ts"
import type { Rule, RuleActivity, RuleList, RuleQuery } from "../../core/rules/Rule.ts"
import { counted } from "../../core/text/counted.ts"
import type { CallError } from "./calls.ts"
import { type Form, type Forms, type MatchForm, MORE_OF_ONE, matchFormOf, moreOf, WHOLE } from "./matchForms.ts"
import type { Asked } from "./tool.ts"
import { delimit, ONE_MATCH, TEXT, type Treatment } from "./untrusted.ts"

export const describeCreated = ({ rule_id, platforms }: Created, cursor: string, treatment: Treatment): string =>
  [
    `Created ${rule_id} with these filters:`,
    ...Object.entries(platforms).flatMap(([platform, registered]) =>
      registered === undefined
        ? []
        : [
            `- ${platform}: ${treatment.quoted(registered.translated_value)}`,
            ...(registered.warnings ?? []).map((issue) => `  ${describeIssue(issue, treatment)}`)
          ]
    ),
    `Next: ${callOf("wait_for_matches", { rule_id, cursor })}. ${waysToBeNotified(rule_id)}`
  ].join("\n")

export const describeOneRule = (rule: { readonly rule: Rule }, treatment: Treatment): string =>
  [describeChangedRule(rule, treatment), waysToBeNotified(rule.rule.id)].join("\n")

export const describeDeleted = ({ deleted, rules, not_found }: Deleted, treatment: Treatment): string => {
  const all = rules.reduce((sum, { matches }) => sum + matches, 0)
  const what = `${counted(rules.length, "rule")} and ${counted(all, "match", "matches")}`
  return [
    deleted ? `Deleted ${what}` : `Nothing was deleted. This would delete ${what}:`,
    ...rules.map(
      ({ rule_id, name, matches }) =>
        `- ${rule_id}, ${treatment.quoted(name, MAX_NAME_CHARACTERS)}, ${counted(matches, "match", "matches")}`
    ),
    ...(not_found.length === 0 ? [] : [`No such rule: ${not_found.map((id) => treatment.quoted(id, 100)).join(", ")}`]),
    ...(deleted || rules.length === 0
      ? []
      : ["Next: if the user agrees, the same call without preview, with only the ids to delete"])
  ].join("\n")
}

export const describeChangedRule = (
  { rule, warnings = {} }: { readonly rule: Rule; readonly warnings?: Changed["warnings"] },
  treatment: Treatment
): string =>
  [
    describeRule(rule, treatment),
    ...Object.entries(warnings).flatMap(([platform, issues]) =>
      (issues ?? []).map((issue) => `  ${platform}: ${describeIssue(issue, treatment)}`)
    )
  ].join("\n")

export const describeAccount = ({ limits }: Account): string =>
  limits
    .map(({ name, description, limit, used }) => `${name}: ${used} of ${limit ?? "no limit"} (${description})`)
    .join("\n")

export const describeStatus = ({ platforms }: StatusList, treatment: Treatment): string =>
  platforms
    .map(
      ({ platform, source, address, summary, stream, coverage }) =>
        `- ${platform} (${source === "local" ? "runs in this process" : address === undefined ? "the real platform" : "not the real platform"}), ${stream.state}: ${treatment.line(summary)}. Watched in the last 24 hours: ${describeCoverage(coverage)}`
    )
    .join("\n")

export const describeRules = (
  { rules, next_cursor }: RuleList,
  treatment: Treatment,
  { own: { limit, cursor, ...search } }: Asked<RuleQuery>
): string => {
  if (rules.length === 0) {
    const { sort: _, ...filters } = search
    const names = Object.keys(filters)
    if (search.query !== undefined) return `No rule has this text. Next: list_rules without ${names.join(", ")}`
    if (names.length > 0) return `No such rule. Next: list_rules without ${names.join(", ")}`
    return cursor === undefined
      ? "There are no rules yet. Next: platform_syntax and check_rule, then create_rule"
      : "There are no older rules"
  }
  const { query: sent } = search
  const query = sent === undefined ? undefined : treatment.text(sent, MAX_NAME_CHARACTERS)
  return [
    `${counted(rules.length, "rule")}${query === undefined ? "" : " with this text"}, ${ORDERS[search.sort ?? "created"]}:`,
    ...rules.map((rule) => describeRule(rule, treatment)),
    ...(next_cursor === undefined
      ? []
      : [`For older rules: ${callOf("list_rules", { ...search, query, limit, cursor: next_cursor })}`])
  ].join("\n")
}

export const describeMatches =
  (forms: Forms) =>
  ({ matches, next_cursor, coverage }: MatchList, treatment: Treatment, asked: Asked<Form>): string => {
    const newest = matches[0]?.id
    const { limit, ...kept } = keptArguments(asked.args)
    return [
      describeItems(matches, "newest first", { forms, form: matchFormOf(asked), treatment }),
      describeWatched(coverage),
      ...(coverage.kept_since === undefined
        ? []
        : [`Matches from before ${coverage.kept_since} were deleted after their retention time`]),
      ...(next_cursor === undefined
        ? []
        : [`For older matches: ${callOf("list_matches", { ...kept, limit, cursor: next_cursor })}`]),
      `Next: for new${newest === undefined ? "" : "er"} matches, ${callOf("wait_for_matches", { ...kept, cursor: newest })}`
    ].join("\n\n")
  }

export const describeMatch =
  (forms: Forms) =>
  ({ match }: { readonly match: Match }, treatment: Treatment): string => {
    const { id, rule_id } = match
    const items = delimit({
      secret: treatment.secret,
      items: [match],
      treat: forms.ofMatches([match], WHOLE, { treatment, limits: ONE_MATCH }),
      more: MORE_OF_ONE
    })
    return `${items}\n\nNext: why the rule matched it, ${callOf("explain_match", { match_id: id })}; the rule, ${callOf("get_rule", { rule_id })}`
  }

export const describeWait =
  (forms: Forms) =>
  ({ matches, cursor, redacted = [], coverage }: WaitResult, treatment: Treatment, asked: Asked<Form>): string =>
    [
      matches.length === 0
        ? "No match in this time. This is not an error"
        : describeItems(matches, "oldest first", { forms, form: matchFormOf(asked), treatment }),
      ...(redacted.length === 0
        ? []
        : [
            `Removed since then; do not use or repeat what these said: ${redacted.map(({ id, redacted: { reason } }) => `${id} (${reason})`).join(", ")}`
          ]),
      describeWatched(coverage),
      `Next: to keep waiting, ${callOf("wait_for_matches", { ...keptArguments(asked.args), cursor })}`
    ].join("\n\n")

export const describeError = ({ code, message, details }: CallError, treatment: Treatment, args: unknown): string =>
  [
    `${code}: ${treatment.line(message)}`,
    ...issuesIn(details).map(
      (issue) =>
        `- ${issue.path === "" ? "" : `${treatment.line(issue.path, MAX_NAME_CHARACTERS)}: `}${describeIssue(issue, treatment)}`
    ),
    `Next: ${nextStep(code, details, args)}`
  ].join("\n")

export const callOf = (tool: string, args: Readonly<Record<string, unknown>>): string => {
  const given = Object.entries(args).filter(([, value]) => value !== undefined)
  return `${tool} with {${given.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(", ")}}`
}

/** The span refers to the text `sent`. */
export const describeIssue = (
  { message, span, expected, fix, suggestion }: AnyIssue,
  treatment: Treatment,
  sent = ""
): string =>
  [
    treatment.line(message),
    ...(span === undefined
      ? []
      : [`${describeSpan(span)}${sent === "" ? "" : `: ${treatment.quoted(sent.slice(span.start, span.end), 100)}`}`]),
    ...(expected === undefined || expected.length === 0
      ? []
      : [`expected ${treatment.line(expected.slice(0, 12).join(", "))}`]),
    ...(fix === undefined ? [] : [`fix: ${treatment.line(fix.message)}; fixed text: ${treatment.quoted(fix.text)}`]),
    ...(suggestion?.text === undefined
      ? []
      : [
          `suggestion (${suggestion.fidelity}): ${treatment.quoted(suggestion.text)}`,
          ...suggestion.clauses.filter(isLoss).map(({ reason }) => `the suggestion differs: ${treatment.line(reason)}`)
        ])
  ].join("; ")

export const sentFilter = (args: unknown, platform: string): string =>
  hasOverrides(args) ? (args.overrides[platform] ?? "") : ""

// ---- helpers ----

const waysToBeNotified = (rule_id: string): string =>
  `To be notified without waiting: a client with MCP Events calls events/subscribe for match.created with {"rule_id": "${rule_id}"}; otherwise the user sets up a webhook on this server, in the console under Webhooks or with their key by POST /webhooks/create {"url": "https://…", "rule_ids": ["${rule_id}"]}`

type Changed = typeof rules.update.output.Type

const ORDERS = {
  created: "newest first",
  last_match: "longest without a match first",
  matches_day: "most matches of the last 24 hours first"
}

type Created = (typeof rules.create)["output"]["Type"]

type Deleted = typeof rules.deleteSeveral.output.Type
type StatusList = (typeof platforms.status)["output"]["Type"]

/** The next call asks for the same: without them a page would continue with the matches of other rules. */
const keptArguments = (args: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isRecord(args)
    ? {
        rule_id: args["rule_id"],
        platform: args["platform"],
        limit: args["limit"],
        at_least: args["at_least"],
        full: args["full"]
      }
    : {}

const MAX_NAME_CHARACTERS = 1_000

type AnyIssue = Partial<ArgumentIssue> & { readonly message: string }

/** Counts from 1, as the messages do. */
const describeSpan = ({ start, end }: { readonly start: number; readonly end: number }): string =>
  start === end ? `after character ${start}` : `at characters ${start + 1} to ${end}`

const describeRule = (
  { id, name, intent, platforms, created_at, version, shadow, activity }: Rule,
  treatment: Treatment
): string =>
  [
    `- ${id}, ${treatment.quoted(name, MAX_NAME_CHARACTERS)}, created ${created_at}, version ${version}; intent: ${treatment.quoted(intent, MAX_NAME_CHARACTERS)}`,
    ...(activity === undefined ? [] : [`  ${describeActivity(activity)}`]),
    ...describeRegistrations(platforms, treatment),
    ...(shadow === undefined
      ? []
      : [`  in its shadow since ${shadow.since}:`, ...describeRegistrations(shadow.platforms, treatment)])
  ].join("\n")

const describeActivity = ({ last_match_at, matches_hour, matches_day }: RuleActivity): string =>
  last_match_at === undefined
    ? "no stored match"
    : `last match ${last_match_at}, ${matches_hour} in the last hour, ${matches_day} in the last 24 hours`

const describeRegistrations = (platforms: Rule["platforms"], treatment: Treatment): ReadonlyArray<string> =>
  Object.entries(platforms).flatMap(([platform, held]) =>
    held === undefined
      ? []
      : [
          `  ${platform}, ${held.state}${held.failed_since === undefined ? "" : ` since ${held.failed_since}`}${held.reason === undefined ? "" : ` (${treatment.line(held.reason)})`}: ${treatment.quoted(held.translated_value)}`
        ]
  )

const describeItems = (
  matches: ReadonlyArray<Match>,
  order: string,
  { forms, form, treatment }: { readonly forms: Forms; readonly form: MatchForm; readonly treatment: Treatment }
): string => {
  if (matches.length === 0) return "No matches"
  const treat = forms.ofMatches(matches, form, { treatment, limits: TEXT })
  const items = delimit({ secret: treatment.secret, items: matches, treat, more: moreOf(form, "limit") })
  return `${counted(matches.length, "match", `matches, ${order}`)}\n${items}`
}

export const describeWatched = ({ platforms }: Coverage): string =>
  `Watched: ${platforms.length === 0 ? "nothing, because there are no rules" : platforms.map(describeCoverage).join("; ")}`

const describeCoverage = ({ platform, watched_since, gaps, suspected }: Coverage["platforms"][number]): string => {
  const lost = gaps.filter(({ recovered }) => !recovered)
  if (watched_since === undefined) {
    const open = lost.find(({ to, rule_id }) => to === undefined && rule_id === undefined)
    return `${platform} not yet${open === undefined ? "" : ` (${open.cause} since ${open.from})`}`
  }
  const gapsOf = [
    describeGaps(
      lost.filter(({ rule_id }) => rule_id === undefined),
      ""
    ),
    describeGaps(
      lost.filter(({ rule_id }) => rule_id !== undefined),
      " of single rules"
    )
  ].filter((text) => text !== "")
  const doubt = suspected.length === 0 ? "" : `, in doubt in ${counted(suspected.length, "period")}`
  return gapsOf.length === 0
    ? `${platform} since ${watched_since}, no gaps in this time${doubt}`
    : `${platform} since ${watched_since}, except ${gapsOf.join(", and ")}${doubt}`
}

/** Newest first. Empty if there are none. */
const describeGaps = (gaps: Coverage["platforms"][number]["gaps"], of: string): string => {
  const [newest] = gaps
  if (newest === undefined) return ""
  const { from, to, rule_id, cause } = newest
  const reason = rule_id === undefined ? cause : `${rule_id}, ${cause}`
  return `${counted(gaps.length, "gap")}${of}, the last from ${from} ${to === undefined ? "until now" : `to ${to}`} (${reason})`
}

const nextStep = (code: string, details: CallError["details"], args: unknown): string => {
  switch (code) {
    case "invalid_argument":
      return issuesIn(details).some(({ path }) => isSentFilter(path, args))
        ? "fix the filter (check_rule checks it without saving anything, platform_syntax explains the syntax) and call again"
        : "fix the arguments as the schema of this tool requires and call again"
    case "not_found":
      return "call list_rules and use an id from there unchanged"
    case "resource_exhausted":
      return "name" in details
        ? "wait as the message says and call again, or tell the user; get_account shows all limits"
        : "call list_rules and, if the user agrees, delete_rule for a rule that is no longer needed; or leave that platform out; or ask the operator for a higher limit"
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

const isSentFilter = (path: string, args: unknown): boolean => {
  const [field, platform = ""] = path.split(".")
  return field === "overrides" && sentFilter(args, platform) !== ""
}
