/** Firehose's rule language: checks, parses, prints and lowers a rule. */

import { finish, type Turns } from "../../work/turns.ts"
import type { Checked, CheckOptions } from "../expression/checked.ts"
import type { Expression } from "../expression/expression.ts"
import type { Issue } from "../issues/issue.ts"
import { type Discarded, type Limited, limited, Report, withValidFixesInTurns } from "../issues/Report.ts"
import type { Group } from "./ast.ts"
import { checkRuleInTurns } from "./checker.ts"
import type { FieldSet } from "./fieldSet.ts"
import { firehoseFields, limits } from "./fields.ts"
import { lower } from "./lower.ts"
import { parseRule } from "./parser.ts"
import { print } from "./printer.ts"

/** `fields`: Firehose's by default. */
export interface Options extends CheckOptions {
  readonly fields?: FieldSet
}

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
export const check = (text: string, options?: Options): Checked<Rule> => finish(checkInTurns(text, options))

export function* checkInTurns(text: string, options: Options = {}): Turns<Checked<Rule>> {
  const { ast, isFixable, found, ...shown } = yield* run(text, options, true)
  const rule =
    ast === undefined ? undefined : { text, ast, canonical: print(ast), expression: lower(ast, options.fields) }
  const checkAgain = (fixed: string) => (isFixable ? finish(run(fixed, options, true, false)).found : undefined)
  const compared = { issues: shown.issues, before: found }
  return { ...shown, ...(yield* withValidFixesInTurns(compared, checkAgain, options)), rule }
}

/** Checks the grammar only, not fields and values. */
export const parse = (text: string, options?: Options): Parsed => finish(run(text, options, false))

export { lower, print }

// ---- helpers ----

function* run(
  text: string,
  { maxLength = limits.maxLength, fields = firehoseFields }: Options = {},
  checksValues: boolean,
  hasSuggestions = true
): Turns<Parsed & { readonly isFixable: boolean; readonly found: ReadonlyArray<Issue> }> {
  const report = new Report(text, { hasSuggestions })
  if (text.length > maxLength) {
    const message = `A rule has at most ${maxLength} characters, this one has ${text.length}: shorten it or split it into several rules`
    report.error("too-long", maxLength, text.length, message, { expected: [`at most ${maxLength} characters`] })
    return { issues: report.found, found: report.found, ast: undefined, isFixable: false }
  }
  const ast = parseRule(report, fields)
  const isCheap = !checksValues || (yield* checkRuleInTurns(report, ast, { fields, maxLength }))
  // A warning that overlaps an error is a consequence of it.
  const isOwn = ({ severity, span }: Discarded) => severity === "error" || !report.hasErrorIn(span.start, span.end)
  const found = report.found.filter(isOwn)
  return {
    ...limited(found, report.discarded.filter(isOwn)),
    found,
    ast: report.errors > 0 ? undefined : ast,
    // Verifying fixes checks the text once per issue. If some issues were discarded, the counts tell nothing.
    isFixable: isCheap && !report.overflowed
  }
}
