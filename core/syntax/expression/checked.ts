/** The result of checking a filter. */
import type { Issue } from "../issues/issue.ts"
import type { Expression } from "./expression.ts"

export interface ValidRule {
  /** Equal for rules that differ only in spelling. The original text if the canonical text is too long. */
  readonly canonical: string
  readonly expression: Expression
}

export interface Checked<Rule = ValidRule> {
  /** In text order, at most 20. */
  readonly issues: ReadonlyArray<Issue>
  /** Present if and only if no issue is an error. */
  readonly rule: Rule | undefined
}

export interface CheckOptions {
  /** In UTF-16 code units. A longer text is rejected without parsing. */
  readonly maxLength?: number
}
