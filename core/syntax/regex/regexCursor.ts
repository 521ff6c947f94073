/** The place in a pattern up to which it is read, and the problems found so far. */

export interface RegexProblem {
  readonly severity: "error" | "warning"
  readonly code: string
  /** Offsets in the pattern. */
  readonly start: number
  readonly end: number
  readonly message: string
  /** What to write in that place instead, when that is plain. */
  readonly replacement?: { readonly message: string; readonly text: string }
}

export class RegexCursor {
  readonly pattern: string
  readonly problems: Array<RegexProblem> = []
  at = 0
  /** There is an error among the problems. */
  failed = false

  constructor(pattern: string) {
    this.pattern = pattern
  }

  /** The first error ends the reading: after it the pattern could mean anything. */
  error(
    code: string,
    start: number,
    end: number,
    message: string,
    replacement?: { message: string; text: string }
  ): void {
    if (!this.failed) {
      this.failed = true
      this.problems.push({
        severity: "error",
        code,
        start,
        end,
        message,
        ...(replacement === undefined ? {} : { replacement })
      })
    }
  }

  warn(
    code: string,
    start: number,
    end: number,
    message: string,
    replacement?: { message: string; text: string }
  ): void {
    if (this.problems.length < maxProblems) {
      this.problems.push({
        severity: "warning",
        code,
        start,
        end,
        message,
        ...(replacement === undefined ? {} : { replacement })
      })
    }
  }

  /** Warns of a character that other dialects take as it is. */
  special(sign: string, meaning: string): void {
    this.warn(
      "regex-special",
      this.at,
      this.at + 1,
      `"${sign}" is a sign of this dialect: ${meaning}; write \\${sign} for the character`,
      {
        message: `Put a backslash before "${sign}"`,
        text: `\\${sign}`
      }
    )
  }

  endOfPattern(): void {
    this.error(
      "regex-syntax",
      Math.max(0, this.pattern.length - 1),
      this.pattern.length,
      "The pattern ends where a character must follow"
    )
  }
}

// ---- helpers ----

const maxProblems = 5
