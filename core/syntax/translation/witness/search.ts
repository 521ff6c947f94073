/** Finds an event for each loss of a translation, and checks it on both filters. */
import { Either } from "effect"
import type { JsonObject } from "../../../text/json.ts"
import { Pace, type Turns } from "../../../work/turns.ts"
import { STEPS_PER_UNIT, type WorkBudget } from "../../../work/WorkBudget.ts"
import { evaluateInTurns } from "../../expression/evaluate.ts"
import type { EventFields } from "../../expression/eventFields.ts"
import type { Expression, Predicate } from "../../expression/expression.ts"
import type { Span } from "../../issues/issue.ts"
import type { LossEffect } from "../translate.ts"
import type { Content, ExampleEvents } from "./content.ts"
import {
  type ClauseKeys,
  keysOf,
  placeOf,
  predicatesOf,
  require,
  sizeOf,
  type Wanted,
  type WantedLeaf,
  withConstant
} from "./decision.ts"
import { type ClauseExamples, type Edit, examplesOf } from "./examples.ts"

/**
 * The same content as an event of each language. Exactly one filter matches its event, and a different result of the
 * lost clause would have made both agree.
 */
export interface Witness {
  readonly effect: LossEffect
  /** Id of the language whose filter matches. */
  readonly matchedBy: string
  /** By language id. */
  readonly events: Readonly<Record<string, JsonObject>>
}

export interface ExampleLanguage {
  readonly id: string
  /** Absent: translations from and to the language have no witnesses. */
  readonly examples?: ExampleEvents
  readonly events: { readonly read: (record: unknown, now: number) => Either.Either<EventFields, string> }
}

export interface Loss {
  readonly span: Span
  readonly effect: LossEffect
  /** The translation has no such clause. */
  readonly leftOut: boolean
}

/** Finds a witness for a loss. A function, because all losses of a rule share the limit on its work. */
export type FindWitness = (loss: Loss) => Turns<Witness | undefined>

export const noWitness: FindWitness = function* () {
  return undefined
}

export const witnessFinder = (
  source: Side<ExampleLanguage>,
  target: Side<ExampleLanguage>,
  budget: WorkBudget
): FindWitness => {
  if (!hasExamples(source) || !hasExamples(target)) return noWitness
  const search = new WitnessSearch(source, target, budget)
  return (loss) => search.find(loss)
}

// ---- helpers ----

type WitnessLanguage = ExampleLanguage & { readonly examples: ExampleEvents }

/** A filter and its language. */
interface Side<L extends ExampleLanguage> {
  readonly language: L
  readonly text: string
  readonly expression: Expression
}

const hasExamples = (side: Side<ExampleLanguage>): side is Side<WitnessLanguage> => side.language.examples !== undefined

/** What the parts of the search cost, in units of work. Those of an event and of examples do not include their text. */
const UNITS_PER_LEAF = 0.5
const UNITS_PER_EVENT = 5
const UNITS_PER_EXAMPLES = 5
const UNITS_PER_CHARACTER = 0.2
const UNITS_PER_VALUE = 4

/** Each adds a value to a copy of those before. */
const LEAVES_PER_UNIT = 200

/** Ways to satisfy the other clauses. */
const MAX_CHOICES = 6

/** Words and sites that fit anywhere. */
const FILLERS = ["update", "today", "report", "story", "news", "morning", "people", "again", "around", "later"]
const SITES = ["example.org", "example.net", "news.test", "site.test"]

const unchanged: Edit = (content) => content

class WitnessSearch {
  private readonly source: Side<WitnessLanguage>
  private readonly target: Side<WitnessLanguage>
  private readonly budget: WorkBudget
  private readonly pace = new Pace()
  private readonly base: Content
  private readonly fillers: ReadonlyArray<string>
  private readonly examples = new Map<Predicate, ClauseExamples>()
  private readonly matching = new Map<Predicate, ReadonlyArray<Edit>>()
  private readonly failing = new Map<Predicate, ReadonlyArray<Edit>>()
  private keys: ClauseKeys | undefined
  /** In leaves. */
  private readonly size: number

