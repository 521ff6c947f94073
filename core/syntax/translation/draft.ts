/** A rule on its way to the other language: Boolean structure over clauses that are already written there. */
import type { Span } from "../issue.ts"

/** What became of one clause of the source, as far as the whole rule is concerned. */
export interface Line {
  readonly span: Span
  /** Written in the target, in whatever fidelity; a line that is not carried is named as impossible. */
  carried: boolean
  /** What the clause does to the set of events that the rule selects. */
  wider: boolean
  narrower: boolean
  reason: string
}

export type Draft = Leaf | Joined | Negated | Constant

/** One clause in the words of the target. */
interface Leaf {
  readonly _tag: "Leaf"
  readonly text: string
  /** It can be the only thing that a rule asks for. */
  readonly anchor: boolean
  readonly lines: ReadonlyArray<Line>
}

export interface Joined {
  readonly _tag: "And" | "Or"
  readonly clauses: ReadonlyArray<Draft>
  /** Those of its clauses, and of what was left out beside them. */
  readonly lines: ReadonlyArray<Line>
}

interface Negated {
  readonly _tag: "Not"
  readonly clause: Draft
  readonly lines: ReadonlyArray<Line>
}

/** What is true, or false, for every event. */
interface Constant {
  readonly _tag: "Everything" | "Nothing"
  readonly lines: ReadonlyArray<Line>
}

/** `And` or `Or` without constants, repetitions and groups of its own kind inside. */
export const join = (tag: "And" | "Or", parts: ReadonlyArray<Draft>, lines: ReadonlyArray<Line>): Draft => {
  const [neutral, ruling] = tag === "And" ? (["Everything", "Nothing"] as const) : (["Nothing", "Everything"] as const)
  const clauses: Array<Draft> = []
  const seen = new Set<string>()
  const add = (part: Draft): boolean => {
    if (part._tag === ruling) {
      return false
    }
    if (part._tag === tag) {
      return part.clauses.every(add)
    }
    const key = keyOf(part)
    if (part._tag !== neutral && (key === undefined || !seen.has(key))) {
      clauses.push(part)
      if (key !== undefined) {
        seen.add(key)
      }
    }
    return true
  }
  if (!parts.every(add)) {
    return { _tag: ruling, lines }
  }
  const [only] = clauses
  if (only === undefined) {
    return { _tag: neutral, lines }
  }
  return clauses.length === 1 ? { ...only, lines } : { _tag: tag, clauses, lines }
}

/** The opposite. A group is negated as a whole only where it holds something positive: both languages need that. */
export const negate = (draft: Draft, lines: ReadonlyArray<Line>): Draft => {
  switch (draft._tag) {
    case "Everything":
      return { _tag: "Nothing", lines }
    case "Nothing":
      return { _tag: "Everything", lines }
    case "Not":
      return { ...draft.clause, lines }
    case "Or":
      return join(
        "And",
        draft.clauses.map((clause) => negate(clause, clause.lines)),
        lines
      )
    case "And":
      if (draft.clauses.every((clause) => clause._tag === "Not")) {
        return join(
          "Or",
          draft.clauses.map((clause) => negate(clause, clause.lines)),
          lines
        )
      }
      return { _tag: "Not", clause: draft, lines }
    case "Leaf":
      return { _tag: "Not", clause: draft, lines }
  }
}

/** Takes clauses out of the rule: whatever they did to it before, this is what they do now. */
export const leaveOut = (lines: ReadonlyArray<Line>, effect: "wider" | "narrower" | "none", reason: string): void => {
  for (const line of lines) {
    if (line.carried) {
      line.carried = false
      line.reason = reason
    }
    line.wider = effect === "wider"
    line.narrower = effect === "narrower"
  }
}

/** Something is asked for, in every alternative. */
export const isPositive = (draft: Draft): boolean => {
  switch (draft._tag) {
    case "And":
      return draft.clauses.some(isPositive)
    case "Or":
      return draft.clauses.every(isPositive)
    default:
      return draft._tag === "Leaf"
  }
}

/** Every alternative has a clause that can stand alone. */
export const isAnchored = (draft: Draft): boolean => {
  switch (draft._tag) {
    case "And":
      return draft.clauses.some(isAnchored)
    case "Or":
      return draft.clauses.every(isAnchored)
    default:
      return draft._tag === "Leaf" && draft.anchor
  }
}

/** One clause is asked for and excluded at once. */
export const isContradictory = ({ clauses }: Joined): boolean => {
  const asked = new Set(clauses.flatMap((clause) => (clause._tag === "Leaf" ? [clause.text] : [])))
  return clauses.some(
    (clause) => clause._tag === "Not" && clause.clause._tag === "Leaf" && asked.has(clause.clause.text)
  )
}

// ---- helpers ----

function keyOf(draft: Draft): string | undefined {
  if (draft._tag === "Leaf") {
    return draft.text
  }
  return draft._tag === "Not" && draft.clause._tag === "Leaf" ? `-${draft.clause.text}` : undefined
}
