/** Converts a workload rule by way of the platform's language, like a user's rule. */
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { checkRule, type PlatformId } from "../../../fixtures/languages.ts"
import type { FieldName, Rule } from "./rule.ts"

export const expressionOf = (platform: PlatformId, rule: Rule): Expression => {
  // X's language has no prefixes, but the workload of posts has them.
  if (platform === "x" && hasPrefix(rule)) return treeOf(rule)
  const text = (platform === "x" ? writeX : writeFirehose)(rule)
  const { rule: understood, issues } = checkRule(platform, text)
  if (understood === undefined) throw new Error(`"${platform}" rejects the rule "${text}": ${issues[0]?.message}`)
  return understood.expression
}

// ---- helpers ----

const hasPrefix = (rule: Rule): boolean =>
  rule.op === "prefix" || ((rule.op === "and" || rule.op === "or") && rule.clauses.some(hasPrefix))

const span = { start: 0, end: 0 }

const treeOf = (rule: Rule): Expression => {
  switch (rule.op) {
    case "and":
      return { _tag: "And", clauses: rule.clauses.map(treeOf), span }
    case "prefix":
      return { _tag: "Wildcard", field: "x.text", over: "words", parts: [rule.prefix, { sign: "*" }], span }
    default:
      return expressionOf("x", rule)
  }
}

const writeX = (rule: Rule): string => {
  switch (rule.op) {
    case "and":
      return rule.clauses.map((clause) => (clause.op === "or" ? `(${writeX(clause)})` : writeX(clause))).join(" ")
    case "or":
      return rule.clauses.map((clause) => (clause.op === "and" ? `(${writeX(clause)})` : writeX(clause))).join(" OR ")
    case "not":
      return `-${writeX(rule.clause)}`
    case "word":
      return rule.word
    case "phrase":
      return `"${rule.words.join(" ")}"`
    case "field":
      return writeField(rule.field, rule.value)
    case "prefix":
      throw new Error("X has no prefixes")
  }
}

const writeFirehose = (rule: Rule): string => {
  switch (rule.op) {
    case "and":
      return rule.clauses
        .map((clause) => (clause.op === "or" ? `(${writeFirehose(clause)})` : writeFirehose(clause)))
        .join(" AND ")
    case "or":
      return rule.clauses
        .map((clause) => (clause.op === "and" ? `(${writeFirehose(clause)})` : writeFirehose(clause)))
        .join(" OR ")
    case "not":
      return `NOT ${writeFirehose(rule.clause)}`
    case "word":
      return rule.word
    case "prefix":
      return `${rule.prefix}*`
    case "phrase":
      return `"${rule.words.join(" ")}"`
    case "field":
      return writeField(rule.field, rule.value)
  }
}

const writeField = (name: FieldName, value: string): string => {
  switch (name) {
    case "hashtag":
      return `#${value}`
    case "mention":
      return `@${value}`
    case "url":
      return `url:"${value}"`
    case "followers":
      return `followers_count:${value}`
    case "category":
      return `page_category:"${value}"`
    case "type":
      return `page_type:"${value}"`
    case "rating":
      return `dr:[${value} TO *]`
    default:
      return `${name}:${value}`
  }
}
