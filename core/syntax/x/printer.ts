/** Prints an AST in canonical form. */
import type { Leaf, OperatorNode, XNode } from "./ast.ts"
import { isAsciiAlphanumeric } from "./characters.ts"
import { choiceOf } from "./operators.ts"
import { folded, parts } from "./values.ts"
import { languageCode } from "./vocabulary.ts"

/** Canonical names for aliases, lower case, single spaces, and only the quotes and parentheses that are needed. */
export const print = (node: XNode): string => {
  switch (node._tag) {
    case "Or":
      return node.clauses.map((clause) => (clause._tag === "Or" ? `(${print(clause)})` : print(clause))).join(" OR ")
    case "And":
      return node.clauses.map(printOperand).join(" ")
    case "Not":
      return node.clause._tag === "Not" ? `-(${print(node.clause)})` : `-${printOperand(node.clause)}`
    default:
      return printLeaf(node)
  }
}

/** Equal for clauses with the same meaning. */
export const printLeaf = (node: Leaf): string => {
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

function printOperand(node: XNode): string {
  return node._tag === "Or" || node._tag === "And" ? `(${print(node)})` : print(node)
}

function printValue(node: OperatorNode): string {
  const { operator, value } = node
  switch (operator.value) {
    case "language":
      return languageCode(value) ?? value
    case "choice":
      return choiceOf(operator.choices, value.toLowerCase())?.value ?? value
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
    case "own": {
      const own = operator.own?.canonical(value) ?? value
      return /[\s()"]/.test(own) ? quote(own) : own
    }
    default:
      return value.toLowerCase()
  }
}

/** Needs no quotes. Characters outside ASCII are always quoted, because some of them need quotes. */
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
  // A final backslash would escape the closing quote; X ignores the space.
  return words.endsWith("\\") ? `"${words} "` : `"${words}"`
}
