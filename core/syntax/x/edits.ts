/** Changes of single clauses of an X filter. */

import { nearest } from "../../text/nearest.ts"
import type { FilterEdits, Replacement } from "../edits/FilterEdits.ts"
import { keyOf } from "../edits/FilterEdits.ts"
import { likeWords, slopFor } from "../edits/words.ts"
import type { EventFields } from "../expression/eventFields.ts"
import type { Field } from "../expression/expression.ts"
import { coarseFields, type FieldNames } from "../expression/FieldNames.ts"
import { areaInCircle } from "../expression/geometry.ts"
import type { Leaf, OperatorNode, PhraseNode, XNode } from "./ast.ts"
import { isLeaf } from "./ast.ts"
import { isAsciiAlphanumeric } from "./characters.ts"
import type { Dialect } from "./Dialect.ts"
import { parse } from "./language.ts"
import { tagFields } from "./lower.ts"
import { limits } from "./operators.ts"
import { print, printLeaf } from "./printer.ts"
import { tokens } from "./tokens.ts"
import { type Circle, circleOf, parts, rangeOf } from "./values.ts"

/** The changes of a dialect's filters: `undefined` if the text is none. */
export const editsOf = (dialect: Dialect, fieldNames: FieldNames) => {
  const coarse = coarseFields(fieldNames)
  return (text: string): FilterEdits | undefined => {
    const ast = parse(text, { dialect, maxLength: limits.maxLengthEnterprise, fixes: "none" }).rule?.ast
    return ast && editsIn(ast, coarse)
  }
}

// ---- helpers ----

const editsIn = (ast: XNode, coarse: ReadonlySet<Field>): FilterEdits => {
  const leaves = new Map<string, Leaf>()
  collect(ast, leaves)
  return {
    without: (clauses) => {
      const left = pruned(ast, new Set(clauses.map(keyOf)))
      return left && print(left)
    },
    *replacements(clause, event) {
      const leaf = leaves.get(keyOf(clause))
      if (leaf === undefined) return
      for (const { node, isNear } of replacementsOf(leaf, event, coarse)) {
        yield { text: printLeaf(node), isNear }
      }
    }
  }
}

interface NodeReplacement extends Pick<Replacement, "isNear"> {
  readonly node: Leaf
}

const collect = (node: XNode, leaves: Map<string, Leaf>): void => {
  if (isLeaf(node)) leaves.set(keyOf(node.span), node)
  else if (node._tag === "Not") collect(node.clause, leaves)
  else for (const clause of node.clauses) collect(clause, leaves)
}

const pruned = (node: XNode, dropped: ReadonlySet<string>): XNode | undefined => {
  if (dropped.has(keyOf(node.span))) return undefined
  if (isLeaf(node)) return node
  if (node._tag === "Not") {
    const clause = pruned(node.clause, dropped)
    return clause && { ...node, clause }
  }
  const clauses = node.clauses.flatMap((clause) => pruned(clause, dropped) ?? [])
  return clauses.length > 1 ? { ...node, clauses } : clauses[0]
}

/** `coarse`: another language or country is a change of detail, another author is not. */
function* replacementsOf(node: Leaf, event: EventFields, coarse: ReadonlySet<Field>): Generator<NodeReplacement> {
  switch (node._tag) {
    case "Keyword":
    case "Phrase": {
      const texts = event.text("x.text")
      const words = tokens(node.text)
      const slop =
        node._tag === "Phrase" && words.length > 1
          ? slopFor({ words, slop: node.distance ?? 0 }, texts, limits.proximity.max)
          : undefined
      if (node._tag === "Phrase" && slop !== undefined) yield { node: { ...node, distance: slop }, isNear: true }
      for (const like of likeWords(words, texts)) yield { node: wordsNode(like), isNear: true }
      return
    }
    case "Tag":
      for (const { value, isNear } of otherValues(node.text, event.keywords(tagFields[node.sign]), false)) {
        yield { node: { ...node, text: value }, isNear }
      }
      return
    case "Operator":
      for (const { value, isNear } of operatorValues(node, event, coarse)) yield { node: { ...node, value }, isNear }
  }
}

interface ValueReplacement extends Pick<Replacement, "isNear"> {
  readonly value: string
}

function* operatorValues(
  { value, operator }: OperatorNode,
  event: EventFields,
  coarse: ReadonlySet<Field>
): Generator<ValueReplacement> {
  const { target, single } = operator
  switch (target.test) {
    case "phrase":
      yield* otherTexts(value, target.field, event)
      return
    case "place":
      yield* otherTexts(value, "x.place", event)
      return
    case "equals":
    case "pattern":
      yield* otherValues(value, event.keywords(target.field), single && coarse.has(target.field))
      return
    case "number": {
      const range = rangeOf(value)
      const number = event.number(target.field)
      if (range === undefined || number === undefined) return
      const min = Math.min(range.min, Math.floor(number))
      yield {
        value: range.max === undefined ? `${min}` : `${min}..${Math.max(range.max, Math.ceil(number))}`,
        isNear: true
      }
      return
    }
    case "radius": {
      const circle = circleOf(value)
      const [longitude = "", latitude = ""] = parts(value)
      const radius = circle && radiusFor(circle, event)
      if (radius !== undefined) yield { value: `${longitude} ${latitude} ${radius}km`, isNear: true }
      return
    }
    // The whole address says too much, another share or box nothing: the clause is only removed.
    case "contains":
    case "sample":
    case "box":
      return
  }
}

/** The smallest radius in whole kilometres with which the circle holds the event. */
const radiusFor = (circle: Circle, event: EventFields): number | undefined => {
  for (let kilometres = Math.ceil(circle.kilometres); kilometres <= MAX_KILOMETRES; kilometres++) {
    if (event.places().some((area) => areaInCircle(area, { ...circle, kilometres }))) return kilometres
  }
  return undefined
}

const MAX_KILOMETRES = Math.floor(limits.geoMiles * limits.kilometresPerMile)

function* otherTexts(value: string, field: Field, event: EventFields): Generator<ValueReplacement> {
  for (const words of likeWords(tokens(value), event.text(field))) yield { value: words.join(" "), isNear: true }
}

/** Names rather than ids: an account has both. Ids are alike by chance. */
function* otherValues(value: string, present: ReadonlyArray<string>, isDetail: boolean): Generator<ValueReplacement> {
  const like = isId(value) ? undefined : nearest(value, present)
  if (like !== undefined) yield { value: like, isNear: true }
  const names = present.toSorted((a, b) => Number(isId(a)) - Number(isId(b))).slice(0, MAX_VALUES)
  for (const name of names) yield { value: name, isNear: isDetail }
}

const MAX_VALUES = 5

const isId = (value: string): boolean => /^\d+$/.test(value)

const NOWHERE = { start: 0, end: 0 }

const wordsNode = (words: ReadonlyArray<string>): Leaf => {
  const text = words.join(" ")
  const isPlain =
    words.length === 1 && !RESERVED.has(text) && [...text].every((_, at) => isAsciiAlphanumeric(text.charCodeAt(at)))
  return isPlain
    ? { _tag: "Keyword", text, span: NOWHERE }
    : ({ _tag: "Phrase", text, distance: undefined, span: NOWHERE } satisfies PhraseNode)
}

/** Read as operators, or likely to be misread. */
const RESERVED: ReadonlySet<string> = new Set(["and", "or", "not", "near"])
