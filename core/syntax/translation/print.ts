/** Prints a translated rule. */
import type { PartialRule } from "./partialRule.ts"

export const printX = (rule: PartialRule): string => {
  switch (rule._tag) {
    case "Leaf":
      return rule.text
    case "Not":
      return `-${grouped(rule.clause, printX(rule.clause))}`
    case "And":
      return rule.clauses.map((clause) => grouped(clause, printX(clause))).join(" ")
    case "Or":
      return rule.clauses.map(printX).join(" OR ")
    default:
      return ""
  }
}

/** Never mixes AND and OR on one level. A group of negations starts with `*:*`, because NOT alone matches nothing. */
export const printFirehose = (rule: PartialRule, isBranch = false): string => {
  switch (rule._tag) {
    case "Leaf":
      return rule.text
    case "Not":
      return isBranch ? `*:* AND ${printFirehose(rule)}` : `NOT ${grouped(rule.clause, printFirehose(rule.clause))}`
    case "And": {
      const clauses = [...rule.clauses].sort((a, b) => Number(a._tag === "Not") - Number(b._tag === "Not"))
      const text = clauses.map((clause) => grouped(clause, printFirehose(clause))).join(" AND ")
      return clauses[0]?._tag === "Not" ? `*:* AND ${text}` : text
    }
    case "Or":
      return rule.clauses
        .map((clause) => {
          const text = printFirehose(clause, true)
          return clause._tag === "Leaf" ? text : `(${text})`
        })
        .join(" OR ")
    default:
      return ""
  }
}

// ---- helpers ----

function grouped(rule: PartialRule, text: string): string {
  return rule._tag === "And" || rule._tag === "Or" ? `(${text})` : text
}