  constructor(source: Side<WitnessLanguage>, target: Side<WitnessLanguage>, budget: WorkBudget) {
    this.source = source
    this.target = target
    this.budget = budget
    this.size = sizeOf(source.expression) + sizeOf(target.expression)
    const used = `${source.text} ${target.text}`.toLowerCase()
    this.fillers = [...FILLERS.filter((word) => !used.includes(word)), "something"]
    this.base = {
      texts: [],
      separator: ", ",
      site: SITES.find((site) => !used.includes(site)) ?? "witness.test",
      link: undefined,
      title: undefined,
      language: undefined,
      otherLinks: [],
      own: {}
    }
  }

  /** Undefined if there is none, or if none was found within the limits. */
  *find({ span, effect, leftOut }: Loss): Turns<Witness | undefined> {
    if (!(yield* this.spend(UNITS_PER_LEAF * this.size))) return undefined
    const place = placeOf(this.source.expression, span)
    if (place === undefined) return undefined
    const matches = effect === "narrower"
    const value = matches === place.positive
    this.keys ??= yield* keysOf(this.source.expression, this.pace)
    const { keys } = this
    const key = keys.get(place.clause)
    const flipped = withConstant(this.source.expression, (clause) => keys.get(clause) === key, !value)
    const siblings = place.siblings.filter(({ expression }) => keys.get(expression) !== key)
    const edits = new Replayed(this.editsOf(place.clause, { value, leftOut }))
    const clauseSize = sizeOf(place.clause)
    const fitting = new Map<Edit, boolean>()
    for (let choice = 0; choice < MAX_CHOICES; choice++) {
      const context = yield* this.contextOf(siblings, choice)
      if (context === undefined) continue
      for (const edit of edits) {
        let fits = fitting.get(edit)
        if (fits === undefined) {
          fits = (yield* this.holds(place.clause, clauseSize, edit)) === value
          fitting.set(edit, fits)
        }
        if (!fits) continue
        for (const content of this.layouts(edit(context))) {
          const events = yield* this.eventsThatDiffer(content, { matches, flipped })
          if (events !== undefined) {
            return { effect, matchedBy: (matches ? this.source : this.target).language.id, events }
          }
          if (this.budget.isUsedUp) return undefined
        }
      }
      if (this.budget.isUsedUp) return undefined
    }
    return undefined
  }

  /** Whether there is work left. Call it before the work. */
  private *spend(units: number): Turns<boolean> {
    if (!this.budget.take(units)) return false
    if (this.pace.endsTurn(STEPS_PER_UNIT * units)) yield
    return true
  }

  /** Content on which the siblings have the values that leave the decision to the lost clause. */
  private *contextOf(siblings: ReadonlyArray<Wanted>, choice: number): Turns<Content | undefined> {
    if (!(yield* this.spend(UNITS_PER_LEAF * this.size))) return undefined
    const leaves: Array<WantedLeaf> = []
    if (!siblings.every((sibling) => require(sibling, choice, leaves))) return undefined
    let content = this.base
    for (const { predicate, value } of leaves) {
      const edit = yield* this.editFor(predicate, value, choice)
      if (edit === undefined || !(yield* this.spend(UNITS_PER_LEAF + leaves.length / LEAVES_PER_UNIT))) return undefined
      content = edit(content)
    }
    return content
  }

  private *editFor(predicate: Predicate, value: boolean, choice: number): Turns<Edit | undefined> {
    const known = value ? this.matching : this.failing
    let fitting = known.get(predicate)
    if (fitting === undefined) {
      const found: Array<Edit> = []
      const { plain, other } = this.examplesOf(predicate)
      for (const edit of value ? plain : [unchanged, ...other]) {
        if ((yield* this.holds(predicate, 1, edit)) === value) found.push(edit)
      }
      known.set(predicate, found)
      fitting = found
    }
    return fitting[Math.floor(choice / 2) % Math.max(1, fitting.length)]
  }

