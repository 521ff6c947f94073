/** Firehose's query language: check a rule, read it, write it in canonical form, say what it means. */
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
  /** Equal for two rules that differ only in how they are spelled. */
  readonly canonical: string
  readonly expression: Expression
}

export interface Checked {
  /** In the order of the text, about twenty at most. */
  readonly issues: ReadonlyArray<Issue>
  /** Present when no issue is an error. */
  readonly rule: Rule | undefined
}

export interface Parsed {
  readonly issues: ReadonlyArray<Issue>
  /** Present when no issue is an error. */
  readonly ast: Group | undefined
}

export interface Options {
  /** In UTF-16 code units; a longer text is refused unread. */
  readonly maxLength?: number
}

/** Grammar, fields and values. Never throws, whatever the text. */
export const check = (text: string, options?: Options): Checked => {
  const { issues, ast } = examine(text, options, true)
  const rule = ast === undefined ? undefined : { text, ast, canonical: print(ast), expression: lower(ast) }
  return { issues: issues.some((issue) => issue.fix !== undefined) ? withSoundFixes(issues, options) : issues, rule }
}

/** The grammar alone: fields and values are taken as they stand. */
export const parse = (text: string, options?: Options): Parsed => examine(text, options, false)

export { lower, print }

// ---- helpers ----

const examine = (text: string, options: Options | undefined, isChecked: boolean): Parsed => {
  const report = new Report(text)
  const maxLength = options?.maxLength ?? limits.maxLength
  if (text.length > maxLength) {
    report.error("too-long", maxLength, text.length, `The rule has ${text.length} characters: ${maxLength} are allowed`)
    return { issues: report.issues(), ast: undefined }
  }
  const ast = parseRule(report)
  if (isChecked) {
    checkRule(report, ast)
  }
  return { issues: report.issues(), ast: report.failed ? undefined : ast }
}

/** Keeps a fix only if the text it gives has one issue of that kind fewer and no error that was not there before. */
const withSoundFixes = (issues: ReadonlyArray<Issue>, options: Options | undefined): ReadonlyArray<Issue> => {
  const before = countByCode(issues)
  return issues.map((issue) => {
    if (issue.fix === undefined) {
      return issue
    }
    const mended = examine(issue.fix.text, options, true).issues
    const after = countByCode(mended)
    const isMended = (after.get(issue.code) ?? 0) < (before.get(issue.code) ?? 0)
    const isClean = mended.every(
      ({ severity, code }) => severity === "warning" || (after.get(code) ?? 0) <= (before.get(code) ?? 0)
    )
    if (isMended && isClean) {
      return issue
    }
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
