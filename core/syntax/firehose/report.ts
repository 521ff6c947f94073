/** Collects the issues of one rule text, a bounded number of them, and writes the small edits that mend them. */
import type { Fix, Issue } from "../issue.ts"
import { Budget } from "../regex/draft.ts"

export interface Advice {
  readonly expected?: ReadonlyArray<string>
  readonly fix?: Fix | undefined
}

export class Report {
  readonly text: string
  /** For all patterns of the rule. */
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
    if (this.errors.length < maxIssues) {
      this.errors.push(this.issue("error", code, start, end, message, advice))
    }
  }

  warning(code: string, start: number, end: number, message: string, advice?: Advice): void {
    if (this.warnings.length < maxIssues) {
      this.warnings.push(this.issue("warning", code, start, end, message, advice))
    }
  }

  /** No further error would be kept. */
  get isFull(): boolean {
    return this.errors.length >= maxIssues
  }

  /** An error stands on this stretch already: what else is wrong there only follows from it. */
  hasErrorIn(start: number, end: number): boolean {
    return this.errors.some(({ span }) => span.start < end && start < span.end)
  }

  /** The text with one stretch replaced. */
  fix(message: string, start: number, end: number, insert: string): Fix {
    return { message, text: this.text.slice(0, start) + insert + this.text.slice(end) }
  }

  /** In the order of the text, without warnings where an error stands; errors first when there are too many. */
  issues(): ReadonlyArray<Issue> {
    if (this.errors.length === 0 && this.warnings.length === 0) {
      return none
    }
    const warnings =
      this.errors.length === 0
        ? this.warnings
        : this.warnings.filter(({ span }) => !this.hasErrorIn(span.start, span.end))
    const kept = [...this.errors, ...warnings.slice(0, maxIssues - this.errors.length)]
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
    if (advice === undefined) {
      return issue
    }
    return {
      ...issue,
      ...(advice.expected === undefined ? {} : { expected: advice.expected }),
      ...(advice.fix === undefined ? {} : { fix: advice.fix })
    }
  }
}

/** A piece of the rule for a message: in double quotes, cut when long. */
export const quoted = (text: string): string => {
  const piece = text.length <= longestQuote ? text : `${text.slice(0, longestQuote)}…`
  return piece.startsWith('"') && piece.endsWith('"') ? piece : `"${piece}"`
}

// ---- helpers ----

const maxIssues = 20
const longestQuote = 60
const none: ReadonlyArray<Issue> = []
