/** Lowers the AST of a Firehose rule to an expression. */
import type { Bound, Expression } from "../expression/expression.ts"
import type { Span } from "../issues/issue.ts"
import type { Group, Query, Range } from "./ast.ts"
import type { Field, FieldSet } from "./fieldSet.ts"
import { firehoseFields } from "./fields.ts"
import { analyse, isPlainWord, lowerWord } from "./tokens.ts"

/** Expects a checked rule; an invalid clause lowers to `Nothing`. */
export const lower = (ast: Group, fields: FieldSet = firehoseFields): Expression =>
  lowerGroup(ast, fields.default, fields)

// ---- helpers ----

/** Optional clauses matter only if there is no required clause. */
const lowerGroup = (group: Group, field: Field | undefined, fields: FieldSet): Expression => {
  const required: Array<Expression> = []
  const optional: Array<Expression> = []
  const prohibited: Array<Expression> = []
  for (const { occur, query, span } of group.clauses) {
    const expression = lowerQuery(query, field, fields)
    if (occur === "must") {
      required.push(expression)
    } else if (occur === "should") {
      optional.push(expression)
    } else {
      prohibited.push({ _tag: "Not", clause: expression, span })
    }
  }
  const { span } = group
  if (required.length === 0 && optional.length === 0) {
    return { _tag: "Nothing", span }
  }
  const positive = required.length > 0 ? required : [joined("Or", optional, span)]
  return joined("And", prohibited.length === 0 ? positive : [...positive, ...prohibited], span)
}

const joined = (_tag: "And" | "Or", clauses: ReadonlyArray<Expression>, span: Span): Expression => {
  const only = clauses[0]
  return clauses.length === 1 && only !== undefined ? only : { _tag, clauses, span }
}

const lowerQuery = (query: Query, outer: Field | undefined, fields: FieldSet): Expression => {
  const field = query.field === undefined ? outer : fields.of(query.field.name)
  const { span } = query
  switch (query._tag) {
    case "Group":
      return lowerGroup(query, field, fields)
    case "Everything":
      return { _tag: "Everything", span }
    case "Recent":
      return { _tag: "Recent", hours: hoursOf(query.amount, query.unit), span }
    case "Term":
    case "Phrase":
      return lowerText(query.text, query._tag === "Phrase" ? query.slop : undefined, field, span)
    case "Wildcard":
      if (field?.kind === "number") {
        return { _tag: "NumberRange", field: field.target, from: undefined, to: undefined, span }
      }
      if (field?.kind === "text") {
        const parts = query.parts.map((part) => (typeof part === "string" ? lowerWord(part) : part))
        return { _tag: "Wildcard", field: field.target, over: "words", parts, span }
      }
      return field?.kind === "keyword"
        ? { _tag: "Wildcard", field: field.target, over: "values", parts: query.parts, span }
        : { _tag: "Nothing", span }
    case "Fuzzy":
      if (field?.kind === "text") {
        const word = lowerWord(query.text)
        return { _tag: "Fuzzy", field: field.target, over: "words", word, distance: query.distance, span }
      }
      return field?.kind === "keyword"
        ? { _tag: "Fuzzy", field: field.target, over: "values", word: query.text, distance: query.distance, span }
        : { _tag: "Nothing", span }
    case "Regex":
      if (field?.kind === "text") {
        return { _tag: "Regex", field: field.target, over: "words", pattern: query.pattern.toLowerCase(), span }
      }
      return field?.kind === "keyword"
        ? { _tag: "Regex", field: field.target, over: "values", pattern: query.pattern, span }
        : { _tag: "Nothing", span }
    case "Range":
      return lowerRange(query, field)
  }
}

/**
 * A quoted text is a phrase. A bare term of several words matches any one of them: Lucene's option to generate phrases
 * from such terms is off by default.
 */
const lowerText = (text: string, slop: number | undefined, field: Field | undefined, span: Span): Expression => {
  if (field?.kind === "keyword") {
    return { _tag: "Equals", field: field.target, value: text, span }
  }
  if (field?.kind === "number") {
    const bound = { value: Number(text), inclusive: true }
    return { _tag: "NumberRange", field: field.target, from: bound, to: bound, span }
  }
  if (field?.kind !== "text") {
    return { _tag: "Nothing", span }
  }
  if (isPlainWord(text)) {
    return { _tag: "Phrase", field: field.target, words: [text.toLowerCase()], slop: slop ?? 0, span }
  }
  const { words, positions } = analyse(text, field.keepsStopWords)
  if (slop === undefined) {
    return joined(
      "Or",
      words.map((word) => ({ _tag: "Phrase", field: field.target, words: [word], slop: 0, span })),
      span
    )
  }
  const first = positions[0] ?? 0
  const hasGap = (positions.at(-1) ?? 0) - first !== positions.length - 1
  return {
    _tag: "Phrase",
    field: field.target,
    words,
    ...(hasGap ? { offsets: positions.map((position) => position - first) } : {}),
    slop,
    span
  }
}

const lowerRange = (range: Range, field: Field | undefined): Expression => {
  const { span } = range
  if (field?.kind === "number") {
    return {
      _tag: "NumberRange",
      field: field.target,
      from: bound(range.from && Number(range.from.text), range.includesFrom),
      to: bound(range.to && Number(range.to.text), range.includesTo),
      span
    }
  }
  if (field?.kind === "keyword") {
    return {
      _tag: "KeywordRange",
      field: field.target,
      from: bound(range.from?.text, range.includesFrom),
      to: bound(range.to?.text, range.includesTo),
      span
    }
  }
  return { _tag: "Nothing", span }
}

const bound = <A>(value: A | undefined, inclusive: boolean): Bound<A> | undefined =>
  value === undefined ? undefined : { value, inclusive }

const hoursOf = (amount: number, unit: "h" | "d" | "mo"): number =>
  amount * (unit === "h" ? 1 : unit === "d" ? 24 : 30 * 24)
