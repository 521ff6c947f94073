/** Writes a tree as canonical rule text: one spelling for all rules that say the same in the same order. */
import type { Leaf, OperatorNode, XNode } from "./ast.ts"
import { isAsciiAlphanumeric } from "./characters.ts"
import { choiceOf, operatorNamed } from "./operators.ts"
import { folded, parts } from "./values.ts"
import { languageCode } from "./vocabulary.ts"

/**
 * Canonical names for aliases, lower case (X compares without regard to it), single spaces, quotes and parentheses only
 * where they are needed.
 */
export const print = (node: XNode): string => {
  switch (node._tag) {
    case "Or":
      return node.clauses.map((clause) => (clause._tag === "Or" ? `(${print(clause)})` : print(clause))).join(" OR ")
    case "And":
      return node.clauses.map(printTight).join(" ")
    case "Not":
      return node.clause._tag === "Not" ? `-(${print(node.clause)})` : `-${printTight(node.clause)}`
    default:
      return leafKey(node)
  }
}

/** The canonical text of one clause; equal texts mean equal clauses. */
export const leafKey = (node: Leaf): string => {
  switch (node._tag) {
    case "Keyword":
      return node.text.toLowerCase()
    case "Phrase":
      return node.distance === undefined ? quote(node.text) : `${quote(node.text)}~${node.distance}`
    case "Tag":
      return node.sign + node.text.toLowerCase()
    case "Operator":
      return `${node.name}:${printValue(node)}`
  }
}

// ---- helpers ----

function printTight(node: XNode): string {
  return node._tag === "Or" || node._tag === "And" ? `(${print(node)})` : print(node)
}

function printValue(node: OperatorNode): string {
  const operator = operatorNamed(node.name)
  const { value } = node
  switch (operator?.value) {
    case "language":
      return languageCode(value) ?? value
    case "choice":
      return choiceOf(operator, value.toLowerCase())?.value ?? value
    case "country":
      return value.toUpperCase()
    case "range":
    case "count":
    case "percent":
      return value.replace(/\d+/g, (digits) => digits.replace(/^0+(?=\d)/, ""))
    case "radius":
    case "box":
      return `[${parts(value).join(" ").toLowerCase()}]`
    case "text":
    case "substring": {
      const words = folded(value)
      return isBare(words) ? words : quote(words)
    }
    default:
      return value.toLowerCase()
  }
}

/** Letters and digits need no quotes; a character outside ASCII might, so it gets them. */
function isBare(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    if (!isAsciiAlphanumeric(value.charCodeAt(i))) {
      return false
    }
  }
  return value !== ""
}

function quote(text: string): string {
  const words = folded(text).replaceAll('"', '\\"')
  // A backslash at the end would take the closing quote with it; white space at the end says nothing.
  return words.endsWith("\\") ? `"${words} "` : `"${words}"`
}
