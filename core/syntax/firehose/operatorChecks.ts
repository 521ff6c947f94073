/** Checks a group for operators that Lucene reads in an unexpected way. */
import type { Fix } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import type { Clause, Group } from "./ast.ts"
import type { Field, Noun } from "./fieldSet.ts"
import { quoted } from "./quoted.ts"

/** AND and OR in one group: users expect precedence, Lucene makes clauses required or optional. */
export const checkMixedOperators = (report: Report, group: Group): boolean => {
  let hasAnd = false
  let or: Clause | undefined
  for (const clause of group.clauses) {
    if (clause.spelling.conjunction === "and") {
      hasAnd = true
    } else if (clause.spelling.conjunction === "or" && clause.spelling.modifier !== "not") {
      or ??= clause
    }
  }
  if (!hasAnd || or === undefined) return false
  const optional = group.clauses.filter((clause) => clause.occur === "should")
  const span = optional[0]?.span ?? or.spelling.conjunctionSpan
  const names = optional
    .slice(0, 3)
    .map((clause) => quoted(report.textOf(clause.span)))
    .join(", ")
  const more = optional.length > 3 ? " and others" : ""
  report.warning(
    "mixed-operators",
    span.start,
    span.end,
    optional.length === 0
      ? "AND and OR in one group have no precedence: every clause here is required and OR has no effect"
      : `AND and OR in one group have no precedence: ${names}${more} ${optional.length === 1 ? "is" : "are"} optional and without effect`,
    { expected: ["(a AND b) OR c", "a AND (b OR c)"], fix: addParentheses(report, group) }
  )
  return true
}

/** Clauses without an operator between them. In a keyword field they become one value with a space. */
export const checkImplicitOr = (
  report: Report,
  group: Group,
  { field, noun }: { readonly field: Field | undefined; readonly noun: Noun }
): boolean => {
  const unjoined: Array<Clause> = []
  let hasOr = false
  for (let index = 1; index < group.clauses.length; index++) {
    const clause = group.clauses[index]
    const previous = group.clauses[index - 1]
    if (clause === undefined || previous === undefined) continue
    hasOr ||= clause.spelling.conjunction === "or"
    const hasNoOperator = clause.spelling.conjunction === undefined && clause.spelling.modifier === undefined
    if (
      hasNoOperator &&
      previous.occur !== "must_not" &&
      previous.spelling.modifier === undefined &&
      !hasSignBetween(report, group, previous, clause)
    ) {
      unjoined.push(clause)
    }
  }
  const first = unjoined[0]
  if (first === undefined) return false
  const isKeyword = field !== undefined && field.kind !== "text"
  const word = isKeyword || hasOr ? "OR" : "AND"
  const edits = unjoined.map(({ span: { start } }) => {
    const isGlued = !/\s/.test(report.text.charAt(start - 1))
    return { start, end: start, text: `${isGlued ? " " : ""}${word} ` }
  })
  const fix = report.fixAll(`Write ${word} between them`, edits)
  const before = group.clauses[group.clauses.indexOf(first) - 1] ?? first
  const { start } = before.span
  const { end } = first.span
  if (isKeyword && areOneValue(group, before, first)) {
    report.error(
      "keyword-list",
      start,
      end,
      `Values without an operator are read as one value with a space, which no ${noun.one} has in "${field.name}": write OR between them`,
      { expected: ["OR"], fix }
    )
  } else {
    report.warning(
      "implicit-or",
      start,
      end,
      word === "OR"
        ? "A space between clauses means OR: write OR"
        : `A space between clauses means OR: write AND if ${quoted(report.textOf(before.span))} and ${quoted(report.textOf(first.span))} must both match`,
      { expected: ["AND", "OR"], fix }
    )
  }
  return true
}

export const checkOptionalClause = (report: Report, group: Group): void => {
  const optional = group.clauses.find((clause) => clause.occur === "should")
  if (optional !== undefined && group.clauses.some((clause) => clause.occur === "must")) {
    report.warning(
      "optional-clause",
      optional.span.start,
      optional.span.end,
      `${quoted(report.textOf(optional.span))} is optional next to a required clause and has no effect`,
      { expected: ["AND"] }
    )
  }
}

/** `a OR NOT b` excludes events with b; it does not add events without b. */
export const checkOrNot = (report: Report, group: Group, noun: Noun): void => {
  for (const clause of group.clauses) {
    if (clause.spelling.conjunction === "or" && clause.spelling.modifier === "not") {
      const { start, end } = clause.span
      report.warning(
        "or-not",
        start,
        end,
        `${quoted(report.textOf(clause.span))} excludes ${noun.many} even after OR: it means AND NOT`,
        {
          expected: ["AND NOT …", "OR (*:* AND NOT …)"],
          fix: report.fix("Make it a separate alternative", start, end, `(*:* AND ${report.textOf(clause.span)})`)
        }
      )
    }
  }
}

// ---- helpers ----

/** Applies the usual precedence. With `recent:` it groups the alternatives, because `recent:` must stay at the top level. */
const addParentheses = (report: Report, group: Group): Fix => {
  const hasRecent = group.clauses.some((clause) => clause.query._tag === "Recent")
  const splitAt = hasRecent ? "and" : "or"
  const runs: Array<Array<Clause>> = []
  for (const clause of group.clauses) {
    const run = runs.at(-1)
    if (run === undefined || clause.spelling.conjunction === splitAt) runs.push([clause])
    else run.push(clause)
  }
  const edits = runs.flatMap((run) => {
    const start = run[0]?.span.start ?? 0
    const end = run.at(-1)?.span.end ?? 0
    return run.length > 1 ? [{ start, end, text: `(${report.text.slice(start, end)})` }] : []
  })
  return report.fixAll(
    hasRecent ? "Put the alternatives in parentheses" : "Put the clauses joined by AND in parentheses",
    edits
  )
}

/** Lucene analyses consecutive bare terms together, unless an operator is next to them. */
const areOneValue = (group: Group, previous: Clause, clause: Clause): boolean => {
  const next = group.clauses[group.clauses.indexOf(clause) + 1]
  return (
    previous.query._tag === "Term" &&
    previous.query.field === undefined &&
    previous.spelling.conjunction === undefined &&
    clause.query._tag === "Term" &&
    clause.query.field === undefined &&
    next?.spelling.conjunction === undefined
  )
}

/** A lone `-`, `+` or `!` between two clauses has its own warning. */
const hasSignBetween = (report: Report, group: Group, previous: Clause, clause: Clause): boolean =>
  group.dropped.length > 0 && /^\s*[-+!]\s*$/.test(report.text.slice(previous.span.end, clause.span.start))
