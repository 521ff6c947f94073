/** A problem in a rule text, with its span and a fix. Shared by both rule languages. */

/** Half-open range of UTF-16 code units in the rule text, counted from 0. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A correction that is safe to apply as it is. */
export interface Fix {
  /** An instruction: `Remove "AND": a space already joins two clauses`. */
  readonly message: string
  /** The whole rule text with this one issue fixed. */
  readonly text: string
}

/** A rule with an error is refused; a warning only points out a likely mistake. */
export interface Issue {
  readonly severity: "error" | "warning"
  /** Stable, in kebab case: `unclosed-group`, `stop-words-only`. */
  readonly code: string
  readonly span: Span
  readonly message: string
  /** Valid alternatives for the text at `span`: literals or descriptions. */
  readonly expected?: ReadonlyArray<string>
  readonly fix?: Fix
}

export const hasErrors = (issues: ReadonlyArray<Issue>): boolean => issues.some((issue) => issue.severity === "error")
