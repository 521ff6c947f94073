/** Generates ASTs, and removes their spans for comparison. */
import fc from "fast-check"
import type { Leaf, OperatorNode, XNode } from "../../../../core/syntax/x/ast.ts"
import { type Operator, operators } from "../../../../core/syntax/x/operators.ts"
import { languages } from "../../../../core/syntax/x/vocabulary.ts"

export const withoutSpans = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(withoutSpans)
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== "span" && key !== "valueSpan" && key !== "operator")
        .map(([key, inner]) => [key, withoutSpans(inner)])
    )
  }
  return value
}

const span = { start: 0, end: 0 }

const word = fc
  .stringOf(fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz0123456789éñßд東".split("")), { minLength: 1, maxLength: 8 })
  .filter((text) => text !== "and")
const username = fc.stringOf(fc.constantFrom(..."abcxyz019_".split("")), { minLength: 1, maxLength: 15 })
const digits = fc.stringOf(fc.constantFrom(..."0123456789".split("")), { minLength: 1, maxLength: 19 })
const free = fc
  .tuple(
    fc.array(fc.oneof(word, fc.constantFrom("o'neil", 'say "hi"', "a\\b", "(x", "é-é", "c:d", "🍕", "❤️")), {
      minLength: 1,
      maxLength: 4
    })
  )
  .map(([words]) => words.join(" "))
const number = fc.nat({ max: 1_000_000 })

function valuesOf(operator: Operator): fc.Arbitrary<string> {
  switch (operator.value) {
    case "username":
      return username
    case "text":
    case "substring":
      return free
    case "id":
      return digits
    case "context":
      return fc.constantFrom("47.*", "*.123", "10.20")
    case "country":
      return fc.constantFrom("US", "CH", "JP")
    case "language":
      return fc.constantFrom(...languages.map(({ code }) => code))
    case "choice":
      return fc.constantFrom(...operator.choices.map(({ value }) => value))
    case "range":
      return fc.tuple(number, number).map(([a, b]) => (a < b ? `${a}..${b}` : `${a}`))
    case "count":
      return number.map(String)
    case "percent":
      return fc.integer({ min: 1, max: 100 }).map(String)
    case "radius":
      return fc.constantFrom("2.35 48.86 16km", "-105.2 40 24.9mi")
    case "box":
      return fc.constantFrom("-105.301758 39.964069 -105.178505 40.09455")
    case "own":
      return fc.constant(operator.own?.example ?? "")
  }
}

const operatorNode: fc.Arbitrary<OperatorNode> = fc.constantFrom(...operators).chain((operator) =>
  valuesOf(operator).map((value) => ({
    _tag: "Operator",
    operator,
    name: operator.name,
    value,
    span,
    valueSpan: span
  }))
)

const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  word.map((text): Leaf => ({ _tag: "Keyword", text, span })),
  fc
    .tuple(free, fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }))
    .map(([text, distance]): Leaf => ({ _tag: "Phrase", text, distance, span })),
  fc
    .tuple(fc.constantFrom("#" as const, "@" as const, "$" as const), username)
    .map(([sign, text]): Leaf => ({ _tag: "Tag", sign, text, span })),
  operatorNode
)

/** Canonical ASTs as the parser builds them: no `And` directly in `And`, no `Or` directly in `Or`. */
export const trees: fc.Arbitrary<XNode> = tree(3)

function tree(depth: number): fc.Arbitrary<XNode> {
  if (depth === 0) {
    return leaf
  }
  const below = tree(depth - 1)
  const many = (tag: "And" | "Or") =>
    fc
      .array(
        below.filter((node) => node._tag !== tag),
        { minLength: 2, maxLength: 4 }
      )
      .map((clauses): XNode => ({ _tag: tag, clauses, span }))
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 2, arbitrary: many("And") },
    { weight: 2, arbitrary: many("Or") },
    { weight: 1, arbitrary: below.map((clause): XNode => ({ _tag: "Not", clause, span })) }
  )
}
