/** Checks the clauses of one group together: operators, duplicates and the position of `recent:`. */
import type { Fix } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import type { Clause, Group, Query, Term } from "./ast.ts"
import type { Field, Noun } from "./fieldSet.ts"
import { checkImplicitOr, checkMixedOperators, checkOptionalClause, checkOrNot } from "./operatorChecks.ts"
import { printQuery } from "./printer.ts"
import { quoted } from "./quoted.ts"
import { hasWords } from "./tokens.ts"

export const checkGroup = (
  report: Report,
  group: Group,
  { field, noun, isTop }: { readonly field: Field | undefined; readonly noun: Noun; readonly isTop: boolean }
): void => {
  const hasLowerCaseOperators = checkLowerCaseOperators(report, group)
  checkDroppedClauses(report, group)
  if (!checkPositive(report, group, isTop, noun)) return
  if (group.clauses.length < 2) {
    checkEverything(report, group, isTop, noun)
    return
  }
  const hasSingleQuotes = checkSingleQuotes(report, group)
  const isReported = checkMixedOperators(report, group) || hasLowerCaseOperators || hasSingleQuotes
  if (!isReported && !checkImplicitOr(report, group, { field, noun })) {
    checkOptionalClause(report, group)
  }
  checkOrNot(report, group, noun)
  checkDuplicates(report, group)
}

/** Firehose extracts `recent:` before it runs the query: it must occur once, at the top level, as a required clause. */
export const checkRecentPlacement = (
  report: Report,
  group: Group,
  index: number,
  depth: number,
  count: number
): void => {
  const clause = group.clauses[index]
  if (clause === undefined) return
  const { start, end } = clause.query.span
  if (depth > 0) {
    report.error(
      "recent-placement",
      start,
      end,
      "The age limit recent: must be at the top level of a rule, not in parentheses",
      { expected: ["(…) AND recent:24h"] }
    )
  } else if (count > 1) {
    report.error("recent-twice", start, end, "The age limit recent: can occur only once in a rule", {
      fix: withoutClause(report, group, clause.query, "Keep the first recent:")
    })
  } else if (clause.occur === "must_not") {
    report.error("recent-placement", start, end, "The age limit recent: cannot be negated", {
      expected: ["AND recent:24h", "publish_time:[* TO 2025-12-31T23\\:59\\:59]"]
    })
  } else if (group.clauses.length === 1) {
    report.error("recent-alone", start, end, "The age limit recent: needs another clause to limit", {
      expected: ["tesla AND recent:24h"]
    })
  } else if (clause.occur === "should") {
    report.error("recent-placement", start, end, "The age limit recent: must be joined with AND: here it is optional", {
      expected: ["AND recent:24h"],
      fix: requireRecent(report, group, index)
    })
  }
}

/** Removes a clause and its operator; `undefined` if it is the only clause of its group. */
export const withoutClause = (report: Report, group: Group, query: Query, message: string): Fix | undefined => {
  if (report.overflowed) return undefined
  const all = [...group.clauses, ...group.dropped].sort((a, b) => a.span.start - b.span.start)
  const index = all.findIndex((clause) => clause.query === query)
  const clause = all[index]
  const previous = all[index - 1]
  const next = all[index + 1]
  if (clause === undefined || (previous === undefined && next === undefined)) return undefined
  return previous === undefined
    ? report.fix(message, clause.span.start, next?.span.start ?? clause.span.end, "")
    : report.fix(message, previous.span.end, clause.span.end, "")
}

// ---- helpers ----

/** `and`, `or` and `not` in lower case are stop words. */
const checkLowerCaseOperators = (report: Report, group: Group): boolean => {
  if (group.clauses.length + group.dropped.length === 1) return false
  const found = [...group.clauses, ...group.dropped].filter(isLowerCaseOperator)
  if (found.length === 0) return false
  const edits = found.map(({ query: { span } }) => ({ ...span, text: report.textOf(span).toUpperCase() }))
  const fix = report.fixAll("Write the operators in upper case", edits)
  for (const { query } of found) {
    const { start, end } = query.span
    const word = report.text.slice(start, end)
    report.warning("lowercase-operator", start, end, `${quoted(word)} is read as a word: operators are upper case`, {
      expected: [word.toUpperCase()],
      fix
    })
  }
  return true
}

const isLowerCaseOperator = ({ query }: Clause): boolean =>
  query._tag === "Term" && query.field === undefined && query.text.length <= 3 && /^(and|or|not)$/i.test(query.text)

