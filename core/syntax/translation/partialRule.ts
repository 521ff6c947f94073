/** A partly translated rule: Boolean structure over clauses in the target language. */
import type { Span } from "../issues/issue.ts"
import { type Strength, strengths } from "./strength.ts"

/** The translation result of one source clause. The translator updates it until the rule is complete. */
export interface ClauseOutcome {
  readonly span: Span
  /** The lowest for a negated clause: a rule does not look for what it excludes. */
  readonly strength: Strength
  /** False: the clause is left out. */
  translated: boolean
  /** The target needs no text for the clause: the rule is the same without it. */
  isNeedless: boolean
  /** Effect on the whole rule, not on the clause. */
  wider: boolean
  narrower: boolean
  reason: string
}

export type PartialRule = Leaf | Group | Negation | Constant

/** One clause in the target language. */
interface Leaf {
  readonly _tag: "Leaf"
  readonly text: string
  /** The text is a valid rule by itself. */
  readonly standalone: boolean
  readonly strength: Strength
  readonly outcomes: ReadonlyArray<ClauseOutcome>
}

export interface Group {
  readonly _tag: "And" | "Or"
  readonly clauses: ReadonlyArray<PartialRule>
  /** Of its clauses, and of the source clauses that were left out of the group. */
  readonly outcomes: ReadonlyArray<ClauseOutcome>
}

interface Negation {
  readonly _tag: "Not"
  readonly clause: PartialRule
  readonly outcomes: ReadonlyArray<ClauseOutcome>
}

interface Constant {
  readonly _tag: "Everything" | "Nothing"
  readonly outcomes: ReadonlyArray<ClauseOutcome>
}

/** Simplifies: drops constants and duplicates, and flattens nested groups of the same kind. */
export const join = (
  tag: "And" | "Or",
  parts: ReadonlyArray<PartialRule>,
  outcomes: ReadonlyArray<ClauseOutcome>
): PartialRule => {
  const [identity, absorbing] =
    tag === "And" ? (["Everything", "Nothing"] as const) : (["Nothing", "Everything"] as const)
  const clauses: Array<PartialRule> = []
  const seen = new Set<string>()
  const add = (part: PartialRule): boolean => {
    if (part._tag === absorbing) {
      return false
    }
    if (part._tag === tag) {
      return part.clauses.every(add)
    }
    const key = keyOf(part)
    if (part._tag !== identity && (key === undefined || !seen.has(key))) {
      clauses.push(part)
      if (key !== undefined) {
        seen.add(key)
      }
    }
    return true
  }
  if (!parts.every(add)) {
    return { _tag: absorbing, outcomes }
  }
  const [only] = clauses
  if (only === undefined) {
    return { _tag: identity, outcomes }
  }
  return clauses.length === 1 ? { ...only, outcomes } : { _tag: tag, clauses, outcomes }
}

/** Applies De Morgan's laws, except to a conjunction with a positive clause: both languages can negate that as a group. */
export const negate = (rule: PartialRule): PartialRule => {
  const { outcomes } = rule
  switch (rule._tag) {
    case "Everything":
      return { _tag: "Nothing", outcomes }
    case "Nothing":
      return { _tag: "Everything", outcomes }
    case "Not":
      return { ...rule.clause, outcomes }
    case "Or":
      return join("And", rule.clauses.map(negate), outcomes)
    case "And":
      return rule.clauses.every((clause) => clause._tag === "Not")
        ? join("Or", rule.clauses.map(negate), outcomes)
        : { _tag: "Not", clause: rule, outcomes }
    case "Leaf":
      return { _tag: "Not", clause: rule, outcomes }
  }
}

/** Marks clauses as left out. Replaces their effect on the rule, and the reason of those that were translated. */
export const leaveOut = (
  outcomes: ReadonlyArray<ClauseOutcome>,
  effect: "wider" | "narrower" | "none",
  reason: string
): void => {
  for (const outcome of outcomes) {
    if (outcome.translated) {
      outcome.translated = false
      outcome.reason = reason
    }
    outcome.wider = effect === "wider"
    outcome.narrower = effect === "narrower"
  }
}

