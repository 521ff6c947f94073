/** Firehose's rule language: checks, parses, prints and lowers a rule. */

import { finish, type Turns } from "../../work/turns.ts"
import type { Checked, CheckOptions } from "../expression/checked.ts"
import type { Expression } from "../expression/expression.ts"
import { type Discarded, type Limited, limited, Report, withValidFixesInTurns } from "../issues/Report.ts"
import type { Group } from "./ast.ts"
import { checkRule } from "./checker.ts"
import { limits } from "./fields.ts"
import { lower } from "./lower.ts"
import { parseRule } from "./parser.ts"
import { print } from "./printer.ts"

export interface Rule {
  readonly text: string
  readonly ast: Group
  /** Canonical form: equal for two rules that differ only in spelling. */
  readonly canonical: string
  readonly expression: Expression
}

export interface Parsed extends Limited {
  /** Present if no issue is an error. */
  readonly ast: Group | undefined
}

/** Checks grammar, fields and values. Never throws. */
export const check = (text: string, options?: CheckOptions): Checked<Rule> => finish(checkInTurns(text, options))

export function* checkInTurns(text: string, options: CheckOptions = {}): Turns<Checked<Rule>> {
  const { ast, isFixable, ...shown } = run(text, options, true)
  const { issues } = shown
  const rule = ast === undefined ? undefined : { text, ast, canonical: print(ast), expression: lower(ast) }
  const checkAgain = (fixed: string) => (isFixable ? run(fixed, options, true, false).issues : undefined)
  return { ...shown, ...(yield* withValidFixesInTurns({ issues, before: issues }, checkAgain, options)), rule }
}

/** Checks the grammar only, not fields and values. */
export const parse = (text: string, options?: CheckOptions): Parsed => run(text, options, false)

export { lower, print }

// ---- helpers ----

const run = (
  text: string,
  { maxLength = limits.maxLength }: CheckOptions = {},
  checksValues: boolean,
  hasSuggestions = true
): Parsed & { readonly isFixable: boolean } => {
  const report = new Report(text, { hasSuggestions })
  if (text.length > maxLength) {
    const message = `A rule has at most ${maxLength} characters, this one has ${text.length}: shorten it or split it into several rules`
    report.error("too-long", maxLength, text.length, message)
    return { issues: report.found, ast: undefined, isFixable: false }
  }
  const ast = parseRule(report)
  const isCheap = !checksValues || checkRule(report, ast, maxLength)
  // A warning that overlaps an error is a consequence of it.
  const isOwn = ({ severity, span }: Discarded) => severity === "error" || !report.hasErrorIn(span.start, span.end)
  return {
    ...limited(report.found.filter(isOwn), report.discarded.filter(isOwn)),
    ast: report.errors > 0 ? undefined : ast,
    // Verifying fixes checks the text once per issue. If some issues were discarded, the counts tell nothing.
    isFixable: isCheap && !report.overflowed
  }
}
