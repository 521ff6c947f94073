/** Runs every line of the corpus through the checker: accepted, or refused for the reason it names. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { hasErrors, type Issue } from "../../../../core/syntax/issue.ts"
import { check, lower, print } from "../../../../core/syntax/x/language.ts"
import { withoutSpans } from "./trees.ts"

const lines = readFileSync(new URL("../../../fixtures/rules-x.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const tab = line.indexOf("\t")
    return { wanted: line.slice(0, tab), rule: line.slice(tab + 1) }
  })

const accepted = lines.filter(({ wanted }) => wanted === "ok")
const faulty = lines.filter(({ wanted }) => wanted !== "ok")

describe("corpus", () => {
  it("has both kinds of rules", () => {
    assert.isAbove(accepted.length, 100)
    assert.isAbove(faulty.length, 150)
  })

  it.each(accepted)("accepts $rule", ({ rule }) => {
    const { issues, rule: found } = check(rule)
    assert.deepStrictEqual(issues.filter(isError), [])
    assert.strictEqual(found?.text, rule)
  })

  it.each(accepted)("keeps the meaning of $rule in its canonical text", ({ rule }) => {
    const first = check(rule).rule
    assert.isDefined(first)
    const canonical = print(first.ast)
    const second = check(canonical).rule
    assert.isDefined(second, canonical)
    assert.strictEqual(print(second.ast), canonical)
    assert.deepStrictEqual(withoutSpans(lower(second.ast)), withoutSpans(lower(first.ast)))
  })

  it.each(faulty)("finds $wanted in $rule", ({ wanted, rule }) => {
    const { issues, rule: found } = check(rule)
    assert.include(
      issues.map(({ code }) => code),
      wanted
    )
    assert.strictEqual(found === undefined, hasErrors(issues))
  })

  it.each(lines)("offers only fixes that mend $rule", ({ rule }) => {
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
