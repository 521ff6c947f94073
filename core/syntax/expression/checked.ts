/** The result of checking a filter. */
import type { FixOptions, Limited } from "../issues/Report.ts"
import type { Expression } from "./expression.ts"

export interface ValidRule {
  /** Equal for rules that differ only in spelling. The original text if the canonical text is too long. */
  readonly canonical: string
  readonly expression: Expression
}

/** The issues are in text order, at most 20. */
export interface Checked<Rule = ValidRule> extends Limited {
  /** Present if and only if no issue is an error. */
  readonly rule: Rule | undefined
  /** Some issues have no fix because verifying them takes too much work. */
  readonly hasUnverifiedFixes?: true
}

export interface CheckOptions extends FixOptions {
  /** In UTF-16 code units. A longer text is rejected without parsing. */
  readonly maxLength?: number
}
