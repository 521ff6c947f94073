/**
 * Carries a rule from one platform's language to the other and accounts for every clause: kept exactly, kept with a
 * change, or left out, and what that does to the events that the rule selects. Nothing widens in silence.
 */
import type { Expression, Predicate } from "../expression/expression.ts"
import type { Span } from "../issue.ts"
import type { Language } from "../language.ts"
import { type Draft, isAnchored, isPositive, type Joined, join, type Line, leaveOut, negate } from "./draft.ts"
import type { TranslationTarget } from "./target.ts"

/**
 * `exact`: the same events. `wider`: those and more, none missed. `narrower`: fewer, none added. `different`: some are
 * missed and others added. `impossible`: for a clause, it is left out; for a rule, there is no translation.
 */
export type Fidelity = "exact" | "wider" | "narrower" | "different" | "impossible"

export interface TranslatedClause {
  /** Place of the clause in the source. */
  readonly span: Span
  /** Under a negation a wider clause makes the rule narrower: this is what it does to the rule. */
  readonly fidelity: Fidelity
  readonly reason: string
}

export interface Translation {
  /** A rule that the target's checker accepts; absent when nothing usable is left. */
  readonly text: string | undefined
  readonly fidelity: Fidelity
  /** One for each clause of the source, in its order. */
  readonly clauses: ReadonlyArray<TranslatedClause>
  /** Why there is no text. */
  readonly reason?: string
}

/** A language that others can be translated into. */
export interface TargetLanguage extends Language {
  readonly target: TranslationTarget
}

export const isTarget = (language: Language): language is TargetLanguage => language.target !== undefined

/** Never throws. A source that its own checker refuses has no translation. */
export const translate = (
  rule: { readonly language: Language; readonly text: string },
  to: TargetLanguage
): Translation => {
  const { language, text } = rule
  const source = language.check(text)
  if (source.rule === undefined) {
    const first = source.issues.find((issue) => issue.severity === "error")
    return { text: undefined, fidelity: "impossible", clauses: [], reason: `The rule is wrong: ${first?.message}` }
  }
  const translator = new Translator(text, to)
  return conclude(translator, translator.finish(translator.carry(source.rule.expression, true)))
}

// ---- helpers ----

class Translator {
  private readonly source: string
  readonly to: TargetLanguage
  readonly lines: Array<Line> = []
  /** Why nothing is left, once that is known. */
  failure: string | undefined

  constructor(source: string, to: TargetLanguage) {
    this.source = source
    this.to = to
  }

  /** The expression in clauses of the target, with what cannot be carried left out; its lines alone if that is all of it. */
  carry(expression: Expression, positive: boolean): Draft | ReadonlyArray<Line> {
    switch (expression._tag) {
      case "And":
      case "Or":
        return this.carryJoined(expression._tag, expression.clauses, positive)
      case "Not": {
        const clause = this.carry(expression.clause, !positive)
        return isDraft(clause) ? negate(clause, clause.lines) : clause
      }
      case "Everything":
      case "Nothing":
        return { _tag: expression._tag, lines: [this.line(expression.span, "Holds for the same events")] }
      default:
        return this.carryLeaf(expression, positive)
    }
  }

  /** What the target's grammar asks for: something to search for in the rule and in each of its alternatives. */
  finish(carried: Draft | ReadonlyArray<Line>): Draft | undefined {
    const { name } = this.to
    if (!isDraft(carried)) {
      return this.fail(`Nothing of this rule can be said on ${name}`)
    }
    if (carried._tag === "Everything" || carried._tag === "Nothing") {
      return this.fail(`What is left on ${name} selects ${carried._tag.toLowerCase()}`)
    }
    if (carried._tag === "And" && this.to.target.isVoid(carried)) {
      return this.fail(`On ${name} the rule excludes what it asks for`)
    }
    const usable = this.usable(carried)
    if (usable === undefined || !isPositive(usable)) {
      return this.fail(`What is left only says what to leave out, and ${name} needs something to search for`)
    }
    return (
      this.anchored(usable) ?? this.fail(`What is left cannot stand alone on ${name}: it lacks a word to search for`)
    )
  }

  private carryLeaf(predicate: Predicate, positive: boolean): Draft | ReadonlyArray<Line> {
    const { span } = predicate
    const source = this.source.slice(span.start, span.end)
    const carried = this.to.target.clause(predicate, source, positive)
    if ("impossible" in carried) {
      const line = this.line(span, carried.impossible)
      line.carried = false
      return [line]
    }
    const line = this.line(span, carried.reason)
    line.wider = positive ? carried.wider : carried.narrower
    line.narrower = positive ? carried.narrower : carried.wider
    const lines = [line]
    const leaves = carried.texts.map((text): Draft => ({ _tag: "Leaf", text, anchor: carried.anchor, lines }))
    return leaves.length === 0 ? { _tag: "Nothing", lines } : join(carried.join, leaves, lines)
  }

