/** Changes of single clauses of a Firehose filter. */
import { nearest } from "../../text/nearest.ts"
import { type FilterEdits, keyOf, type Replacement } from "../edits/FilterEdits.ts"
import { likeWords, slopFor } from "../edits/words.ts"
import type { EventFields } from "../expression/eventFields.ts"
import type { Clause, Group, Phrase, Query, Range, RangeEnd, Term } from "./ast.ts"
import type { Field, FieldSet, KeywordFieldInfo, TextFieldInfo } from "./fieldSet.ts"
import { firehoseFields } from "./fields.ts"
import { parse } from "./language.ts"
import { print, printQuery } from "./printer.ts"
import { analyse, isPlainWord, lowerWord } from "./tokens.ts"

/** `undefined` if the text is not a filter. */
export const edits = (text: string, fields: FieldSet = firehoseFields): FilterEdits | undefined => {
  const { ast } = parse(text, { fields })
  if (ast === undefined) return undefined
  const leaves = new Map<string, FieldedLeaf>()
  collect(ast, { fields, outer: fields.default }, leaves)
  return {
    without: (clauses) => {
      const left = pruned(ast, new Set(clauses.map(keyOf)))
      return left && print(left)
    },
    *replacements(clause, event) {
      const leaf = leaves.get(keyOf(clause))
      if (leaf === undefined) return
      for (const { query, isNear } of replacementsOf(leaf, event)) yield { text: printQuery(query), isNear }
    }
  }
}

// ---- helpers ----

type Leaf = Exclude<Query, Group>

interface FieldedLeaf {
  readonly query: Leaf
  readonly field: Field | undefined
}

interface QueryReplacement extends Pick<Replacement, "isNear"> {
  readonly query: Leaf
}

const collect = (
  group: Group,
  { fields, outer }: { readonly fields: FieldSet; readonly outer: Field | undefined },
  leaves: Map<string, FieldedLeaf>
): void => {
  for (const { query } of group.clauses) {
    const field = query.field === undefined ? outer : fields.of(query.field.name)
    if (query._tag === "Group") collect(query, { fields, outer: field }, leaves)
    else leaves.set(keyOf(query.span), { query, field })
  }
}

const pruned = (group: Group, dropped: ReadonlySet<string>): Group | undefined => {
  const clauses = group.clauses.flatMap((clause): ReadonlyArray<Clause> => {
    const { query, span } = clause
    if (dropped.has(keyOf(span)) || dropped.has(keyOf(query.span))) return []
    if (query._tag !== "Group") return [clause]
    const left = pruned(query, dropped)
    return left === undefined ? [] : [{ ...clause, query: ungrouped(left) }]
  })
  const [only] = clauses
  if (only === undefined) return undefined
  // A single required clause means the same as an optional one, which is printed without a sign.
  return { ...group, clauses: clauses.length === 1 && only.occur === "must" ? [{ ...only, occur: "should" }] : clauses }
}

/** A group of one clause without a field of its own is that clause. */
const ungrouped = (group: Group): Query => {
  const [only] = group.clauses
  return group.clauses.length === 1 && only?.occur === "should" && group.field === undefined ? only.query : group
}

function* replacementsOf({ query, field }: FieldedLeaf, event: EventFields): Generator<QueryReplacement> {
  if (query._tag === "Recent") {
    const { ageHours } = event
    if (ageHours !== undefined)
      yield { query: { ...query, amount: Math.max(1, Math.ceil(ageHours)), unit: "h" }, isNear: true }
  } else if (field?.kind === "text") {
    yield* textReplacements(query, field, event)
  } else if (field?.kind === "keyword") {
    yield* keywordReplacements(query, field, event)
  } else if (field?.kind === "number") {
    const value = event.number(field.target)
    if (value === undefined) return
    if (query._tag === "Range")
      yield { query: widened(query, String(value), (end) => Math.sign(value - Number(end))), isNear: true }
    else yield { query: termOf(query, String(value)), isNear: true }
  }
}

function* textReplacements(query: Leaf, field: TextFieldInfo, event: EventFields): Generator<QueryReplacement> {
  const texts = event.text(field.target)
  if (query._tag === "Fuzzy") {
    for (const distance of [1, 2] as const) {
      if (distance > query.distance) yield { query: { ...query, distance }, isNear: true }
    }
  }
  const words =
    query._tag === "Fuzzy"
      ? [lowerWord(query.text)]
      : "text" in query
        ? analyse(query.text, field.keepsStopWords).words
        : []
  const slop =
    query._tag === "Phrase" && words.length > 1 ? slopFor({ words, slop: query.slop }, texts, MAX_SLOP) : undefined
  if (query._tag === "Phrase" && slop !== undefined) yield { query: { ...query, slop }, isNear: true }
  for (const like of likeWords(words, texts)) yield { query: termOf(query, like.join(" ")), isNear: true }
}

const MAX_SLOP = 20

function* keywordReplacements(query: Leaf, field: KeywordFieldInfo, event: EventFields): Generator<QueryReplacement> {
  const values = event.keywords(field.target)
  if (query._tag === "Range") {
    for (const value of values.slice(0, MAX_VALUES)) {
      yield { query: widened(query, value, (end) => (value < end ? -1 : value > end ? 1 : 0)), isNear: true }
    }
    return
  }
  const like = "text" in query ? nearest(query.text, values) : undefined
  if (like !== undefined) yield { query: termOf(query, like), isNear: true }
  // The address of one page says too much.
  if (field.format === "url") return
  for (const value of values.slice(0, MAX_VALUES)) {
    yield { query: termOf(query, value), isNear: "text" in query && !field.multiValued }
  }
}

const MAX_VALUES = 5

/** `compare`: the sign of the value minus the end. */
const widened = (range: Range, value: string, compare: (end: string) => number): Range => {
  const end: RangeEnd = { text: value, span: range.span }
  const below = range.from === undefined ? 1 : compare(range.from.text)
  const above = range.to === undefined ? -1 : compare(range.to.text)
  return {
    ...range,
    ...(below <= 0 && { from: end, includesFrom: true }),
    ...(above >= 0 && { to: end, includesTo: true })
  }
}

/** In the field of the other query. */
const termOf = ({ field, value, span }: Leaf, text: string): Term | Phrase =>
  isPlainWord(text) || isDomainOrCode.test(text)
    ? { _tag: "Term", field, text, value, span }
    : { _tag: "Phrase", field, text, slop: 0, value, span }

const isDomainOrCode = /^[a-z0-9][a-z0-9.-]*$/
