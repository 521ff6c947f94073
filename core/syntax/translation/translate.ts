/**
 * Translates a rule into another platform's language, and reports for each clause whether it was kept exactly, changed
 * or left out, and whether that makes the rule wider or narrower.
 */

import { Pace, type Turns } from "../../work/turns.ts"
import type { Checked } from "../expression/checked.ts"
import type { Expression, Predicate } from "../expression/expression.ts"
import type { Span } from "../issues/issue.ts"
import type { FixOptions } from "../issues/Report.ts"
import {
  type ClauseOutcome,
  type Group,
  isPositive,
  isStandalone,
  join,
  leaveOut,
  leftOutAround,
  lostSubject,
  negate,
  notesOn,
  type PartialRule
} from "./partialRule.ts"
import { type Strength, strengthOf, strengths } from "./strength.ts"
import type { TranslationTarget } from "./target.ts"

/**
 * `exact`: matches the same events. `wider`: matches more, misses none. `narrower`: misses some, matches no others.
 * `different`: both. `impossible`: the clause is left out, or the rule has no translation.
 */
export type Fidelity = "exact" | "wider" | "narrower" | "different" | "impossible"

/** `wider`: the translation matches events that the rule does not match. `narrower`: the other way round. */
export type LossEffect = "wider" | "narrower"

export interface TranslatedClause {
  /** In the source. */
  readonly span: Span
  /** The effect on the whole rule: under a negation, a wider clause makes the rule narrower. */
  readonly fidelity: Fidelity
  readonly reason: string
  /** How the loss changes the rule. Empty for an exact clause, and if the rule has no translation. */
  readonly effects: ReadonlyArray<LossEffect>
}

export interface Translation {
  /** Valid in the target language. */
  readonly text: string | undefined
  readonly fidelity: Fidelity
  /** In the order of the source. */
  readonly clauses: ReadonlyArray<TranslatedClause>
  /** Why there is no text. */
  readonly reason?: string
  /** What was left out without a loss. Absent if nothing was. */
  readonly notes?: ReadonlyArray<string>
}

export interface SourceLanguage {
  readonly name?: string
  /** The name of the language that its filters are written in, if it is that of another platform. */
  readonly writtenAs?: string
  readonly checkInTurns: (text: string, options?: FixOptions) => Turns<Checked>
}

export interface TargetLanguage extends SourceLanguage {
  readonly name: string
  readonly target: TranslationTarget
}

export const isTarget = <L extends { readonly target?: TranslationTarget }>(
  language: L
): language is L & { readonly target: TranslationTarget } => language.target !== undefined

/** With the expressions of both rules. */
export interface TranslatedRule extends Translation {
  readonly source: Expression | undefined
  readonly target: Expression | undefined
}

/** Never throws. An invalid source has no translation. The work is proportional to the length of the text. */
export function* translateInTurns(
  rule: { readonly language: SourceLanguage; readonly text: string },
  to: TargetLanguage
): Turns<TranslatedRule> {
  const { language, text } = rule
  const { issues, rule: valid } = yield* language.checkInTurns(text, { fixes: "none" })
  yield
  if (valid === undefined) {
    const first = issues.find((issue) => issue.severity === "error")
    const reason = `The rule is not valid: ${first?.message}`
    return { text: undefined, fidelity: "impossible", clauses: [], reason, source: undefined, target: undefined }
  }
  const source = valid.expression
  const translator = new Translator(text, { from: language, to })
  const part = yield* translator.translate(source, true)
  yield
  const translated = translator.finish(part)
  yield
  const printed = translated && to.target.print(translated)
  const checked = printed === undefined ? undefined : yield* to.checkInTurns(printed, { fixes: "none" })
  yield
  return { ...resultOf(translator, printed, checked), source, target: checked?.rule?.expression }
}

// ---- helpers ----

/** A partial rule, or only the outcomes of its clauses if all of them are left out. */
type TranslatedPart = PartialRule | ReadonlyArray<ClauseOutcome>

const STEPS_PER_PREDICATE = 8_000

class Translator {
  readonly source: string
  readonly from: SourceLanguage
  readonly to: TargetLanguage
  readonly outcomes: Array<ClauseOutcome> = []
  private readonly pace = new Pace()
  /** Why there is no translation. */
  failure: string | undefined
  /** The clause of the last phrase: a clause may have thousands of them, with the same span. */
  private last: { readonly span: Span; readonly rawText: string | undefined } | undefined

