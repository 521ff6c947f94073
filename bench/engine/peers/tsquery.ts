/** Writes rules as tsquery. A field with its value is one lexeme. */
import { fieldTerm } from "../workload/event.ts"
import type { Rule } from "../workload/rule.ts"

export const writeTsquery = (rule: Rule): string => {
  switch (rule.op) {
    case "and":
      return `(${rule.clauses.map(writeTsquery).join(" & ")})`
    case "or":
      return `(${rule.clauses.map(writeTsquery).join(" | ")})`
    case "not":
      return `!${writeTsquery(rule.clause)}`
    case "word":
      return quoted(rule.word)
    case "prefix":
      return `${quoted(rule.prefix)}:*`
    case "phrase":
      return `(${rule.words.map(quoted).join(" <-> ")})`
    case "field":
      return quoted(fieldLexeme(fieldTerm(rule.field, rule.value)))
  }
}

/** The index supports neither phrases nor prefixes: returns a weaker rule that matches at least the same events. */
export const widened = (rule: Rule): Rule => {
  switch (rule.op) {
    case "and":
      return { op: "and", clauses: rule.clauses.filter(({ op }) => op !== "prefix").map(widened) }
    case "or":
      return { op: "or", clauses: rule.clauses.map(widened) }
    case "phrase":
      return { op: "and", clauses: rule.words.map((word) => ({ op: "word", word })) }
    default:
      return rule
  }
}

/** Words never start with "=", so that a prefix does not match a field. */
export const fieldLexeme = (term: string): string => `=${term}`

// ---- helpers ----

const quoted = (term: string): string => `'${term}'`