/** Names the clauses that have no text in an exact translation. */
export const notesOn = (source: string, outcomes: ReadonlyArray<ClauseOutcome>): ReadonlyArray<string> =>
  outcomes
    .filter(({ translated, isNeedless }) => translated && isNeedless)
    .map(({ span: { start, end }, reason }) => {
      const sign = source[start - 1] === "-" ? "-" : ""
      return `\`${sign}${source.slice(start, end)}\` is left out: ${reason}`
    })

/** Every alternative has a positive clause. */
export const isPositive = (rule: PartialRule): boolean => everyAlternative(rule, () => true)

/** Every alternative has a standalone clause. */
export const isStandalone = (rule: PartialRule): boolean => everyAlternative(rule, ({ standalone }) => standalone)

/**
 * The clause that an alternative looks for, if it was left out and the rest only says where, or of which kind.
 * `outer`: clauses that were left out around the rule.
 */
export const lostSubject = (rule: PartialRule, outer: ReadonlyArray<ClauseOutcome> = []): ClauseOutcome | undefined => {
  if (rule._tag === "Or") {
    const around = leftOutAround(rule, outer)
    for (const clause of rule.clauses) {
      const lost = lostSubject(clause, around)
      if (lost !== undefined) return lost
    }
    return undefined
  }
  const strength = strengthOfRule(rule)
  const isLost = (outcome: ClauseOutcome) => isWidened(outcome) && outcome.strength > strength
  return outer.find(isLost) ?? rule.outcomes.find(isLost)
}

/** Left out around the clauses of the group: the first of each strength that is greater than those before. */
export const leftOutAround = (
  { clauses, outcomes }: Group,
  outer: ReadonlyArray<ClauseOutcome>
): ReadonlyArray<ClauseOutcome> => {
  const inside = new Set(clauses.flatMap((clause) => clause.outcomes))
  const found: Array<ClauseOutcome> = []
  const add = (outcome: ClauseOutcome) => {
    if (isWidened(outcome) && outcome.strength > (found.at(-1)?.strength ?? -1)) found.push(outcome)
  }
  outer.forEach(add)
  for (const outcome of outcomes) if (!inside.has(outcome)) add(outcome)
  return found
}

/** Requires and excludes the same clause. */
export const isContradictory = ({ clauses }: Group): boolean => {
  const required = new Set(clauses.flatMap((clause) => (clause._tag === "Leaf" ? [clause.text] : [])))
  return clauses.some(
    (clause) => clause._tag === "Not" && clause.clause._tag === "Leaf" && required.has(clause.clause.text)
  )
}

// ---- helpers ----

/** The rule is wider without the clause. */
function isWidened({ translated, wider }: ClauseOutcome): boolean {
  return !translated && wider
}

function everyAlternative(rule: PartialRule, test: (leaf: Leaf) => boolean): boolean {
  switch (rule._tag) {
    case "And":
      return rule.clauses.some((clause) => everyAlternative(clause, test))
    case "Or":
      return rule.clauses.every((clause) => everyAlternative(clause, test))
    default:
      return rule._tag === "Leaf" && test(rule)
  }
}

/** Of the strongest clause that every event matches. */
function strengthOfRule(rule: PartialRule): number {
  switch (rule._tag) {
    case "And":
      return Math.max(...rule.clauses.map(strengthOfRule))
    case "Or":
      return Math.min(...rule.clauses.map(strengthOfRule))
    default:
      return rule._tag === "Leaf" ? rule.strength : strengths.kind
  }
}

function keyOf(rule: PartialRule): string | undefined {
  if (rule._tag === "Leaf") {
    return rule.text
  }
  return rule._tag === "Not" && rule.clause._tag === "Leaf" ? `-${rule.clause.text}` : undefined
}
