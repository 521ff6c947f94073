/** Collects the issues of one rule text, and verifies their fixes. */
import type { Fix, Issue } from "../issue.ts"
import { nearest } from "../nearest.ts"
import { isSpace } from "./characters.ts"
import { limits } from "./operators.ts"

/** One replacement in the rule text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A fix before it is verified. Its edits do not overlap. */
export interface ProposedFix {
  readonly message: string
  readonly edits: ReadonlyArray<Edit>
}

export interface Advice {
  readonly expected?: ReadonlyArray<string> | undefined
  readonly fix?: ProposedFix | undefined
}

interface DraftIssue extends Advice {
  readonly severity: "error" | "warning"
  readonly code: string
  readonly start: number
  readonly end: number
  readonly message: string
}

export class Report {
  readonly text: string
  readonly drafts: Array<DraftIssue> = []
  errors = 0
  warnings = 0

  constructor(text: string) {
    this.text = text
  }

  error(code: string, start: number, end: number, message: string, advice?: Advice): void {
    if (this.errors++ < MAX_COLLECTED) {
      this.drafts.push({ severity: "error", code, start, end, message, ...advice })
    }
  }

  warning(code: string, start: number, end: number, message: string, advice?: Advice): void {
    if (this.warnings++ < MAX_COLLECTED) {
      this.drafts.push({ severity: "warning", code, start, end, message, ...advice })
    }
  }

  /** Replaces one range of the text. */
  fix(message: string, start: number, end: number, insert: string): ProposedFix {
    return { message, edits: [{ start, end, text: insert }] }
  }

  /** Deletes a range and the white space that would be left over. */
  removal(message: string, start: number, end: number): ProposedFix {
    const { text } = this
    let from = start
    let to = end
    while (to < text.length && isSpace(text.charCodeAt(to))) {
      to++
    }
    if (to === text.length || text[to] === ")") {
      while (from > 0 && isSpace(text.charCodeAt(from - 1))) {
        from--
      }
    }
    return this.fix(message, from, to, "")
  }

  /** The nearest known word, skipped once errors are no longer collected. */
  nearest(word: string, candidates: Iterable<string>): string | undefined {
    return this.errors < MAX_COLLECTED ? nearest(word, candidates) : undefined
  }

  /** Some issues were not collected, so a fix cannot be verified. */
  get overflowed(): boolean {
    return this.errors > MAX_COLLECTED || this.warnings > MAX_COLLECTED
  }
}

/**
 * The issues in text order; errors take precedence over warnings when there are too many. A fix is kept only if checking
 * the fixed text with `checkAgain` shows that this issue is gone and no error is new.
 */
export const issuesOf = (report: Report, checkAgain: (fixed: string) => Report): ReadonlyArray<Issue> => {
  const kept = [...report.drafts].sort(bySpan)
  if (kept.length > limits.maxIssues) {
    kept.sort((a, b) => Number(b.severity === "error") - Number(a.severity === "error"))
    kept.length = limits.maxIssues
    kept.sort(bySpan)
  }
  const fixable = report.text.length <= MAX_FIXABLE_LENGTH && !report.overflowed
  return kept.map((draft) => {
    const fix = fixable ? verifiedFix(draft, report, checkAgain) : undefined
    return {
      severity: draft.severity,
      code: draft.code,
      span: { start: draft.start, end: draft.end },
      message: draft.message,
      ...(draft.expected !== undefined && { expected: draft.expected }),
      ...(fix !== undefined && { fix })
    }
  })
}

// ---- helpers ----

/** Higher than the number shown, so that counts before and after a fix can be compared. */
const MAX_COLLECTED = 64

/** Above every platform limit. Verifying fixes checks the text once per issue. */
const MAX_FIXABLE_LENGTH = 4096

function bySpan(a: DraftIssue, b: DraftIssue): number {
  return a.start - b.start || a.end - b.end
}

function verifiedFix(draft: DraftIssue, before: Report, checkAgain: (fixed: string) => Report): Fix | undefined {
  if (draft.fix === undefined) {
    return undefined
  }
  const text = applyEdits(before.text, draft.fix.edits)
  return improves(draft.code, before, checkAgain(text)) ? { message: draft.fix.message, text } : undefined
}

function improves(code: string, before: Report, after: Report): boolean {
  if (after.overflowed || count(after, code) >= count(before, code)) {
    return false
  }
  return after.drafts.every(
    (draft) => draft.severity === "warning" || count(after, draft.code) <= count(before, draft.code)
  )
}

function count(report: Report, code: string): number {
  let found = 0
  for (const draft of report.drafts) {
    if (draft.code === code) {
      found++
    }
  }
  return found
}

function applyEdits(text: string, edits: ReadonlyArray<Edit>): string {
  let result = ""
  let at = 0
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}
