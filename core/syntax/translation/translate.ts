/**
 * Translates a rule into another platform's language, and reports for each clause whether it was kept exactly, changed
 * or left out, and whether that makes the rule wider or narrower.
 */

import type { Checked } from "../expression/checked.ts"
import type { Expression, Predicate } from "../expression/expression.ts"
import type { Span } from "../issues/issue.ts"
import {
  type ClauseOutcome,
  type Group,
  isPositive,
  isStandalone,
  join,
  leaveOut,
  negate,
  type PartialRule
} from "./partialRule.ts"
import type { TranslationTarget } from "./target.ts"

/**
 * `exact`: matches the same events. `wider`: matches more, misses none. `narrower`: misses some, matches no others.
 * `different`: both. `impossible`: the clause is left out, or the rule has no translation.
 */
export type Fidelity = "exact" | "wider" | "narrower" | "different" | "impossible"

export interface TranslatedClause {
  /** In the source. */
  readonly span: Span
  /** The effect on the whole rule: under a negation, a wider clause makes the rule narrower. */
  readonly fidelity: Fidelity
  readonly reason: string
}

export interface Translation {
  /** Valid in the target language. */
  readonly text: string | undefined
  readonly fidelity: Fidelity
  /** In the order of the source. */
  readonly clauses: ReadonlyArray<TranslatedClause>
  /** Why there is no text. */
  readonly reason?: string
}

interface SourceLanguage {
  readonly check: (text: string) => Checked
}

export interface TargetLanguage extends SourceLanguage {
  readonly name: string
  readonly target: TranslationTarget
}

export const isTarget = <L extends { readonly target?: TranslationTarget }>(
  language: L
): language is L & { readonly target: TranslationTarget } => language.target !== undefined

/** Never throws. An invalid source has no translation. */
export const translate = (
  rule: { readonly language: SourceLanguage; readonly text: string },
  to: TargetLanguage
): Translation => {
  const { language, text } = rule
  const source = language.check(text)
  if (source.rule === undefined) {
    const first = source.issues.find((issue) => issue.severity === "error")
    return { text: undefined, fidelity: "impossible", clauses: [], reason: `The rule is not valid: ${first?.message}` }
  }
  const translator = new Translator(text, to)
  return resultOf(translator, translator.finish(translator.translate(source.rule.expression, true)))
}

// ---- helpers ----

/** A partial rule, or only the outcomes of its clauses if all of them are left out. */
type TranslatedPart = PartialRule | ReadonlyArray<ClauseOutcome>

class Translator {
  private readonly source: string
  readonly to: TargetLanguage
  readonly outcomes: Array<ClauseOutcome> = []
  /** Why there is no translation. */
  failure: string | undefined

  constructor(source: string, to: TargetLanguage) {
    this.source = source
    this.to = to
  }

  translate(expression: Expression, positive: boolean): TranslatedPart {
    switch (expression._tag) {
      case "And":
      case "Or":
        return this.translateGroup(expression._tag, expression.clauses, positive)
      case "Not": {
        const clause = this.translate(expression.clause, !positive)
        return isRule(clause) ? negate(clause) : clause
      }
      case "Everything":
      case "Nothing":
        return { _tag: expression._tag, outcomes: [this.outcome(expression.span, "Matches the same events")] }
      default:
        return this.translatePredicate(expression, positive)
    }
  }

  /** Meets the target's grammar: the rule and each of its alternatives need a positive, standalone clause. */
  finish(rule: TranslatedPart): PartialRule | undefined {
    const { name } = this.to
    if (!isRule(rule)) {
      return this.fail(`${name} supports no clause of this rule`)
    }
    if (rule._tag === "Everything" || rule._tag === "Nothing") {
      return this.fail(`The translated part matches ${rule._tag === "Everything" ? "every" : "no"} event on ${name}`)
    }
    if (rule._tag === "And" && this.to.target.isUnsatisfiable(rule)) {
      return this.fail(`On ${name} the rule requires and excludes the same clause`)
    }
    const positive = this.keepPositive(rule)
    if (positive === undefined || !isPositive(positive)) {
      return this.fail(`The translated part only excludes events, and ${name} needs a clause to search for`)
    }
    return (
      this.keepStandalone(positive) ??
      this.fail(`The translated part cannot stand alone on ${name}: it has no word to search for`)
    )
  }

  private translatePredicate(predicate: Predicate, positive: boolean): TranslatedPart {
    const { span } = predicate
    const source = this.source.slice(span.start, span.end)
    const translation = this.to.target.clause(predicate, source, positive)
    if ("impossible" in translation) {
      const outcome = this.outcome(span, translation.impossible)
      outcome.translated = false
      return [outcome]
    }
    const { texts, standalone, wider, narrower, reason } = translation
    const outcome = this.outcome(span, reason)
    outcome.wider = positive ? wider : narrower
    outcome.narrower = positive ? narrower : wider
    const outcomes = [outcome]
    const leaves = texts.map((text): PartialRule => ({ _tag: "Leaf", text, standalone, outcomes }))
    return leaves.length === 0 ? { _tag: "Nothing", outcomes } : join(translation.join, leaves, outcomes)
  }

