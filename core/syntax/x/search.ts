/** A rule as a query of X's search and counts, which lack some operators of the stream. */
import type { XNode } from "./ast.ts"

export interface SearchQuery {
  /** Undefined if nothing of the rule is left. */
  readonly ast: XNode | undefined
  /** The names of the operators that were left out: the query matches what the rule matches, and maybe more. */
  readonly without: ReadonlyArray<string>
}

/** Operators of the stream that search refuses. */
export const unknownToSearch: ReadonlySet<string> = new Set(["sample", "bio", "bio_name", "bio_location"])

/** Leaves out the smallest clauses whose absence can only widen the rule. */
export const toSearch = (rule: XNode): SearchQuery => {
  const without = [...new Set(unknownIn(rule))]
  return { ast: without.length === 0 ? rule : widened(rule), without }
}

/** Whether every post that the rule matches is an original, a reply or a quote. */
export const excludesRetweets = (rule: XNode): boolean =>
  rule._tag === "And" ? rule.clauses.some(isNoRetweet) : isNoRetweet(rule)

// ---- helpers ----

const isNoRetweet = (node: XNode): boolean =>
  node._tag === "Not" &&
  node.clause._tag === "Operator" &&
  node.clause.name === "is" &&
  node.clause.value.toLowerCase() === "retweet"

const unknownIn = (node: XNode): ReadonlyArray<string> => {
  switch (node._tag) {
    case "And":
    case "Or":
      return node.clauses.flatMap(unknownIn)
    case "Not":
      return unknownIn(node.clause)
    case "Operator":
      return unknownToSearch.has(node.name) ? [node.name] : []
    default:
      return []
  }
}

/** Undefined stands for a clause that matches everything. */
const widened = (node: XNode): XNode | undefined => {
  switch (node._tag) {
    case "And": {
      const [first, ...others] = node.clauses.flatMap((clause) => widened(clause) ?? [])
      return first === undefined || others.length === 0 ? first : { ...node, clauses: [first, ...others] }
    }
    case "Or": {
      const clauses = node.clauses.flatMap((clause) => widened(clause) ?? [])
      return clauses.length === node.clauses.length ? { ...node, clauses } : undefined
    }
    default:
      return unknownIn(node).length === 0 ? node : undefined
  }
}
