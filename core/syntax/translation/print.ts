/** Writes a finished draft as rule text. */
import type { Draft } from "./draft.ts"

export const printX = (draft: Draft): string => {
  switch (draft._tag) {
    case "Leaf":
      return draft.text
    case "Not":
      return `-${grouped(draft.clause, printX(draft.clause))}`
    case "And":
      return draft.clauses.map((clause) => grouped(clause, printX(clause))).join(" ")
    case "Or":
      return draft.clauses.map(printX).join(" OR ")
    default:
      return ""
  }
}

/** AND and OR never share a level, and a group that only takes away starts from every page. */
export const printFirehose = (draft: Draft, isBranch = false): string => {
  switch (draft._tag) {
    case "Leaf":
      return draft.text
    case "Not":
      return isBranch ? `*:* AND ${printFirehose(draft)}` : `NOT ${grouped(draft.clause, printFirehose(draft.clause))}`
    case "And": {
      const clauses = [...draft.clauses].sort((a, b) => Number(a._tag === "Not") - Number(b._tag === "Not"))
      const text = clauses.map((clause) => grouped(clause, printFirehose(clause))).join(" AND ")
      return clauses[0]?._tag === "Not" ? `*:* AND ${text}` : text
    }
    case "Or":
      return draft.clauses
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

function grouped(draft: Draft, text: string): string {
  return draft._tag === "And" || draft._tag === "Or" ? `(${text})` : text
}
