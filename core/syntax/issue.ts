/** What a rule text gets wrong, where, and how to mend it. Both rule languages report in these terms. */

/** Half-open range of UTF-16 code units in the rule text, counted from 0. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A correction that needs no thought: the whole rule text with this one issue mended. */
export interface Fix {
  /** What the fix does, as an instruction: `Remove "AND": a space already joins two clauses`. */
  readonly message: string
  readonly text: string
}

/** An error refuses the rule; a warning lets it through and says what may surprise. */
export interface Issue {
  readonly severity: "error" | "warning"
  /** Stable name of the kind of issue, in kebab case: `unclosed-group`, `stop-words-only`. */
  readonly code: string
  readonly span: Span
  readonly message: string
  /** What could have stood at `span` instead, in words or as literals. */
  readonly expected?: ReadonlyArray<string>
  readonly fix?: Fix
}

export const hasErrors = (issues: ReadonlyArray<Issue>): boolean => issues.some((issue) => issue.severity === "error")