  constructor(source: string, { from, to }: { readonly from: SourceLanguage; readonly to: TargetLanguage }) {
    this.source = source
    this.from = from
    this.to = to
  }

  *translate(expression: Expression, positive: boolean): Turns<TranslatedPart> {
    switch (expression._tag) {
      case "And":
      case "Or":
        return yield* this.translateGroup(expression._tag, expression.clauses, positive)
      case "Not": {
        const clause = yield* this.translate(expression.clause, !positive)
        return isRule(clause) ? negate(clause) : clause
      }
      case "Everything":
      case "Nothing":
        return { _tag: expression._tag, outcomes: [this.outcome(expression.span, "Matches the same events")] }
      default:
        if (this.pace.endsTurn(STEPS_PER_PREDICATE)) yield
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
    const standalone = this.keepStandalone(positive)
    if (standalone === undefined) {
      return this.fail(`The translated part cannot stand alone on ${name}: it has no word to search for`)
    }
    const lost = lostSubject(standalone)
    if (lost === undefined) {
      return standalone
    }
    const subject = this.source.slice(lost.span.start, lost.span.end)
    return (
      this.keepSubject(standalone) ??
      this.fail(`${name} cannot express what this rule looks for, ${subject}; the rest alone matches unrelated events`)
    )
  }

  private translatePredicate(predicate: Predicate, positive: boolean): TranslatedPart {
    const { span } = predicate
    const raw = predicate._tag === "Phrase" ? this.rawText(span) : undefined
    const strength = positive ? strengthOf(predicate) : strengths.kind
    const translation = this.to.target.clause(predicate, raw, positive)
    if ("impossible" in translation) {
      const outcome = this.outcome(span, translation.impossible, strength)
      outcome.translated = false
      return [outcome]
    }
    const { texts, standalone, wider, narrower, reason } = translation
    const outcome = this.outcome(span, reason, strength)
    outcome.wider = positive ? wider : narrower
    outcome.narrower = positive ? narrower : wider
    outcome.isNeedless = texts.length === 0
    const outcomes = [outcome]
    const leaves = texts.map((text): PartialRule => ({ _tag: "Leaf", text, standalone, strength, outcomes }))
    return join(translation.join, leaves, outcomes)
  }

  private rawText(span: Span): string | undefined {
    if (this.last?.span !== span) {
      this.last = { span, rawText: this.to.target.rawText(this.source.slice(span.start, span.end)) }
    }
    return this.last.rawText
  }

  private *translateGroup(
    tag: "And" | "Or",
    clauses: ReadonlyArray<Expression>,
    positive: boolean
  ): Turns<TranslatedPart> {
    const parts: Array<PartialRule> = []
    const outcomes: Array<ClauseOutcome> = []
    const lost: Array<ClauseOutcome> = []
    // Nested groups of the same kind as one: else each level would go through all clauses below it again.
    for (const clause of flattened(tag, clauses)) {
      const part = yield* this.translate(clause, positive)
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
    const rule = join(tag, parts, outcomes)
    const isDecided = rule._tag === (tag === "And" ? "Nothing" : "Everything")
    leaveOut(lost, isDecided ? "none" : (tag === "And") === positive ? "wider" : "narrower", "")
    return rule
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
    return this.joinKept(rule, kept, { effect: "wider", reason: this.cannotStandAlone })
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

  /** Leaves out alternatives that lost what they look for. */
  private keepSubject(rule: PartialRule, outer: ReadonlyArray<ClauseOutcome> = []): PartialRule | undefined {
    if (lostSubject(rule, outer) === undefined) {
      return rule
    }
    if (rule._tag !== "And" && rule._tag !== "Or") {
      return undefined
    }
    const around = leftOutAround(rule, outer)
    if (rule._tag === "Or") {
      const reason = "The translated part of this group is not what the group looks for"
      return this.keepAlternatives(rule, (clause) => this.keepSubject(clause, around), reason)
    }
    for (const [index, clause] of rule.clauses.entries()) {
      const kept = clause._tag === "Or" ? this.keepSubject(clause, around) : undefined
      const whole = kept && join("And", rule.clauses.with(index, kept), rule.outcomes)
      if (whole !== undefined && lostSubject(whole, outer) === undefined) {
        return whole
      }
    }
    return undefined
  }

  private keepAlternatives(
    rule: Group,
    keep: (clause: PartialRule) => PartialRule | undefined,
    reason = this.cannotStandAlone
  ): PartialRule | undefined {
    const kept = rule.clauses.map((clause) => {
      const part = keep(clause)
      return part !== undefined && isPositive(part) ? part : undefined
    })
    return kept.every((part) => part === undefined)
      ? undefined
      : this.joinKept(rule, kept, { effect: "narrower", reason })
  }

  private joinKept(
    rule: Group,
    kept: ReadonlyArray<PartialRule | undefined>,
    { effect, reason }: { readonly effect: LossEffect; readonly reason: string }
  ): PartialRule {
    const lost = rule.clauses.filter((_, index) => kept[index] === undefined)
    for (const part of lost) {
      if (part._tag === "And" && this.to.target.isUnsatisfiable(part)) {
        const isExact = part.outcomes.every(({ wider, narrower }) => !(wider || narrower))
        leaveOut(part.outcomes, isExact ? "none" : effect, "This group requires and excludes the same clause")
      } else {
        leaveOut(part.outcomes, effect, reason)
      }
    }
    return join(
      rule._tag,
      kept.flatMap((part) => part ?? []),
      rule.outcomes
    )
  }

  private get cannotStandAlone(): string {
    return `The translated part of this group cannot stand alone on ${this.to.name}`
  }

  private outcome(span: Span, reason: string, strength: Strength = strengths.kind): ClauseOutcome {
    const outcome = {
      span,
      strength,
      translated: true,
      isNeedless: false,
      wider: false,
      narrower: false,
      reason: this.inWordsOfSource(reason)
    }
    this.outcomes.push(outcome)
    return outcome
  }

  /** Reasons name the language that a filter is written in. */
  private inWordsOfSource(reason: string): string {
    const { name, writtenAs } = this.from
    if (name === undefined || writtenAs === undefined || writtenAs === this.to.name) return reason
    return reason.replace(new RegExp(`\\b${writtenAs}\\b`, "g"), name)
  }

  private fail(reason: string): undefined {
    this.failure = reason
    return undefined
  }
}

function flattened(
  tag: "And" | "Or",
  clauses: ReadonlyArray<Expression>,
  found: Array<Expression> = []
): ReadonlyArray<Expression> {
  for (const clause of clauses) {
    if (clause._tag === tag) flattened(tag, clause.clauses, found)
    else found.push(clause)
  }
  return found
}

function isRule(partial: TranslatedPart): partial is PartialRule {
  return "_tag" in partial
}

function resultOf(
  { source, outcomes, to, failure }: Translator,
  printed: string | undefined,
  checked: Checked | undefined
): Translation {
  const error = checked?.issues.find((issue) => issue.severity === "error")
  const text = error === undefined ? printed : undefined
  const reason = error === undefined ? failure : `${to.name} rejects the translation: ${error.message}`
  if (text === undefined) {
    leaveOut(outcomes, "none", "The rule has no translation")
  }
  const notes = notesOn(source, outcomes)
  const wider = outcomes.some((outcome) => outcome.wider)
  const narrower = outcomes.some((outcome) => outcome.narrower)
  return {
    text,
    fidelity: text === undefined ? "impossible" : fidelityOf(wider, narrower),
    clauses: clausesOf(outcomes),
    ...(text === undefined && reason !== undefined && { reason }),
    ...(text !== undefined && notes.length > 0 && { notes })
  }
}

/** A clause can lower to several predicates: equal results are listed once. */
function clausesOf(outcomes: ReadonlyArray<ClauseOutcome>): ReadonlyArray<TranslatedClause> {
  const seen = new Set<string>()
  const clauses: Array<TranslatedClause> = []
  for (const { span, translated, wider, narrower, reason } of outcomes) {
    const fidelity = translated ? fidelityOf(wider, narrower) : "impossible"
    const effects = [...(wider ? ["wider" as const] : []), ...(narrower ? ["narrower" as const] : [])]
    const effect =
      translated || effects.length === 0 ? "" : `; left out, which makes the rule ${wider ? "wider" : "narrower"}`
    const key = `${span.start} ${span.end} ${fidelity} ${reason}`
    if (!seen.has(key)) {
      seen.add(key)
      clauses.push({ span, fidelity, reason: reason + effect, effects })
    }
  }
  return clauses.sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end)
}

function fidelityOf(wider: boolean, narrower: boolean): Fidelity {
  return wider ? (narrower ? "different" : "wider") : narrower ? "narrower" : "exact"
}
