/** Finds an event for each loss of a translation, and checks it on both filters. */
import { Either } from "effect"
import type { JsonObject } from "../../../text/json.ts"
import { evaluate } from "../../expression/evaluate.ts"
import type { EventFields } from "../../expression/eventFields.ts"
import type { Expression, Predicate } from "../../expression/expression.ts"
import type { Span } from "../../issues/issue.ts"
import type { LossEffect } from "../translate.ts"
import type { Content, ExampleEvents } from "./content.ts"
import { keyOf, leavesOf, placeOf, require, sizeOf, type Wanted, type WantedLeaf, withConstant } from "./decision.ts"
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

/** A function, because all losses of a rule share the limit on its work. */
export const witnessFinder = (
  source: Side<ExampleLanguage>,
  target: Side<ExampleLanguage>
): ((loss: Loss) => Witness | undefined) => {
  if (!hasExamples(source) || !hasExamples(target)) return () => undefined
  const search = new WitnessSearch(source, target)
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

/** Tests of a clause on a value, for all losses of a rule: about 40 ms. Only rules of hundreds of clauses reach it. */
const MAX_TESTS = 40_000

/** Ways to satisfy the other clauses. */
const MAX_CHOICES = 6

/** Words and sites that fit anywhere. */
const FILLERS = ["update", "today", "report", "story", "news", "morning", "people", "again", "around", "later"]
const SITES = ["example.org", "example.net", "news.test", "site.test"]

const unchanged: Edit = (content) => content

class WitnessSearch {
  private readonly source: Side<WitnessLanguage>
  private readonly target: Side<WitnessLanguage>
  private readonly base: Content
  private readonly fillers: ReadonlyArray<string>
  private readonly examples = new Map<Predicate, ClauseExamples>()
  private readonly matching = new Map<Predicate, ReadonlyArray<Edit>>()
  private readonly failing = new Map<Predicate, ReadonlyArray<Edit>>()
  private readonly size: number
  private left = MAX_TESTS

  constructor(source: Side<WitnessLanguage>, target: Side<WitnessLanguage>) {
    this.source = source
    this.target = target
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
  find({ span, effect, leftOut }: Loss): Witness | undefined {
    const place = this.left > 0 ? placeOf(this.source.expression, span) : undefined
    if (place === undefined) return undefined
    const matches = effect === "narrower"
    const value = matches === place.positive
    const key = keyOf(place.clause)
    const flipped = withConstant(this.source.expression, key, !value)
    const siblings = place.siblings.filter(({ expression }) => keyOf(expression) !== key)
    for (let choice = 0; choice < MAX_CHOICES; choice++) {
      this.left -= this.size
      const context = this.contextOf(siblings, choice)
      if (context === undefined) continue
      for (const edit of this.editsOf(place.clause, { value, leftOut })) {
        for (const content of this.layouts(edit(context))) {
          if (this.left <= 0) return undefined
          const events = this.eventsThatDiffer(content, { matches, flipped })
          if (events !== undefined) {
            return { effect, matchedBy: (matches ? this.source : this.target).language.id, events }
          }
        }
      }
    }
    return undefined
  }

  /** Content on which the siblings have the values that leave the decision to the lost clause. */
  private contextOf(siblings: ReadonlyArray<Wanted>, choice: number): Content | undefined {
    const leaves: Array<WantedLeaf> = []
    if (!siblings.every((sibling) => require(sibling, choice, leaves))) return undefined
    let content = this.base
    for (const { predicate, value } of leaves) {
      const edit = this.editFor(predicate, value, choice)
      if (edit === undefined) return undefined
      content = edit(content)
    }
    return content
  }

  private editFor(predicate: Predicate, value: boolean, choice: number): Edit | undefined {
    const known = value ? this.matching : this.failing
    let fitting = known.get(predicate)
    if (fitting === undefined) {
      const { plain, other } = this.examplesOf(predicate)
      const edits = value ? plain : [unchanged, ...other]
      fitting = edits.filter((edit) => this.holds(predicate, edit) === value)
      known.set(predicate, fitting)
    }
    return fitting[Math.floor(choice / 2) % Math.max(1, fitting.length)]
  }

  private editsOf(clause: Expression, loss: { value: boolean; leftOut: boolean }): ReadonlyArray<Edit> {
    const edits = leavesOf(clause).flatMap((leaf) => {
      const { plain, other, near } = this.examplesOf(leaf)
      if (!loss.leftOut) return [...near, ...plain, ...other]
      return loss.value ? plain : [...other, unchanged, ...near]
    })
    return [...edits, unchanged].filter((edit) => this.holds(clause, edit) === loss.value)
  }

  private examplesOf(predicate: Predicate): ClauseExamples {
    let found = this.examples.get(predicate)
    if (found === undefined) {
      const { start, end } = predicate.span
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

  private holds(clause: Expression, edit: Edit): boolean | undefined {
    this.left -= sizeOf(clause)
    const event = eventOf(this.source.language, this.withSomeText(edit(this.base)))
    return event && evaluate(clause, event)
  }

  /** Words of two texts may form a phrase: the second layout separates them. */
  private layouts(content: Content): ReadonlyArray<Content> {
    const full = this.withSomeText(content)
    return full.texts.length < 2 ? [full] : [full, { ...full, separator: ` ${this.fillers[0]} ` }]
  }

  private withSomeText(content: Content): Content {
    return content.texts.length === 0 ? { ...content, texts: this.fillers.slice(0, 1) } : content
  }

  private eventsThatDiffer(
    content: Content,
    wanted: { readonly matches: boolean; readonly flipped: Expression }
  ): Witness["events"] | undefined {
    this.left -= this.size * valuesIn(content)
    const { source, target } = this
    const before = eventOf(source.language, content)
    const after = eventOf(target.language, content)
    const differs =
      before !== undefined &&
      after !== undefined &&
      evaluate(source.expression, before) === wanted.matches &&
      evaluate(target.expression, after) !== wanted.matches &&
      evaluate(wanted.flipped, before) !== wanted.matches
    return differs
      ? {
          [source.language.id]: source.language.examples.payload(content),
          [target.language.id]: target.language.examples.payload(content)
        }
      : undefined
  }
}

function valuesIn({ texts, otherLinks, own }: Content): number {
  return 1 + texts.length + otherLinks.length + Object.values(own).reduce((sum, values) => sum + values.length, 0)
}

function eventOf({ examples, events }: WitnessLanguage, content: Content): EventFields | undefined {
  return Either.getOrUndefined(events.read(examples.payload(content), 0))
}
