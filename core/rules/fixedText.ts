/** One text with all fixes of a filter applied. */
import type { Checked } from "../syntax/expression/checked.ts"
import type { Fix, Issue } from "../syntax/issues/issue.ts"

/** Undefined if the filter is still not valid after all fixes, or if one fix is enough. Checks every text on the way. */
export const fixedText = (check: (text: string) => Checked, { text, issues }: Sent): string | undefined => {
  const tried = new Set([text])
  let checked: Pick<Checked, "issues" | "rule"> = { issues, rule: undefined }
  let fixed = text
  for (let fix = nextFix(issues); fix !== undefined; fix = nextFix(checked.issues)) {
    if (tried.has(fix.text) || tried.size > MAX_FIXES) return undefined
    tried.add(fix.text)
    fixed = fix.text
    checked = check(fixed)
  }
  const isNew = issues.every(({ fix }) => fix?.text !== fixed)
  return checked.rule !== undefined && isNew ? fixed : undefined
}

// ---- helpers ----

interface Sent {
  readonly text: string
  readonly issues: ReadonlyArray<Issue>
}

const MAX_FIXES = 20

/** Errors first: the fix of a warning may no longer apply after them. */
const nextFix = (issues: ReadonlyArray<Issue>): Fix | undefined => {
  const fixable = issues.filter(({ fix }) => fix !== undefined)
  return (fixable.find(({ severity }) => severity === "error") ?? fixable[0])?.fix
}
