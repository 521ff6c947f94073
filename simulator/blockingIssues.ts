/** The issues for which a platform refuses a rule: all errors, and the warnings that the settings list. */
import type { Issue } from "../core/syntax/issues/issue.ts"

export const blockingIssues = (issues: ReadonlyArray<Issue>, warnings: ReadonlyArray<string>): ReadonlyArray<Issue> =>
  issues.filter(({ severity, code }) => severity === "error" || warnings.includes(code))
