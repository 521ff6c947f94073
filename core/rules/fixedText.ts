/** One text with all fixes of a filter applied. */
import type { Language } from "../languages/Language.ts"
import type { Checked } from "../syntax/expression/checked.ts"
import type { Fix, Issue } from "../syntax/issues/issue.ts"
import { errorsFirst } from "../syntax/issues/Report.ts"
import type { Turns } from "../work/turns.ts"
import { WorkBudget } from "../work/WorkBudget.ts"

export interface FixedText {
  /** Absent if the filter is still not valid after all fixes, or if one fix is enough. */
  readonly text?: string
  /** The fixes take too much work. */
  readonly isStopped: boolean
}

/** Checks every text on the way. */
export function* fixedTextInTurns(check: Language["checkInTurns"], { text, issues }: Sent): Turns<FixedText> {
  const budget = new WorkBudget(MAX_WORK)
  const tried = new Set([text])
  let checked: Pick<Checked, "issues" | "rule"> = { issues, rule: undefined }
  let fixed = text
  for (let fix = nextFix(issues); fix !== undefined; fix = nextFix(checked.issues)) {
    if (tried.has(fix.text) || tried.size > MAX_FIXES) return { isStopped: tried.size > MAX_FIXES }
    if (!budget.take(fix.text.length)) break
    tried.add(fix.text)
    fixed = fix.text
    checked = yield* check(fixed, { fixes: "first", budget })
    yield
  }
  if (budget.isUsedUp) return { isStopped: true }
  const isNew = issues.every(({ fix }) => fix?.text !== fixed)
  return checked.rule !== undefined && isNew ? { text: fixed, isStopped: false } : { isStopped: false }
}

// ---- helpers ----

interface Sent {
  readonly text: string
  readonly issues: ReadonlyArray<Issue>
}

const MAX_FIXES = 20

/** In characters that are checked. */
const MAX_WORK = 36_000

const nextFix = (issues: ReadonlyArray<Issue>): Fix | undefined =>
  errorsFirst(issues).find(({ fix }) => fix !== undefined)?.fix
