/** Checks every rule of the corpus: `ok` rules have no errors, the others have the issue that their line names. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { hasErrors, type Issue } from "../../../../core/syntax/issues/issue.ts"
import { check, lower, print } from "../../../../core/syntax/x/language.ts"
import { withoutSpans } from "./trees.ts"

const lines = readFileSync(new URL("../../../../fixtures/rules-x.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const tab = line.indexOf("\t")
    return { code: line.slice(0, tab), rule: line.slice(tab + 1) }
  })

const accepted = lines.filter(({ code }) => code === "ok")
const faulty = lines.filter(({ code }) => code !== "ok")

describe("corpus", () => {
  it("has enough accepted and faulty rules", () => {
    assert.isAbove(accepted.length, 100)
    assert.isAbove(faulty.length, 150)
  })

  it.each(accepted)("check accepts $rule", ({ rule }) => {
    const { issues, rule: found } = check(rule)
    assert.deepStrictEqual(issues.filter(isError), [])
    assert.strictEqual(found?.text, rule)
  })

  it.each(accepted)("print keeps the meaning of $rule", ({ rule }) => {
    const first = check(rule).rule
    assert.isDefined(first)
    const canonical = print(first.ast)
    const second = check(canonical).rule
    assert.isDefined(second, canonical)
    assert.strictEqual(print(second.ast), canonical)
    assert.deepStrictEqual(withoutSpans(lower(second.ast)), withoutSpans(lower(first.ast)))
  })

  it.each(faulty)("check reports $code in $rule", ({ code, rule }) => {
    const { issues, rule: found } = check(rule)
    assert.isAbove(count(issues, code), 0)
    assert.strictEqual(found === undefined, hasErrors(issues))
  })

  it.each(lines)("every fix of $rule removes its issue and adds no error", ({ rule }) => {
    const before = check(rule).issues
    for (const issue of before) {
      if (issue.fix !== undefined) {
        const after = check(issue.fix.text).issues
        assert.isBelow(count(after, issue.code), count(before, issue.code), issue.fix.text)
        for (const left of after.filter(isError)) {
          assert.isAtMost(count(after, left.code), count(before, left.code), `${issue.fix.text}: ${left.code}`)
        }
      }
    }
  })
})

// ---- helpers ----

function isError(issue: Issue): boolean {
  return issue.severity === "error"
}

function count(issues: ReadonlyArray<Issue>, code: string): number {
  return issues.filter((issue) => issue.code === code).length
}
