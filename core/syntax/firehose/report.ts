/** Collects the issues of one rule text, up to a limit, and builds their fixes. */
import type { Fix, Issue, Span } from "../issue.ts"
import { Budget } from "../regex/nfa.ts"

export interface Advice {
  readonly expected?: ReadonlyArray<string>
  readonly fix?: Fix | undefined
}

export class Report {
  readonly text: string
  /** Shared by all patterns of the rule. */
  readonly budget = new Budget()
  private readonly errors: Array<Issue> = []
  private readonly warnings: Array<Issue> = []

  constructor(text: string) {
    this.text = text
  }

  get failed(): boolean {
    return this.errors.length > 0
  }

  error(code: string, start: number, end: number, message: string, advice?: Advice): void {
    if (this.errors.length < MAX_ISSUES) {
      this.errors.push(this.issue("error", code, start, end, message, advice))
    }
  }

  warning(code: string, start: number, end: number, message: string, advice?: Advice): void {
    if (this.warnings.length < MAX_ISSUES) {
      this.warnings.push(this.issue("warning", code, start, end, message, advice))
    }
  }

  /** Further errors are discarded. */
  get isFull(): boolean {
    return this.errors.length >= MAX_ISSUES
  }

  /** Further issues in a span with an error are consequences of it. */
  hasErrorIn(start: number, end: number): boolean {
    return this.errors.some(({ span }) => span.start < end && start < span.end)
  }

  textOf({ start, end }: Span): string {
    return this.text.slice(start, end)
  }

  fix(message: string, start: number, end: number, insert: string): Fix {
    return { message, text: this.text.slice(0, start) + insert + this.text.slice(end) }
  }

  /** In text order. Warnings that overlap an error are left out; errors take precedence over warnings at the limit. */
  issues(): ReadonlyArray<Issue> {
    if (this.errors.length === 0 && this.warnings.length === 0) return noIssues
    const warnings =
      this.errors.length === 0
        ? this.warnings
        : this.warnings.filter(({ span }) => !this.hasErrorIn(span.start, span.end))
    const kept = [...this.errors, ...warnings.slice(0, MAX_ISSUES - this.errors.length)]
    return kept.sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end)
  }

  private issue(
    severity: "error" | "warning",
    code: string,
    start: number,
    end: number,
    message: string,
    advice?: Advice
  ): Issue {
    const issue = { severity, code, span: { start, end }, message }
    if (advice === undefined) return issue
    return {
      ...issue,
      ...(advice.expected === undefined ? {} : { expected: advice.expected }),
      ...(advice.fix === undefined ? {} : { fix: advice.fix })
    }
  }
}

/** Part of the rule for a message: in double quotes, truncated. */
export const quoted = (text: string): string => {
  const piece = text.length <= MAX_QUOTED_LENGTH ? text : `${text.slice(0, MAX_QUOTED_LENGTH)}…`
  return piece.startsWith('"') && piece.endsWith('"') ? piece : `"${piece}"`
}

// ---- helpers ----

const MAX_ISSUES = 20
const MAX_QUOTED_LENGTH = 60
const noIssues: ReadonlyArray<Issue> = []
