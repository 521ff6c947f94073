/** What AND, OR, NOT and a bare space make of the clauses of one level, where that is not what people read. */
import type { Fix } from "../issue.ts"
import type { Clause, Group } from "./ast.ts"
import type { Field } from "./fields.ts"
import { quoted, type Report } from "./report.ts"

/** AND and OR on one level: people read two alternatives, Lucene reads required and optional clauses. */
export const mixedOperators = (report: Report, group: Group): boolean => {
  let hasAnd = false
  let or: Clause | undefined
  for (const clause of group.clauses) {
    if (clause.spelling.conjunction === "and") {
      hasAnd = true
    } else if (clause.spelling.conjunction === "or" && clause.spelling.modifier !== "not") {
      or ??= clause
    }
  }
  if (!hasAnd || or === undefined) {
    return false
  }
  const optional = group.clauses.filter((clause) => clause.occur === "should")
  const place = optional[0]?.span ?? or.spelling.joint
  const names = optional
    .slice(0, 3)
    .map((clause) => quoted(textOf(report, clause)))
    .join(", ")
  const more = optional.length > 3 ? " and others" : ""
  report.warning(
    "mixed-operators",
    place.start,
    place.end,
    optional.length === 0
      ? "AND and OR on one level have no order of precedence: every clause here is required and OR has no effect"
      : `AND and OR on one level have no order of precedence: ${names}${more} ${optional.length === 1 ? "becomes" : "become"} optional and has no effect on what matches`,
    { expected: ["(a AND b) OR c", "a AND (b OR c)"], fix: parenthesised(report, group) }
  )
  return true
}

/** Clauses with nothing between them. In a keyword field they even become one value with a space in it. */
export const sideBySide = (report: Report, group: Group, field: Field | undefined): boolean => {
  const gaps: Array<Clause> = []
  let hasOr = false
  for (let index = 1; index < group.clauses.length; index++) {
    const clause = group.clauses[index]
    const previous = group.clauses[index - 1]
    if (clause === undefined || previous === undefined) {
      continue
    }
    hasOr ||= clause.spelling.conjunction === "or"
    const isGap = clause.spelling.conjunction === undefined && clause.spelling.modifier === undefined
    if (
      isGap &&
      previous.occur !== "must_not" &&
      previous.spelling.modifier === undefined &&
      !isSignBetween(report, group, previous, clause)
    ) {
      gaps.push(clause)
    }
  }
  const first = gaps[0]
  if (first === undefined) {
    return false
  }
  const isKeyword = field !== undefined && field.kind !== "text"
  const word = isKeyword || hasOr ? "OR" : "AND"
  let text = ""
  let from = 0
  for (const { span } of gaps) {
    const isGlued = !/\s/.test(report.text.charAt(span.start - 1))
    text += `${report.text.slice(from, span.start)}${isGlued ? " " : ""}${word} `
    from = span.start
  }
  const fix = { message: `Write ${word} between them`, text: text + report.text.slice(from) }
  const before = group.clauses[group.clauses.indexOf(first) - 1] ?? first
  const { start } = before.span
  const { end } = first.span
  if (isKeyword && areOneValue(group, before, first)) {
    report.error(
      "keyword-list",
      start,
      end,
      `Values side by side are read as one value with a space in it, which no page has in "${field.name}": write OR between them`,
      { expected: ["OR"], fix }
    )
  } else {
    report.warning(
      "implicit-or",
      start,
      end,
      word === "OR"
        ? "A space between clauses means OR: write it"
        : `A space between clauses means OR: write AND if ${quoted(textOf(report, before))} and ${quoted(textOf(report, first))} must both hold`,
      {
        expected: ["AND", "OR"],
        fix
      }
    )
  }
  return true
}

export const optionalClauses = (report: Report, group: Group): void => {
  const optional = group.clauses.find((clause) => clause.occur === "should")
  if (optional !== undefined && group.clauses.some((clause) => clause.occur === "must")) {
    report.warning(
      "optional-clause",
      optional.span.start,
      optional.span.end,
      `${quoted(textOf(report, optional))} is optional beside a required clause and has no effect on what matches`,
      {
        expected: ["AND"]
      }
    )
  }
}

/** `a OR NOT b` takes pages with b away; it does not add the pages without it. */
export const orNot = (report: Report, group: Group): void => {
  for (const clause of group.clauses) {
    if (clause.spelling.conjunction === "or" && clause.spelling.modifier === "not") {
      const { start, end } = clause.span
      report.warning(
        "or-not",
        start,
        end,
        `After OR, ${quoted(textOf(report, clause))} still takes pages away: it means AND NOT`,
        {
          expected: ["AND NOT …", "OR (*:* AND NOT …)"],
          fix: report.fix("Make it an alternative of its own", start, end, `(*:* AND ${report.text.slice(start, end)})`)
        }
      )
    }
  }
}

// ---- helpers ----

const textOf = (report: Report, clause: Clause): string => report.text.slice(clause.span.start, clause.span.end)

/** The reading by the usual precedence; with `recent:` the alternatives go together, since it must stay at the top. */
const parenthesised = (report: Report, group: Group): Fix => {
  const hasRecent = group.clauses.some((clause) => clause.query._tag === "Recent")
  const splitAt = hasRecent ? "and" : "or"
  let text = ""
  let from = 0
  let index = 0
  while (index < group.clauses.length) {
    let last = index
    while (last + 1 < group.clauses.length && group.clauses[last + 1]?.spelling.conjunction !== splitAt) last++
    const start = group.clauses[index]?.span.start ?? from
    const end = group.clauses[last]?.span.end ?? from
    text += report.text.slice(from, start)
    text += last > index ? `(${report.text.slice(start, end)})` : report.text.slice(start, end)
    from = end
    index = last + 1
  }
  return {
    message: hasRecent ? "Put the alternatives in parentheses" : "Put what AND joins in parentheses",
    text: text + report.text.slice(from)
  }
}

/** Lucene hands bare terms that follow each other to the analysis together, unless an operator stands next to them. */
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

/** A lone `-`, `+` or `!` between the two has its own warning. */
const isSignBetween = (report: Report, group: Group, previous: Clause, clause: Clause): boolean =>
  group.dropped.length > 0 && /^\s*[-+!]\s*$/.test(report.text.slice(previous.span.end, clause.span.start))