  private carryJoined(
    tag: "And" | "Or",
    clauses: ReadonlyArray<Expression>,
    positive: boolean
  ): Draft | ReadonlyArray<Line> {
    const parts: Array<Draft> = []
    const lines: Array<Line> = []
    const lost: Array<ReadonlyArray<Line>> = []
    for (const clause of clauses) {
      const part = this.carry(clause, positive)
      if (isDraft(part)) {
        parts.push(part)
        lines.push(...part.lines)
      } else {
        lost.push(part)
        lines.push(...part)
      }
    }
    if (parts.length === 0) {
      return lines
    }
    for (const part of lost) {
      leaveOut(part, (tag === "And") === positive ? "wider" : "narrower", "")
    }
    return join(tag, parts, lines)
  }

  /** Drops what asks for nothing where something must be asked for; under a negation there is no such need. */
  private usable(draft: Draft): Draft | undefined {
    if (draft._tag === "Or") {
      return this.withoutUseless(draft, (clause) => this.usable(clause))
    }
    if (draft._tag !== "And") {
      return draft
    }
    const found = draft.clauses.map((clause) => this.usable(clause))
    if (this.to.target.isVoid(draft) || !found.some((part) => part !== undefined && isPositive(part))) {
      return undefined
    }
    draft.clauses.forEach((clause, index) => {
      if (found[index] === undefined) {
        leaveOut(clause.lines, "wider", this.unusable())
      }
    })
    return join(
      "And",
      found.flatMap((part) => part ?? []),
      draft.lines
    )
  }

  /** The rule with every alternative that lacks a clause which can stand alone left out. */
  private anchored(draft: Draft): Draft | undefined {
    if (isAnchored(draft)) {
      return draft
    }
    if (draft._tag === "Or") {
      return this.withoutUseless(draft, (clause) => this.anchored(clause))
    }
    if (draft._tag === "And") {
      for (const [index, clause] of draft.clauses.entries()) {
        const better = clause._tag === "Or" ? this.anchored(clause) : undefined
        if (better !== undefined) {
          return join("And", draft.clauses.with(index, better), draft.lines)
        }
      }
    }
    return undefined
  }

  private withoutUseless(draft: Joined, better: (clause: Draft) => Draft | undefined): Draft | undefined {
    const found = draft.clauses.map((clause) => {
      const part = better(clause)
      return part !== undefined && isPositive(part) ? part : undefined
    })
    const parts = found.flatMap((part) => part ?? [])
    if (parts.length === 0) {
      return undefined
    }
    draft.clauses.forEach((clause, index) => {
      if (found[index] === undefined) {
        leaveOut(clause.lines, "narrower", this.unusable())
      }
    })
    return join("Or", parts, draft.lines)
  }

  private unusable(): string {
    return `What is left of this part cannot stand alone on ${this.to.name}`
  }

  private line(span: Span, reason: string): Line {
    const line = { span, carried: true, wider: false, narrower: false, reason }
    this.lines.push(line)
    return line
  }

  private fail(reason: string): undefined {
    this.failure = reason
    return undefined
  }
}

function isDraft(carried: Draft | ReadonlyArray<Line>): carried is Draft {
  return "_tag" in carried
}

function conclude({ lines, to, failure }: Translator, draft: Draft | undefined): Translation {
  let text = draft && to.target.print(draft)
  let reason = failure
  if (text !== undefined) {
    const { issues } = to.check(text)
    const error = issues.find((issue) => issue.severity === "error")
    if (error !== undefined) {
      reason = `${to.name} does not take the result: ${error.message}`
      text = undefined
    }
  }
  if (text === undefined) {
    leaveOut(lines, "none", "There is no translation for it to be part of")
  }
  const wider = lines.some((line) => line.wider)
  const narrower = lines.some((line) => line.narrower)
  return {
    text,
    fidelity: text === undefined ? "impossible" : fidelityOf(wider, narrower),
    clauses: clausesOf(lines),
    ...(text === undefined && reason !== undefined && { reason })
  }
}

/** A clause that means several predicates is named once, unless they fare differently. */
function clausesOf(lines: ReadonlyArray<Line>): ReadonlyArray<TranslatedClause> {
  const seen = new Set<string>()
  const clauses: Array<TranslatedClause> = []
  for (const { span, carried, wider, narrower, reason } of lines) {
    const fidelity = carried ? fidelityOf(wider, narrower) : "impossible"
    const effect =
      carried || !(wider || narrower) ? "" : `; left out, which makes the rule ${wider ? "wider" : "narrower"}`
    const key = `${span.start} ${span.end} ${fidelity} ${reason}`
    if (!seen.has(key)) {
      seen.add(key)
      clauses.push({ span, fidelity, reason: reason + effect })
    }
  }
  return clauses.sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end)
}

function fidelityOf(wider: boolean, narrower: boolean): Fidelity {
  return wider ? (narrower ? "different" : "wider") : narrower ? "narrower" : "exact"
}