const checkDroppedClauses = (report: Report, group: Group): void => {
  const isRemovable = isUniform(group)
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
    const fix = isRemovable ? withoutClause(report, group, query, "Remove it") : undefined
    if (hasWords(query.text, true)) {
      report.warning(
        "stop-words-only",
        start,
        end,
        `${quoted(query.text)} has only stop words, which this field ignores: the clause has no effect`,
        { fix }
      )
    } else {
      report.warning("no-words", start, end, `${quoted(query.text)} has no letter or digit: the clause has no effect`, {
        fix
      })
    }
  }
}

/** Without a mix of AND and OR, removing a clause does not change the others. */
const isUniform = (group: Group): boolean => {
  const all = [...group.clauses, ...group.dropped]
  return (
    !all.some(({ spelling }) => spelling.conjunction === "and") ||
    !all.some(({ spelling }) => spelling.conjunction === "or")
  )
}

/** A Lucene query without a positive clause matches nothing. */
const checkPositive = (report: Report, group: Group, isTop: boolean, noun: Noun): boolean => {
  if (group.clauses.some((clause) => clause.occur !== "must_not" && clause.query._tag !== "Recent")) return true
  const { start, end } = group.span
  const first = group.clauses[0]
  if (first === undefined) {
    if (isTop && group.dropped.length > 0) {
      report.error("never-matches", start, end, "This rule has only stop words or punctuation and never matches", {
        expected: ["a word that is not a stop word", 'title:"…"']
      })
    }
  } else if (group.clauses.some((clause) => clause.occur === "must_not" && clause.query._tag !== "Recent")) {
    report.error(
      "never-matches",
      first.span.start,
      group.clauses.at(-1)?.span.end ?? end,
      isTop
        ? `This rule has only excluded clauses and never matches: add a clause that ${noun.many} must match`
        : "This group has only excluded clauses and never matches: move NOT out of the parentheses, or add *:*",
      isTop
        ? { expected: ["tesla AND NOT ford"] }
        : {
            expected: ["AND NOT …", "(*:* AND NOT …)"],
            fix: report.fix(`Start from every ${noun.one}`, first.span.start, first.span.start, "*:* AND ")
          }
    )
  }
  return false
}

const checkEverything = (report: Report, group: Group, isTop: boolean, noun: Noun): void => {
  const query = group.clauses[0]?.query
  if (isTop && query !== undefined && group.dropped.length === 0 && isEverything(query)) {
    report.warning(
      "matches-everything",
      query.span.start,
      query.span.end,
      `This rule matches nearly every ${noun.event ?? noun.one}`
    )
  }
}

const isEverything = (query: Query): boolean =>
  query._tag === "Everything" ||
  (query._tag === "Wildcard" && query.parts.every((part) => typeof part !== "string" && part.sign === "*"))

const checkDuplicates = (report: Report, group: Group): void => {
  const seen = new Map<string, Clause>()
  for (const clause of group.clauses) {
    const { start, end } = clause.query.span
    const text = report.textOf(clause.query.span)
    const key = printQuery(clause.query)
    const earlier = seen.get(key)
    if (earlier === undefined) {
      seen.set(key, clause)
    } else if ((earlier.occur === "must_not") === (clause.occur === "must_not")) {
      if (clause.query._tag !== "Recent") {
        report.warning("duplicate-clause", start, end, `${quoted(text)} is a duplicate`, {
          fix: withoutClause(report, group, clause.query, "Keep the first one")
        })
      }
    } else if (earlier.occur === "must" || clause.occur === "must") {
      report.error(
        "contradiction",
        start,
        end,
        `${quoted(text)} is both required and excluded: the rule never matches`,
        { fix: withoutClause(report, group, clause.query, "Keep the first one") }
      )
    }
  }
}

/** 'electric vehicle' in single quotes is two words with apostrophes. */
const checkSingleQuotes = (report: Report, group: Group): boolean => {
  let opening: Term | undefined
  for (const { query, spelling } of group.clauses) {
    const isInside = query._tag === "Term" && query.field === undefined && spelling.conjunction === undefined
    if (!isInside) opening = undefined
    if (isInside && opening !== undefined && /['’]$/.test(query.text)) {
      const { start } = opening.value
      const { end } = query.value
      report.error("single-quotes", start, end, "A phrase needs double quotes; single quotes are part of the words", {
        fix: report.fix("Write double quotes", start, end, `"${report.text.slice(start + 1, end - 1)}"`)
      })
      return true
    }
    if (opening === undefined && query._tag === "Term" && /^['‘]/.test(query.text)) opening = query
  }
  return false
}

/** Joins `recent:` with AND; several other clauses go in parentheses. */
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
  const own = report.textOf(recent.span)
  return report.fix("Join it with AND", start, end, index === 0 ? `${own} AND ${wrapped}` : `${wrapped} AND ${own}`)
}
