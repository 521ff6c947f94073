/** Which issues of a rule refuse it: errors, and the warnings that the settings name. */
import type { Issue } from "../../core/syntax/issue.ts"

export const refusing = (issues: ReadonlyArray<Issue>, warnings: ReadonlyArray<string>): ReadonlyArray<Issue> =>
  issues.filter(({ severity, code }) => severity === "error" || warnings.includes(code))
