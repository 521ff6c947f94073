/** The regex parser's cursor: the pattern, the offset reached, and the issues found so far. */
import type { Span } from "../issues/issue.ts"
import { empty, type Sized } from "./tree.ts"

/** The span counts from the start of the pattern. */
export interface RegexIssue extends Span {
  readonly severity: "error" | "warning"
  readonly code: string
  readonly message: string
  readonly replacement?: Replacement
}

/** A fix: the text to put in place of the span. */
export interface Replacement {
  readonly message: string
  readonly text: string
}

export class Cursor {
  readonly pattern: string
  readonly issues: Array<RegexIssue> = []
  at = 0
  failed = false

  constructor(pattern: string) {
    this.pattern = pattern
  }

  get isAtEnd(): boolean {
    return this.at >= this.pattern.length
  }

  /** The next UTF-16 code unit, or "" at the end. */
  peek(): string {
    return this.pattern.charAt(this.at)
  }

  /** Parsing stops at the first error; later ones are ignored. Returns a placeholder node. */
  error(code: string, start: number, end: number, message: string, replacement?: Replacement): Sized {
    if (!this.failed) {
      this.failed = true
      this.add("error", code, start, end, message, replacement)
    }
    return empty
  }

  warning(code: string, start: number, end: number, message: string, replacement?: Replacement): void {
    if (this.issues.length < MAX_ISSUES) this.add("warning", code, start, end, message, replacement)
  }

  /** Warns of an operator that is an ordinary character in other dialects. */
  unusualOperator(sign: string, meaning: string): void {
    const message = `"${sign}" is an operator in this dialect: ${meaning}; write \\${sign} for the character`
    this.warning("regex-special", this.at, this.at + 1, message, escapeSign(sign))
  }

  unexpectedEnd(): Sized {
    const end = this.pattern.length
    return this.error("regex-syntax", Math.max(0, end - 1), end, "The pattern ends where a character is expected")
  }

  private add(
    severity: "error" | "warning",
    code: string,
    start: number,
    end: number,
    message: string,
    replacement: Replacement | undefined
  ): void {
    const issue = { severity, code, start, end, message }
    this.issues.push(replacement === undefined ? issue : { ...issue, replacement })
  }
}

export const escapeSign = (sign: string): Replacement => ({
  message: `Put a backslash before "${sign}"`,
  text: `\\${sign}`
})

// ---- helpers ----

const MAX_ISSUES = 5
