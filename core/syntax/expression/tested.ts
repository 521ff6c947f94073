/** The values of an event on which a clause was tested, and the place that it matched. */
import { Pace, type Turns } from "../../work/turns.ts"
import type { Span } from "../issues/issue.ts"
import type { Tokens } from "../words/tokens.ts"
import type { Leaf } from "./describe.ts"
import { sampleOf, testInTurns } from "./evaluate.ts"
import type { Area, EventFields, PlatformEvent } from "./eventFields.ts"
import type { Field, Predicate } from "./expression.ts"
import { findWords } from "./findWords.ts"

export interface Tested {
  /** The field of the event: `x.text`. */
  readonly field: Field
  /** The first few values of the field, cut to some length. Empty if the event has none. */
  readonly values: ReadonlyArray<string>
  /** How many values the field has. */
  readonly count: number
  /** Set if the clause held on a text or keyword. */
  readonly place?: Place
}

/** A half-open range of UTF-16 code units in one of the values, which is not cut. */
export interface Place extends Span {
  /** Index of the value. */
  readonly value: number
  /** The text at the place, cut to some length. */
  readonly text: string
}

/** `undefined` for a constant, which is tested on nothing. */
export function* testedInTurns(leaf: Leaf, held: boolean, event: PlatformEvent): Turns<Tested | undefined> {
  switch (leaf._tag) {
    case "Everything":
    case "Nothing":
      return undefined
    case "NumberRange":
      return plain(leaf.field, numbers(event.number(leaf.field)))
    case "Radius":
    case "Box":
      return plain("geo", event.places().map(describeArea))
    case "Sample":
      return plain("sample", [String(sampleOf(event.id))])
    case "Recent":
      return plain("age_hours", numbers(event.ageHours))
    default: {
      const isText = leaf._tag === "Phrase" || ("over" in leaf && leaf.over === "words")
      const values = isText ? event.texts(leaf.field) : event.keywords(leaf.field)
      const found = !held ? undefined : yield* isText ? placeInTexts(leaf, event) : placeInKeywords(leaf, event)
      return { ...plain(leaf.field, values), ...(found && { place: found }) }
    }
  }
}

// ---- helpers ----

const MAX_VALUES = 5
const MAX_LENGTH = 200

const plain = (field: Field, values: ReadonlyArray<string>): Tested => ({
  field,
  values: values.slice(0, MAX_VALUES).map(cut),
  count: values.length
})

/** Does not cut a character in two. */
const cut = (text: string): string =>
  text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, "")}…`

const numbers = (value: number | undefined): ReadonlyArray<string> =>
  value === undefined ? [] : [String(Number(value.toPrecision(10)))]

const describeArea = ({ west, south, east, north }: Area): string =>
  west === east && south === north
    ? `longitude ${west}, latitude ${south}`
    : `longitudes ${west} to ${east}, latitudes ${south} to ${north}`

type FieldPredicate = Extract<Predicate, { readonly field: Field }>

function* placeInKeywords(predicate: FieldPredicate, event: PlatformEvent): Turns<Place | undefined> {
  const pace = new Pace()
  const values = event.keywords(predicate.field)
  for (const [index, value] of values.entries()) {
    if (!(yield* testInTurns(predicate, only({ keywords: [value] }), pace))) continue
    const start = predicate._tag === "Contains" ? value.indexOf(predicate.text) : 0
    const end = predicate._tag === "Contains" ? start + predicate.text.length : value.length
    return placeAt(index, value, { start, end })
  }
  return undefined
}

function* placeInTexts(predicate: FieldPredicate, event: PlatformEvent): Turns<Place | undefined> {
  const pace = new Pace()
  const raw = event.texts(predicate.field)
  const holds = (tokens: Tokens) => testInTurns(predicate, only({ text: [tokens] }), pace)
  for (const [index, tokens] of event.text(predicate.field).entries()) {
    const text = raw[index]
    if (text === undefined || !(yield* holds(tokens))) continue
    // The shortest start of the text that holds ends with the match; the shortest end of that is the match.
    const end = yield* smallest(1, tokens.words.length, (to) => holds(part(tokens, 0, to)))
    const length = yield* smallest(1, end, (words) => holds(part(tokens, end - words, end)))
    const analyse = (piece: string) => event.analyse(piece, predicate.field)
    const span = yield* findWords(text, { words: tokens.words, from: end - length, to: end }, analyse)
    return span && placeAt(index, text, span)
  }
  return undefined
}

const placeAt = (value: number, text: string, { start, end }: Span): Place => ({
  value,
  start,
  end,
  text: cut(text.slice(start, end))
})

const part = ({ words, positions }: Tokens, from: number, to: number): Tokens => ({
  words: words.slice(from, to),
  positions: positions.slice(from, to)
})

/** The smallest number for which the test holds, if it holds for `high` and for every number above one that it holds for. */
function* smallest(low: number, high: number, test: (value: number) => Turns<boolean>): Turns<number> {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >> 1
    if (yield* test(middle)) to = middle
    else from = middle + 1
  }
  return to
}

/** An event that has only these values in every field. */
const only = ({
  text = [],
  keywords = []
}: {
  readonly text?: ReadonlyArray<Tokens>
  readonly keywords?: ReadonlyArray<string>
}): EventFields => ({
  id: "",
  text: () => text,
  readText: function* () {},
  keywords: () => keywords,
  number: () => undefined,
  places: () => [],
  ageHours: undefined
})
