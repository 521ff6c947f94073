/** Explains a filter on an event: the result of each clause, the decisive ones, and changes with which it would match. */

import { type FilterEdit, nearestEditsInTurns } from "../syntax/edits/nearestEdits.ts"
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import { type ExplainedClause, type Explanation, explainInTurns } from "../syntax/expression/explain.ts"
import type { Expression, Predicate } from "../syntax/expression/expression.ts"
import type { Span } from "../syntax/issues/issue.ts"
import { strengthOf, strengths } from "../syntax/translation/strength.ts"
import { truncated } from "../text/truncated.ts"
import type { Turns } from "../work/turns.ts"
import { WorkBudget } from "../work/WorkBudget.ts"
import type { Language } from "./Language.ts"

/** A valid filter. */
export interface CheckedText {
  readonly language: Language
  readonly text: string
  readonly expression: Expression
}

export interface FilterExplanation extends Explanation {
  /** For a miss: up to three, the smallest first. */
  readonly changes: ReadonlyArray<FilterChange>
  /** Why changes may be missing. Absent if the search ended by itself. */
  readonly incomplete?: string
}

export interface FilterChange extends Pick<FilterEdit, "kind" | "clauses" | "text"> {
  /** One line. */
  readonly message: string
}

export function* explainFilterInTurns(filter: CheckedText, event: PlatformEvent): Turns<FilterExplanation> {
  const { language, text, expression } = filter
  const explained = yield* explainInTurns(expression, event, language.fieldNames)
  const explanation = { ...explained, clauses: explained.clauses.map(namingFieldsOf(language)) }
  const edits = explanation.matched ? undefined : language.edits?.(text)
  if (edits === undefined) return { ...explanation, changes: [] }
  const { check } = language
  const held = explanation.clauses.map((clause) => clause.held)
  yield
  const budget = new WorkBudget(Math.min(MAX_WORK, BASE_WORK + WORK_PER_CHARACTER * text.length))
  const missed = { text, expression, held, event, check, isSubject }
  const found = yield* nearestEditsInTurns(missed, edits, { max: MAX_CHANGES, budget })
  const changes = found.map((edit) => changeOf(edit, text))
  return { ...explanation, changes, ...(budget.isUsedUp && { incomplete: INCOMPLETE }) }
}

// ---- helpers ----

/** The languages of some platforms use fields of another one, such as `x.text`: readers see `bluesky.text`. */
const namingFieldsOf =
  ({ id }: Language) =>
  ({ tested, ...clause }: ExplainedClause): ExplainedClause => ({
    ...clause,
    ...(tested && { tested: { ...tested, field: tested.field.replace(/^[a-z0-9_]+(?=\.)/, id) } })
  })

const MAX_CHANGES = 3

const isSubject = (clause: Predicate): boolean => strengthOf(clause) > strengths.kind

/** Of the search for changes, in units. */
const BASE_WORK = 20_000
const WORK_PER_CHARACTER = 100
const MAX_WORK = 50_000

const INCOMPLETE =
  "The search for changes stopped: it takes too much work for a filter or an event of this size. There may be other changes"

const changeOf = (edit: FilterEdit, filter: string): FilterChange => {
  const { kind, clauses, text } = edit
  return { kind, clauses, text, message: describeEdit(edit, filter) }
}

const describeEdit = ({ kind, clauses, clause = "" }: FilterEdit, filter: string): string => {
  const old = clauses.map(({ start, end }: Span) => code(filter.slice(start, end)))
  switch (kind) {
    case "change":
      return `Change ${old.join("")} to ${code(clause)}`
    case "remove":
    case "remove_several":
      return `Remove ${old.length < 2 ? old.join("") : `${old.slice(0, -1).join(", ")} and ${old.at(-1)}`}`
    case "add":
      return `Add ${code(clause)} as an alternative to ${old.join("")}`
  }
}

const MAX_CLAUSE = 100

const code = (text: string): string => `\`${truncated(text.replace(/\s+/g, " "), MAX_CLAUSE)}\``
