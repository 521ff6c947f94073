/** X's rule language: checks, parses, prints and lowers a rule. */

import { codePointName } from "../../text/codePointName.ts"
import { finish, type Turns } from "../../work/turns.ts"
import type { Checked, CheckOptions } from "../expression/checked.ts"
import type { Issue, Span } from "../issues/issue.ts"
import { limited, Report, withValidFixesInTurns } from "../issues/Report.ts"
import type { XNode } from "./ast.ts"
import { checkRule } from "./checker.ts"
import { type Dialect, xDialect } from "./Dialect.ts"
import { parseRule } from "./parser.ts"

export { lower } from "./lower.ts"
export { print } from "./printer.ts"

/** A rule that X accepts. `print(ast)` is its canonical form, `lower(ast)` its expression. */
export interface Rule {
  readonly text: string
  readonly ast: XNode
}

/** `dialect`: of X by default. */
export interface DialectOptions extends CheckOptions {
  readonly dialect?: Dialect
}

/** Checks syntax and semantics. Never throws. */
export const check = (text: string, options?: DialectOptions): Checked<Rule> => finish(checkInTurns(text, options))

export const checkInTurns = (text: string, options: DialectOptions = {}): Turns<Checked<Rule>> =>
  read(text, options, true)

/** Checks the syntax only: X may still refuse the rule. Never throws. */
export const parse = (text: string, options: DialectOptions = {}): Checked<Rule> => finish(read(text, options, false))

/** The position as X reports it: UTF-16 code units, counted from 1. */
export const position = (span: Span): number => span.start + 1

// ---- helpers ----

/** Higher than the number shown, so that counts before and after a fix can be compared. */
const MAX_COLLECTED = 64

/** Above every platform limit. Verifying fixes checks the text once per issue. */
const MAX_FIXABLE_LENGTH = 4096

function* read(
  text: string,
  { dialect = xDialect, maxLength = dialect.maxLength, ...options }: DialectOptions,
  semantics: boolean
): Turns<Checked<Rule>> {
  const { report, ast } = examine(text, maxLength, { dialect, semantics, hasSuggestions: true })
  const rule = report.errors === 0 && ast !== undefined ? { text, ast } : undefined
  const isFixable = text.length <= MAX_FIXABLE_LENGTH && !report.overflowed
  const checkAgain = (fixed: string): ReadonlyArray<Issue> | undefined => {
    if (!isFixable) return undefined
    const again = examine(fixed, maxLength, { dialect, semantics, hasSuggestions: false }).report
    return again.overflowed ? undefined : again.found
  }
  const shown = limited(report.found, report.discarded)
  const compared = { issues: shown.issues, before: report.found }
  return { ...shown, ...(yield* withValidFixesInTurns(compared, checkAgain, options)), rule }
}

function examine(
  text: string,
  maxLength: number,
  {
    dialect,
    semantics,
    hasSuggestions
  }: { readonly dialect: Dialect; readonly semantics: boolean; readonly hasSuggestions: boolean }
) {
  const report = new Report(text, { maxPerSeverity: MAX_COLLECTED, hasSuggestions })
  if (text.length > maxLength) {
    const message = `A rule has at most ${maxLength} characters, this one has ${text.length}: shorten it or split it into several rules`
    report.error("too-long", maxLength, text.length, message, { expected: [`at most ${maxLength} characters`] })
    return { report, ast: undefined }
  }
  if (suspicious.test(text)) {
    checkCharacters(report)
  }
  const ast = parseRule(report, dialect)
  if (ast !== undefined && semantics) {
    checkRule(report, ast, dialect)
  }
  return { report, ast }
}

/** Fast test for invalid characters. Also matches valid surrogate pairs, which `checkCharacters` accepts. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const suspicious = /[\0-\x08\x0e-\x1f\x7f\ud800-\udfff]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const invalidCharacter = /[\0-\x08\x0e-\x1f\x7f]|\p{Surrogate}/gu

function checkCharacters(report: Report): void {
  for (const { index: start } of report.text.matchAll(invalidCharacter)) {
    const end = start + 1
    const fix = report.fix("Remove the character", start, end, "")
    const code = report.text.charCodeAt(start)
    if (code >= 0xd800) {
      report.error("half-character", start, end, "Lone surrogate: this character is incomplete", { fix })
    } else {
      const message = `The control character ${codePointName(code)} cannot be part of a rule`
      report.error("control-character", start, end, message, { fix })
    }
  }
}
