/** The values of an event on which a clause was tested, and the place that it matched. */
import { type Pace, TurnBudget, type Turns } from "../../work/turns.ts"
import type { Span } from "../issues/issue.ts"
import type { Tokens } from "../words/tokens.ts"
import type { Leaf } from "./describe.ts"
import { sampleOf, testInTurns } from "./evaluate.ts"
import type { Area, EventFields, PlatformEvent } from "./eventFields.ts"
import type { Field, Predicate } from "./expression.ts"
import { WordOffsets } from "./WordOffsets.ts"

export interface Tested {
  /** The field of the event: `x.text`. */
  readonly field: Field
  /** The first few values of the field, cut to some length. Empty if the event has none. */
  readonly values: ReadonlyArray<string>
  /** How many values the field has. */
  readonly count: number
  /** Set if the clause held on a text or keyword, unless finding the place takes too much work. */
  readonly place?: Place
}

/** A half-open range of UTF-16 code units in one of the values, which is not cut. */
export interface Place extends Span {
  /** Index of the value. */
  readonly value: number
  /** The text at the place, cut to some length. */
  readonly text: string
}

interface Shown {
  readonly values: ReadonlyArray<string>
  readonly tested: Tested
}

/** Finds the places of the clauses of one filter on one event. */
export class PlaceSearch {
  readonly pace: Pace
  /** Of all clauses together. Those of the last clauses of a long filter on a long text may stay unknown. */
  readonly budget = new TurnBudget(85)
  private readonly offsets = new Map<string, WordOffsets>()
  /** By field. */
  private readonly texts = new Map<Field, Shown>()
  private readonly keywords = new Map<Field, Shown>()

  constructor(pace: Pace) {
    this.pace = pace
  }

  /** The values of a field, which all its clauses share. */
  valuesOf(event: PlatformEvent, field: Field, isText: boolean): Shown {
    const known = (isText ? this.texts : this.keywords).get(field)
    if (known !== undefined) return known
    const values = isText ? event.texts(field) : event.keywords(field)
    const shown = { values, tested: plain(field, values) }
    ;(isText ? this.texts : this.keywords).set(field, shown)
    return shown
  }

  offsetsOf(event: PlatformEvent, field: Field, index: number): WordOffsets {
    const key = `${index} ${field}`
    const known = this.offsets.get(key)
    const { values } = this.valuesOf(event, field, true)
    const offsets = known ?? new WordOffsets(values[index] ?? "", (piece) => event.analyse(piece, field))
    if (known === undefined) this.offsets.set(key, offsets)
    return offsets
  }
}

/** `undefined` for a constant, which is tested on nothing. */
export function* testedInTurns(
  leaf: Leaf,
  held: boolean,
  event: PlatformEvent,
  search: PlaceSearch
): Turns<Tested | undefined> {
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
      const { tested } = search.valuesOf(event, leaf.field, isText)
      const place = isText ? placeInTexts(leaf, event, search) : placeInKeywords(leaf, event, search)
      const found = held ? yield* search.budget.run(place) : undefined
      return found === undefined ? tested : { ...tested, place: found }
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

function* placeInKeywords(
  predicate: FieldPredicate,
  event: PlatformEvent,
  search: PlaceSearch
): Turns<Place | undefined> {
  const { values } = search.valuesOf(event, predicate.field, false)
  for (const [index, value] of values.entries()) {
    if (!(yield* testInTurns(predicate, only({ keywords: [value] }), search.pace))) continue
    const start = predicate._tag === "Contains" ? value.indexOf(predicate.text) : 0
    const end = predicate._tag === "Contains" ? start + predicate.text.length : value.length
    return placeAt(index, value, { start, end })
  }
  return undefined
}

function* placeInTexts(predicate: FieldPredicate, event: PlatformEvent, search: PlaceSearch): Turns<Place | undefined> {
  const { values } = search.valuesOf(event, predicate.field, true)
  for (const [index, tokens] of event.text(predicate.field).entries()) {
    const range = yield* wordsThatHold(predicate, tokens, search.pace)
    if (range === undefined) continue
    const span = yield* search.offsetsOf(event, predicate.field, index).find(tokens, range, search.pace)
    return span && placeAt(index, values[index] ?? "", span)
  }
  return undefined
}

/** The first words of the text on which the predicate holds, as few as possible. */
function* wordsThatHold(
  predicate: FieldPredicate,
  tokens: Tokens,
  pace: Pace
): Turns<readonly [from: number, to: number] | undefined> {
  if (predicate._tag === "Phrase" && predicate.words.length === 1) {
    const at = tokens.words.indexOf(predicate.words[0] ?? "")
    return at === -1 ? undefined : [at, at + 1]
  }
  const holds = (some: Tokens) => testInTurns(predicate, only({ text: [some] }), pace)
  if (!(yield* holds(tokens))) return undefined
  // The shortest start of the text that holds ends with the match; the shortest end of that is the match.
  const end = yield* smallest(tokens.words.length, (to) => holds(part(tokens, 0, to)))
  const length = yield* smallest(end, (words) => holds(part(tokens, end - words, end)))
  return [end - length, end]
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

/**
 * The smallest number for which the test holds, if it holds for `high` and for every number above one that it holds
 * for. Tries small numbers first: they take less work.
 */
function* smallest(high: number, test: (value: number) => Turns<boolean>): Turns<number> {
  let [from, to] = [1, 1]
  while (to < high && !(yield* test(to))) [from, to] = [to + 1, Math.min(2 * to, high)]
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
