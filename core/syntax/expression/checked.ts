/** The result of checking a filter. */
import type { WorkBudget } from "../../work/WorkBudget.ts"
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
  /** Some issues have no fix because verifying them takes too much work. */
  readonly hasUnverifiedFixes?: true
}

/** How much work the fixes of a check may take. */
export interface FixOptions {
  /** Which fixes are verified and kept. `first`: that of the first error, or else of the first warning, that has one. By default all. */
  readonly fixes?: "all" | "first" | "none"
  /** For verifying fixes: the text is checked once for each. By default 16,000 characters in all. */
  readonly budget?: WorkBudget
}

export interface CheckOptions extends FixOptions {
  /** In UTF-16 code units. A longer text is rejected without parsing. */
  readonly maxLength?: number
}
