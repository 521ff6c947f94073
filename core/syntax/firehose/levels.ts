/** Judges the clauses of one level together: what AND, OR and NOT make of them, repeats, and where recent may stand. */
import type { Fix } from "../issue.ts"
import type { Clause, Group, Query } from "./ast.ts"
import type { Field } from "./fields.ts"
import { quoted, type Report } from "./report.ts"
import { hasWords } from "./tokens.ts"

export const checkLevel = (report: Report, group: Group, field: Field | undefined, isTop: boolean): void => {
  const operatorsFound = lowerCaseOperators(report, group)
  droppedClauses(report, group)
  if (!hasPositive(report, group, isTop)) {
    return
  }
  if (group.clauses.length < 2) {
    everything(report, group, isTop)
    return
  }
  const quotesFound = singleQuotes(report, group)
  if (!mixedOperators(report, group) && !operatorsFound && !quotesFound && !sideBySide(report, group, field)) {
    optionalClauses(report, group)
  }
  orNot(report, group)
  repeats(report, group)
}

/** `recent:` is taken out of the query before it runs: that only works once, at the top, as a requirement. */
export const recentPlacement = (report: Report, group: Group, index: number, depth: number, count: number): void => {
  const clause = group.clauses[index]
  if (clause === undefined) {
    return
  }
  const { start, end } = clause.query.span
  if (depth > 0) {
    report.error("recent-placement", start, end, "recent: stands at the top level of a rule, not in parentheses", {
      expected: ["(…) AND recent:24h"]
    })
  } else if (count > 1) {
    report.error("recent-twice", start, end, "recent: can stand in a rule only once", {
      fix: withoutClause(report, group, clause.query, "Keep the first recent:")
    })
  } else if (clause.occur === "must_not") {
    report.error("recent-placement", start, end, "recent: cannot be negated: it is a limit on the age of pages", {
      expected: ["AND recent:24h", "publish_time:[* TO 2025-12-31T23\\:59\\:59]"]
    })
  } else if (group.clauses.length + group.dropped.length === 1) {
    report.error("recent-alone", start, end, "recent: only limits what other clauses find: there is none here", {
      expected: ["tesla AND recent:24h"]
    })
  } else if (clause.occur === "should") {
    report.error(
      "recent-placement",
      start,
      end,
      "recent: must be joined with AND: here it is one alternative among others",
      {
        expected: ["AND recent:24h"],
        fix: requireRecent(report, group, index)
      }
    )
  }
}

/** The rule without one clause and the operator that joins it; nothing when it is alone on its level. */
export const withoutClause = (report: Report, group: Group, query: Query, message: string): Fix | undefined => {
  const all = [...group.clauses, ...group.dropped].sort((a, b) => a.span.start - b.span.start)
  const index = all.findIndex((clause) => clause.query === query)
  const clause = all[index]
  const previous = all[index - 1]
  const next = all[index + 1]
  if (clause === undefined || (previous === undefined && next === undefined)) {
    return undefined
  }
  return previous === undefined
    ? report.fix(message, clause.span.start, next?.span.start ?? clause.span.end, "")
    : report.fix(message, previous.span.end, clause.span.end, "")
}

// ---- helpers ----

const textOf = (report: Report, clause: Clause): string => report.text.slice(clause.span.start, clause.span.end)

/** `and`, `or` and `not` in small letters are words, and stop words at that. */
const lowerCaseOperators = (report: Report, group: Group): boolean => {
  const found = [...group.dropped, ...group.clauses].filter(isLowerCaseOperator)
  if (found.length === 0 || group.clauses.length + group.dropped.length === 1) {
    return false
  }
  let text = report.text
  for (const { query } of found) {
    text =
      text.slice(0, query.span.start) +
      text.slice(query.span.start, query.span.end).toUpperCase() +
      text.slice(query.span.end)
  }
  for (const { query } of found) {
    const { start, end } = query.span
    const word = report.text.slice(start, end)
    report.warning(
      "lowercase-operator",
      start,
      end,
      `${quoted(word)} is read as a word: operators are written in capitals`,
      {
        expected: [word.toUpperCase()],
        fix: { message: "Write the operators in capitals", text }
      }
    )
  }
  return true
}

const isLowerCaseOperator = ({ query }: Clause): boolean =>
  query._tag === "Term" && query.field === undefined && query.text.length <= 3 && /^(and|or|not)$/i.test(query.text)

const droppedClauses = (report: Report, group: Group): void => {
  if (group.dropped.length === 0) {
    return
  }
  for (const clause of group.dropped) {
    const { query } = clause
    if (
      (query._tag !== "Term" && query._tag !== "Phrase") ||
      isLowerCaseOperator(clause) ||
      /^[-+!]$/.test(query.text)
    ) {
      continue
    }
    const { start, end } = query.span
    const fix = withoutClause(report, group, query, "Leave it out")
    if (hasWords(query.text, true)) {
      report.warning(
        "stop-words-only",
        start,
        end,
        `${quoted(query.text)} holds only stop words, which this field leaves out: the clause has no effect`,
        { fix }
      )
    } else {
      report.warning(
        "no-words",
        start,
        end,
        `${quoted(query.text)} holds no letter or digit: the clause has no effect`,
        { fix }
      )
    }
  }
}

