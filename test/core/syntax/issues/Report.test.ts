import { assert, describe, it } from "vitest"
import { Report } from "../../../../core/syntax/issues/Report.ts"

describe("Report.fixEverywhere", () => {
  it("replaces every occurrence, and makes the text once for all issues", () => {
    const report = new Report("«a» «b»")
    const fix = () => report.fixEverywhere("Write straight quotes", /[«»]/g, '"')
    assert.deepStrictEqual(fix(), { message: "Write straight quotes", text: '"a" "b"' })
    assert.strictEqual(fix(), fix())
  })
})