  /** The caller tests whether they give the clause its value. */
  private *editsOf(clause: Expression, loss: { value: boolean; leftOut: boolean }): Generator<Edit> {
    for (const leaf of predicatesOf(clause)) {
      const { plain, other, near } = this.examplesOf(leaf)
      if (!loss.leftOut) yield* [...near, ...plain, ...other]
      else yield* loss.value ? plain : [...other, unchanged, ...near]
    }
    yield unchanged
  }

  private examplesOf(predicate: Predicate): ClauseExamples {
    let found = this.examples.get(predicate)
    if (found === undefined) {
      const { start, end } = predicate.span
      if (!this.budget.take(UNITS_PER_EXAMPLES + UNITS_PER_CHARACTER * (end - start))) return NO_EXAMPLES
      const { text, language } = this.source
      found = examplesOf(predicate, {
        source: text.slice(start, end),
        format: language.examples,
        fillers: this.fillers
      })
      this.examples.set(predicate, found)
    }
    return found
  }

  /** `size`: of the clause. */
  private *holds(clause: Expression, size: number, edit: Edit): Turns<boolean | undefined> {
    const content = this.withSomeText(edit(this.base))
    if (!(yield* this.spend(unitsOf(content) + UNITS_PER_LEAF * size))) return undefined
    const event = eventOf(this.source.language, content)
    return event && (yield* this.evaluate(clause, event))
  }

  /** `undefined` if it takes more work than is left. */
  private evaluate(expression: Expression, event: EventFields): Turns<boolean | undefined> {
    return this.budget.run(evaluateInTurns(expression, event, this.pace))
  }

  /** Words of two texts may form a phrase: the second layout separates them. */
  private layouts(content: Content): ReadonlyArray<Content> {
    const full = this.withSomeText(content)
    return full.texts.length < 2 ? [full] : [full, { ...full, separator: ` ${this.fillers[0]} ` }]
  }

  private withSomeText(content: Content): Content {
    return content.texts.length === 0 ? { ...content, texts: this.fillers.slice(0, 1) } : content
  }

  private *eventsThatDiffer(
    content: Content,
    wanted: { readonly matches: boolean; readonly flipped: Expression }
  ): Turns<Witness["events"] | undefined> {
    if (!(yield* this.spend(2 * unitsOf(content) + UNITS_PER_LEAF * this.size))) return undefined
    const { source, target } = this
    const before = eventOf(source.language, content)
    const after = eventOf(target.language, content)
    const differs =
      before !== undefined &&
      after !== undefined &&
      (yield* this.evaluate(source.expression, before)) === wanted.matches &&
      (yield* this.evaluate(target.expression, after)) === !wanted.matches &&
      (yield* this.evaluate(wanted.flipped, before)) === !wanted.matches
    return differs
      ? {
          [source.language.id]: source.language.examples.payload(content),
          [target.language.id]: target.language.examples.payload(content)
        }
      : undefined
  }
}

const NO_EXAMPLES: ClauseExamples = { plain: [], other: [], near: [] }

/** Can be read several times, and reads its source once, as far as it is needed. */
class Replayed<A> implements Iterable<A> {
  private readonly source: Iterator<A>
  private readonly known: Array<A> = []

  constructor(source: Iterator<A>) {
    this.source = source
  }

  *[Symbol.iterator](): Iterator<A> {
    yield* this.known
    for (let next = this.source.next(); next.done !== true; next = this.source.next()) {
      this.known.push(next.value)
      yield next.value
    }
  }
}

/** What it costs to read the content as an event. */
function unitsOf({ texts, otherLinks, own, link = "", title = "" }: Content): number {
  const values = [link, title, ...texts, ...otherLinks.map(({ title = "" }) => title), ...Object.values(own).flat()]
  return values.reduce<number>(
    (sum, value) => sum + UNITS_PER_VALUE + UNITS_PER_CHARACTER * String(value).length,
    UNITS_PER_EVENT
  )
}

function eventOf({ examples, events }: WitnessLanguage, content: Content): EventFields | undefined {
  return Either.getOrUndefined(events.read(examples.payload(content), 0))
}