/** Lucene only takes away from what other clauses find; with none of them there is nothing. */
const hasPositive = (report: Report, group: Group, isTop: boolean): boolean => {
  const counted = group.clauses.filter((clause) => clause.occur !== "must_not" && clause.query._tag !== "Recent")
  if (counted.length > 0) {
    return true
  }
  const { start, end } = group.span
  const first = group.clauses[0]
  if (first === undefined) {
    if (isTop && group.dropped.length > 0) {
      report.error("never-matches", start, end, "Nothing is left of this rule: it holds only stop words or signs", {
        expected: ["a word that is no stop word", 'title:"…"']
      })
    }
  } else if (group.clauses.some((clause) => clause.occur === "must_not" && clause.query._tag !== "Recent")) {
    report.error(
      "never-matches",
      first.span.start,
      group.clauses.at(-1)?.span.end ?? end,
      isTop
        ? "This rule only says what pages must not have, and matches none: add something that they must have"
        : "This group only says what pages must not have, and matches none: take NOT out of the parentheses, or add *:*",
      isTop
        ? { expected: ["tesla AND NOT ford"] }
        : {
            expected: ["AND NOT …", "(*:* AND NOT …)"],
            fix: report.fix("Start from every page", first.span.start, first.span.start, "*:* AND ")
          }
    )
  }
  return false
}

const everything = (report: Report, group: Group, isTop: boolean): void => {
  const query = group.clauses[0]?.query
  if (isTop && query !== undefined && group.dropped.length === 0 && isEverything(query)) {
    report.warning("matches-everything", query.span.start, query.span.end, "This matches every page that is crawled")
  }
}

const isEverything = (query: Query): boolean =>
  query._tag === "Everything" ||
  (query._tag === "Wildcard" && query.parts.every((part) => typeof part !== "string" && part.sign === "*"))

/** AND and OR on one level: people read two alternatives, Lucene reads required and optional clauses. */
const mixedOperators = (report: Report, group: Group): boolean => {
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

/** Clauses with nothing between them. In a keyword field they even become one value with a space in it. */
const sideBySide = (report: Report, group: Group, field: Field | undefined): boolean => {
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
  const isKeyword =
    field !== undefined && field.kind !== "text" && gaps.some((clause) => clause.query.field === undefined)
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
  if (isKeyword) {
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
      `Clauses side by side are joined with OR: ${quoted(textOf(report, first))} alone is optional; write AND if both must hold`,
      {
        expected: ["AND", "OR"],
        fix
      }
    )
  }
  return true
}

/** A lone `-`, `+` or `!` between the two has its own warning. */
const isSignBetween = (report: Report, group: Group, previous: Clause, clause: Clause): boolean =>
  group.dropped.length > 0 && /^\s*[-+!]\s*$/.test(report.text.slice(previous.span.end, clause.span.start))

const optionalClauses = (report: Report, group: Group): void => {
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
const orNot = (report: Report, group: Group): void => {
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

const repeats = (report: Report, group: Group): void => {
  const seen = new Map<string, Clause>()
  for (const clause of group.clauses) {
    const { start, end } = clause.query.span
    const text = report.text.slice(start, end)
    const earlier = seen.get(text)
    if (earlier === undefined) {
      seen.set(text, clause)
    } else if ((earlier.occur === "must_not") === (clause.occur === "must_not")) {
      if (clause.query._tag !== "Recent") {
        report.warning("duplicate-clause", start, end, `${quoted(text)} stands here twice`, {
          fix: withoutClause(report, group, clause.query, "Keep the first one")
        })
      }
    } else if (earlier.occur === "must" || clause.occur === "must") {
      report.error(
        "contradiction",
        start,
        end,
        `${quoted(text)} is both required and excluded: the rule can never match`,
        {
          fix: withoutClause(report, group, clause.query, "Keep the first one")
        }
      )
    }
  }
}

/** 'electric vehicle' in single quotes is two words that begin and end with an apostrophe. */
const singleQuotes = (report: Report, group: Group): boolean => {
  for (let index = 0; index < group.clauses.length - 1; index++) {
    const query = group.clauses[index]?.query
    if (query?._tag !== "Term" || !/^['‘]/.test(query.text)) {
      continue
    }
    for (let last = index + 1; last < group.clauses.length; last++) {
      const clause = group.clauses[last]
      if (
        clause?.query._tag !== "Term" ||
        clause.query.field !== undefined ||
        clause.spelling.conjunction !== undefined
      ) {
        break
      }
      if (/['’]$/.test(clause.query.text)) {
        const { start } = query.value
        const { end } = clause.query.value
        report.error(
          "single-quotes",
          start,
          end,
          "A phrase is written in double quotes; single quotes are part of the words",
          {
            fix: report.fix("Write double quotes", start, end, `"${report.text.slice(start + 1, end - 1)}"`)
          }
        )
        return true
      }
    }
  }
  return false
}

/** Joins `recent:` with AND, the other clauses in parentheses when there are several. */
const requireRecent = (report: Report, group: Group, index: number): Fix | undefined => {
  const others = group.clauses.filter((_, other) => other !== index)
  const first = others[0]
  const last = others.at(-1)
  const recent = group.clauses[index]
  if (
    first === undefined ||
    last === undefined ||
    recent === undefined ||
    (index > 0 && index < group.clauses.length - 1)
  ) {
    return undefined
  }
  const start = Math.min(first.span.start, recent.span.start)
  const end = Math.max(last.span.end, recent.span.end)
  const rest = report.text.slice(first.span.start, last.span.end)
  const wrapped = others.length > 1 ? `(${rest})` : rest
  const own = textOf(report, recent)
  return report.fix("Join it with AND", start, end, index === 0 ? `${own} AND ${wrapped}` : `${wrapped} AND ${own}`)
}
