/** Lowers the AST to an expression. */
import type { Expression, Field, WildcardSign } from "../expression/expression.ts"
import type { Span } from "../issues/issue.ts"
import type { OperatorNode, TagNode, XNode } from "./ast.ts"
import { choiceOf, type Operator } from "./operators.ts"
import { tokens } from "./tokens.ts"
import { circleOf, folded, rangeOf, rectangleOf } from "./values.ts"
import { languageCode } from "./vocabulary.ts"

export const tagFields = { "#": "x.hashtag", "@": "x.mention", $: "x.cashtag" } as const satisfies Record<
  TagNode["sign"],
  string
>

/** Never throws: a value that the checker refuses lowers to `Nothing`. */
export const lower = (node: XNode): Expression => {
  const { span } = node
  switch (node._tag) {
    case "Or":
      return { _tag: "Or", clauses: node.clauses.map(lower), span }
    case "And":
      return { _tag: "And", clauses: node.clauses.map(lower), span }
    case "Not":
      return { _tag: "Not", clause: lower(node.clause), span }
    case "Keyword":
      return phrase("x.text", node.text, 0, span)
    case "Phrase":
      return phrase("x.text", node.text, node.distance ?? 0, span)
    case "Tag":
      return { _tag: "Equals", field: tagFields[node.sign], value: node.text.toLowerCase(), span }
    case "Operator":
      return lowerOperator(node)
  }
}

// ---- helpers ----

function phrase(field: Field, text: string, slop: number, span: Span): Expression {
  const words = tokens(text)
  return words.length === 0 ? { _tag: "Nothing", span } : { _tag: "Phrase", field, words, slop, span }
}

function lowerOperator(node: OperatorNode): Expression {
  const { operator, value, span } = node
  const { target } = operator
  switch (target.test) {
    case "phrase":
      return phrase(target.field, value, 0, span)
    case "equals":
      return { _tag: "Equals", field: target.field, value: canonicalValue(operator, value), span }
    case "contains":
      return { _tag: "Contains", field: target.field, text: folded(value), span }
    case "pattern":
      return value.includes("*")
        ? { _tag: "Wildcard", field: target.field, over: "values", parts: wildcardParts(value), span }
        : { _tag: "Equals", field: target.field, value, span }
    case "place": {
      const byId: Expression = { _tag: "Equals", field: "x.place_id", value: folded(value), span }
      return { _tag: "Or", clauses: [phrase("x.place", value, 0, span), byId], span }
    }
    case "number": {
      const range = rangeOf(value)
      if (range === undefined) {
        return { _tag: "Nothing", span }
      }
      const to = range.max === undefined ? undefined : { value: range.max, inclusive: true }
      return { _tag: "NumberRange", field: target.field, from: { value: range.min, inclusive: true }, to, span }
    }
    case "radius": {
      const circle = circleOf(value)
      return circle === undefined ? { _tag: "Nothing", span } : { _tag: "Radius", ...circle, span }
    }
    case "box": {
      const box = rectangleOf(value)
      return box === undefined ? { _tag: "Nothing", span } : { _tag: "Box", ...box, span }
    }
    case "sample": {
      const percent = Number(value)
      return Number.isInteger(percent) ? { _tag: "Sample", percent, span } : { _tag: "Nothing", span }
    }
  }
}

function canonicalValue(operator: Operator, value: string): string {
  if (operator.value === "choice") {
    return choiceOf(operator.choices, value.toLowerCase())?.value ?? value.toLowerCase()
  }
  if (operator.value === "language") {
    const code = (languageCode(value) ?? value).toLowerCase()
    // Posts carry plain zh for both scripts.
    return code.startsWith("zh-") ? "zh" : code
  }
  return operator.own?.canonical(value) ?? folded(value)
}

/** Splits `47.*` into a literal and a sign. */
function wildcardParts(value: string): ReadonlyArray<string | WildcardSign> {
  const parts: Array<string | WildcardSign> = []
  value.split("*").forEach((literal, index) => {
    if (index > 0) {
      parts.push({ sign: "*" })
    }
    if (literal !== "") {
      parts.push(literal)
    }
  })
  return parts
}