  private translateGroup(tag: "And" | "Or", clauses: ReadonlyArray<Expression>, positive: boolean): TranslatedPart {
    const parts: Array<PartialRule> = []
    const outcomes: Array<ClauseOutcome> = []
    const lost: Array<ClauseOutcome> = []
    for (const clause of clauses) {
      const part = this.translate(clause, positive)
      if (isRule(part)) {
        parts.push(part)
        outcomes.push(...part.outcomes)
      } else {
        lost.push(...part)
        outcomes.push(...part)
      }
    }
    if (parts.length === 0) {
      return outcomes
    }
    leaveOut(lost, (tag === "And") === positive ? "wider" : "narrower", "")
    return join(tag, parts, outcomes)
  }

  /** Leaves out alternatives without a positive clause. Negated groups need none. */
  private keepPositive(rule: PartialRule): PartialRule | undefined {
    if (rule._tag === "Or") {
      return this.keepAlternatives(rule, (clause) => this.keepPositive(clause))
    }
    if (rule._tag !== "And") {
      return rule
    }
    const kept = rule.clauses.map((clause) => this.keepPositive(clause))
    if (this.to.target.isUnsatisfiable(rule) || !kept.some((part) => part !== undefined && isPositive(part))) {
      return undefined
    }
    return this.joinKept(rule, kept, "wider")
  }

  /** Leaves out alternatives without a standalone clause. */
  private keepStandalone(rule: PartialRule): PartialRule | undefined {
    if (isStandalone(rule)) {
      return rule
    }
    if (rule._tag === "Or") {
      return this.keepAlternatives(rule, (clause) => this.keepStandalone(clause))
    }
    if (rule._tag === "And") {
      for (const [index, clause] of rule.clauses.entries()) {
        const kept = clause._tag === "Or" ? this.keepStandalone(clause) : undefined
        if (kept !== undefined) {
          return join("And", rule.clauses.with(index, kept), rule.outcomes)
        }
      }
    }
    return undefined
  }

  private keepAlternatives(
    rule: Group,
    keep: (clause: PartialRule) => PartialRule | undefined
  ): PartialRule | undefined {
    const kept = rule.clauses.map((clause) => {
      const part = keep(clause)
      return part !== undefined && isPositive(part) ? part : undefined
    })
    return kept.every((part) => part === undefined) ? undefined : this.joinKept(rule, kept, "narrower")
  }

  private joinKept(
    rule: Group,
    kept: ReadonlyArray<PartialRule | undefined>,
    effect: "wider" | "narrower"
  ): PartialRule {
    const lost = rule.clauses.filter((_, index) => kept[index] === undefined)
    const reason = `The translated part of this group cannot stand alone on ${this.to.name}`
    for (const { outcomes } of lost) {
      leaveOut(outcomes, effect, reason)
    }
    return join(
      rule._tag,
      kept.flatMap((part) => part ?? []),
      rule.outcomes
    )
  }

  private outcome(span: Span, reason: string): ClauseOutcome {
    const outcome = { span, translated: true, wider: false, narrower: false, reason }
    this.outcomes.push(outcome)
    return outcome
  }

  private fail(reason: string): undefined {
    this.failure = reason
    return undefined
  }
}

function isRule(partial: TranslatedPart): partial is PartialRule {
  return "_tag" in partial
}

function resultOf({ outcomes, to, failure }: Translator, rule: PartialRule | undefined): Translation {
  let text = rule && to.target.print(rule)
  let reason = failure
  if (text !== undefined) {
    const { issues } = to.check(text)
    const error = issues.find((issue) => issue.severity === "error")
    if (error !== undefined) {
      reason = `${to.name} rejects the translation: ${error.message}`
      text = undefined
    }
  }
  if (text === undefined) {
    leaveOut(outcomes, "none", "The rule has no translation")
  }
  const wider = outcomes.some((outcome) => outcome.wider)
  const narrower = outcomes.some((outcome) => outcome.narrower)
  return {
    text,
    fidelity: text === undefined ? "impossible" : fidelityOf(wider, narrower),
    clauses: clausesOf(outcomes),
    ...(text === undefined && reason !== undefined && { reason })
  }
}

/** A clause can lower to several predicates: equal results are listed once. */
function clausesOf(outcomes: ReadonlyArray<ClauseOutcome>): ReadonlyArray<TranslatedClause> {
  const seen = new Set<string>()
  const clauses: Array<TranslatedClause> = []
  for (const { span, translated, wider, narrower, reason } of outcomes) {
    const fidelity = translated ? fidelityOf(wider, narrower) : "impossible"
    const effect =
      translated || !(wider || narrower) ? "" : `; left out, which makes the rule ${wider ? "wider" : "narrower"}`
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
