/** Converts a workload rule by way of the platform's language, like a user's rule. */
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { checkRule, type PlatformId } from "../../../fixtures/languages.ts"
import type { FieldName, Rule } from "./rule.ts"

export const expressionOf = (platform: PlatformId, rule: Rule): Expression => {
  // X's language has no prefixes, but the workload of posts has them.
  if (platform === "x" && hasPrefix(rule)) return treeOf(rule)
  const text = write(rule, OPERATORS[platform])
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

const OPERATORS = {
  x: { and: " ", or: " OR ", not: "-" },
  firehose: { and: " AND ", or: " OR ", not: "NOT " }
}

const write = (rule: Rule, operators: (typeof OPERATORS)[PlatformId]): string => {
  switch (rule.op) {
    case "and":
    case "or": {
      const other = rule.op === "and" ? "or" : "and"
      const clauses = rule.clauses.map((clause) => {
        const text = write(clause, operators)
        return clause.op === other ? `(${text})` : text
      })
      return clauses.join(operators[rule.op])
    }
    case "not":
      return operators.not + write(rule.clause, operators)
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
