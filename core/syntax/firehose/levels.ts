/** Judges the clauses of one level together: what AND, OR and NOT make of them, repeats, and where recent may stand. */
import type { Fix } from "../issue.ts"
import type { Clause, Group, Query } from "./ast.ts"
import type { Field } from "./fields.ts"
import { mixedOperators, optionalClauses, orNot, sideBySide } from "./joints.ts"
import { printQuery } from "./printer.ts"
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
    report.error(
      "recent-placement",
      start,
      end,
      "The age limit recent: stands at the top level of a rule, not in parentheses",
      {
        expected: ["(…) AND recent:24h"]
      }
    )
  } else if (count > 1) {
    report.error("recent-twice", start, end, "The age limit recent: can stand in a rule only once", {
      fix: withoutClause(report, group, clause.query, "Keep the first recent:")
    })
  } else if (clause.occur === "must_not") {
    report.error(
      "recent-placement",
      start,
      end,
      "The age limit recent: cannot be negated: it is a limit on the age of pages",
      {
        expected: ["AND recent:24h", "publish_time:[* TO 2025-12-31T23\\:59\\:59]"]
      }
    )
  } else if (group.clauses.length === 1) {
    report.error(
      "recent-alone",
      start,
      end,
      "The age limit recent: only limits what other clauses find: there is none here",
      {
        expected: ["tesla AND recent:24h"]
      }
    )
  } else if (clause.occur === "should") {
    report.error(
      "recent-placement",
      start,
      end,
      "The age limit recent: must be joined with AND: here it is one alternative among others",
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
  if (group.clauses.length + group.dropped.length === 1) {
    return false
  }
  const found = group.clauses.filter(isLowerCaseOperator)
  if (group.dropped.length > 0) {
    found.push(...group.dropped.filter(isLowerCaseOperator))
  }
  if (found.length === 0) {
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
    const fix = isUniform(group) ? withoutClause(report, group, query, "Leave it out") : undefined
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

/** Only one kind of joint: then a clause can go without changing what the others mean. */
const isUniform = (group: Group): boolean => {
  const all = [...group.clauses, ...group.dropped]
  return (
    !all.some(({ spelling }) => spelling.conjunction === "and") ||
    !all.some(({ spelling }) => spelling.conjunction === "or")
  )
}

/** Lucene only takes away from what other clauses find; with none of them there is nothing. */
const hasPositive = (report: Report, group: Group, isTop: boolean): boolean => {
  if (group.clauses.some((clause) => clause.occur !== "must_not" && clause.query._tag !== "Recent")) {
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
    report.warning(
      "matches-everything",
      query.span.start,
      query.span.end,
      "This matches nearly every page that is crawled"
    )
  }
}

const isEverything = (query: Query): boolean =>
  query._tag === "Everything" ||
  (query._tag === "Wildcard" && query.parts.every((part) => typeof part !== "string" && part.sign === "*"))

const repeats = (report: Report, group: Group): void => {
  const seen = new Map<string, Clause>()
  for (const clause of group.clauses) {
    const { start, end } = clause.query.span
    const text = report.text.slice(start, end)
    const key = printQuery(clause.query)
    const earlier = seen.get(key)
    if (earlier === undefined) {
      seen.set(key, clause)
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
