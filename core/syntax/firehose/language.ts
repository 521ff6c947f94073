/** Firehose's rule language: checks, parses, prints and lowers a rule. */
import type { Expression } from "../expression/expression.ts"
import type { Issue } from "../issue.ts"
import type { Group } from "./ast.ts"
import { checkRule } from "./checker.ts"
import { limits } from "./fields.ts"
import { lower } from "./lower.ts"
import { parseRule } from "./parser.ts"
import { print } from "./printer.ts"
import { Report } from "./report.ts"

export interface Rule {
  readonly text: string
  readonly ast: Group
  /** Canonical form: equal for two rules that differ only in spelling. */
  readonly canonical: string
  readonly expression: Expression
}

export interface Checked {
  /** In text order, at most 20. */
  readonly issues: ReadonlyArray<Issue>
  /** Present if no issue is an error. */
  readonly rule: Rule | undefined
}

export interface Parsed {
  readonly issues: ReadonlyArray<Issue>
  /** Present if no issue is an error. */
  readonly ast: Group | undefined
}

export interface Options {
  /** In UTF-16 code units. A longer text is rejected without parsing. */
  readonly maxLength?: number
}

/** Checks grammar, fields and values. Never throws. */
export const check = (text: string, options?: Options): Checked => {
  const { issues, ast } = run(text, options, true)
  const rule = ast === undefined ? undefined : { text, ast, canonical: print(ast), expression: lower(ast) }
  return { issues: issues.some((issue) => issue.fix !== undefined) ? withValidFixes(issues, options) : issues, rule }
}

/** Checks the grammar only, not fields and values. */
export const parse = (text: string, options?: Options): Parsed => run(text, options, false)

export { lower, print }

// ---- helpers ----

const run = (text: string, options: Options | undefined, checksValues: boolean): Parsed => {
  const report = new Report(text)
  const maxLength = options?.maxLength ?? limits.maxLength
  if (text.length > maxLength) {
    report.error(
      "too-long",
      maxLength,
      text.length,
      `The rule has ${text.length} characters: at most ${maxLength} are allowed`
    )
    return { issues: report.issues(), ast: undefined }
  }
  const ast = parseRule(report)
  if (checksValues) checkRule(report, ast)
  return { issues: report.issues(), ast: report.failed ? undefined : ast }
}

/** Drops each fix that does not remove an issue of its code, or that adds an error. */
const withValidFixes = (issues: ReadonlyArray<Issue>, options: Options | undefined): ReadonlyArray<Issue> => {
  const before = countByCode(issues)
  return issues.map((issue) => {
    if (issue.fix === undefined) return issue
    const fixed = run(issue.fix.text, options, true).issues
    const after = countByCode(fixed)
    const isFixed = (after.get(issue.code) ?? 0) < (before.get(issue.code) ?? 0)
    const addsNoError = fixed.every(
      ({ severity, code }) => severity === "warning" || (after.get(code) ?? 0) <= (before.get(code) ?? 0)
    )
    if (isFixed && addsNoError) return issue
    const { fix: _, ...rest } = issue
    return rest
  })
}

const countByCode = (issues: ReadonlyArray<Issue>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { code } of issues) {
    counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  return counts
}
