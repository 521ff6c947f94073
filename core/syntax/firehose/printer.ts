/** Prints an AST in canonical form. Parsing the result gives the same AST. */
import type { Clause, Group, Occur, Query, RangeEnd } from "./ast.ts"
import { isSpace, isSpecial } from "./lexer.ts"

/** Equal for two rules that differ only in spelling. */
export const print = (ast: Group): string => printGroup(ast)

/** A term with its special characters escaped. */
export const escapeTerm = (text: string): string => {
  if (reserved.has(text)) {
    return `\\${text}`
  }
  return escapeText(text, true)
}

/** Escapes a value in which each `*` is a wildcard. */
export const escapeWildcard = (text: string): string => text.split("*").map(escapeTerm).join("*")

export const quotePhrase = (text: string): string =>
  text.includes('"') || text.includes("\\") ? `"${text.replace(/["\\]/g, "\\$&")}"` : `"${text}"`

/** A clause without its operators. Clauses that print the same are equivalent. */
export const printQuery = (query: Query): string => {
  const field = query.field === undefined ? "" : `${escapeTerm(query.field.name)}:`
  switch (query._tag) {
    case "Group":
      return `${field}(${printGroup(query)})`
    case "Term":
      return field + escapeTerm(query.text)
    case "Phrase":
      return field + quotePhrase(query.text) + (query.slop > 0 ? `~${query.slop}` : "")
    case "Wildcard":
      return (
        field +
        query.parts
          .map((part, index) => (typeof part === "string" ? escapeText(part, index === 0) : part.sign))
          .join("")
      )
    case "Fuzzy":
      return `${field}${escapeTerm(query.text)}~${query.distance}`
    case "Regex":
      return `${field}/${query.pattern}/`
    case "Range":
      return `${field}${query.includesFrom ? "[" : "{"}${printEnd(query.from)} TO ${printEnd(query.to)}${query.includesTo ? "]" : "}"}`
    case "Everything":
      return "*:*"
    case "Recent":
      return `recent:${query.amount}${query.unit}`
  }
}

// ---- helpers ----

const reserved = new Set(["AND", "OR", "NOT", "&&", "||"])

const escapeText = (text: string, atStart: boolean): string => {
  let result = ""
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isSign = atStart && at === 0 && (code === 0x2b || code === 0x2d)
    if (isSign || isSpecial(code) || isSpace(code)) {
      result += `${text.slice(from, at)}\\`
      from = at
    }
  }
  return from === 0 && result === "" ? text : result + text.slice(from)
}

/** Kept with the group: the groups around it print it, too. */
const printGroup = (group: Group): string => {
  const known = printedGroups.get(group)
  if (known !== undefined) return known
  const text = printClauses(group.clauses)
  printedGroups.set(group, text)
  return text
}
const printedGroups = new WeakMap<Group, string>()

const printClauses = (clauses: ReadonlyArray<Clause>): string => {
  const first = clauses[0]
  if (first === undefined) return ""
  if (clauses.length === 1) {
    return (first.occur === "must" ? "+" : first.occur === "must_not" ? "NOT " : "") + printQuery(first.query)
  }
  let hasOptional = false
  let hasOther = false
  for (const { occur } of clauses) {
    if (occur === "should") {
      hasOptional = true
    } else {
      hasOther = true
    }
  }
  const isMixed = hasOptional && hasOther
  const separator = isMixed ? " " : hasOptional ? " OR " : " AND "
  let text = ""
  for (const { occur, query } of clauses) {
    const isFirstOptional = text === "" && occur === "should"
    const prefix = isMixed ? (isFirstOptional ? "" : prefixes[occur]) : occur === "must_not" ? "NOT " : ""
    text += (text === "" ? prefix : separator + prefix) + printQuery(query)
  }
  return text
}

/**
 * A mixed group has no unambiguous form with AND. OR has no effect there, but without it two bare values of a keyword
 * field would be read as one.
 */
const prefixes: Record<Occur, string> = { must: "+", should: "OR ", must_not: "-" }

const printEnd = (end: RangeEnd | undefined): string => {
  if (end === undefined) return "*"
  if (end.text === "*" || end.text === "TO" || /[\s\]}"]/.test(end.text)) {
    return quotePhrase(end.text)
  }
  return end.text.replace(/[\\:]/g, "\\$&")
}
