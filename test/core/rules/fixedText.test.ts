/** One text with all fixes: valid, and only where a single fix is not enough. */
import { assert, describe, it } from "@effect/vitest"
import { firehose } from "../../../core/languages/firehose.ts"
import type { Language } from "../../../core/languages/Language.ts"
import { x } from "../../../core/languages/x.ts"
import { fixedTextInTurns } from "../../../core/rules/fixedText.ts"
import type { Checked } from "../../../core/syntax/expression/checked.ts"
import { finish, type Turns } from "../../../core/work/turns.ts"

describe("fixedText", () => {
  const fixable: ReadonlyArray<readonly [language: Language, text: string, fixed: string]> = [
    [x, "storm AND flood lnag:en", "storm flood lang:en"],
    [x, "storm AND (flood", "storm (flood)"],
    [x, "storm AND is:retwet NOT flood", "storm is:retweet -flood"],
    [firehose, "tilte:storm && langauge:en", "title:storm && language:en"]
  ]
  for (const [language, text, fixed] of fixable) {
    it(`makes ${fixed} of ${text}`, () => {
      assert.strictEqual(fixOf(language.checkInTurns, text), fixed)
      assert.isDefined(language.check(fixed).rule)
    })
  }

  it("has no text if one fix is enough, nothing is wrong, or not all can be fixed", () => {
    for (const text of ["storm lnag:en", "storm", "is:retwet lnag:en"]) {
      assert.isUndefined(fixOf(x.checkInTurns, text), text)
    }
  })

  it("ends with fixes that undo each other or never end", () => {
    const fixedBy = (change: (text: string) => string) =>
      function* (text: string): Turns<Checked> {
        const fix = { message: "", text: change(text) }
        return {
          issues: [{ severity: "error", code: "wrong", span: { start: 0, end: 1 }, message: "", fix }],
          rule: undefined
        }
      }
    for (const change of [(text: string) => (text === "a" ? "b" : "a"), (text: string) => `${text}a`]) {
      assert.isUndefined(fixOf(fixedBy(change), "a"))
    }
  })

  it("stops a long filter with many issues after a bounded number of characters, and says so", () => {
    const words = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, n) => `${prefix}${n}`).join(" OR ")
    const text = `${words(15, "titel:a")} OR ${words(980, "w")}`
    let characters = 0
    const counted: Language["checkInTurns"] = (sent, options) => {
      characters += sent.length
      return firehose.checkInTurns(sent, options)
    }
    const stopped = finish(fixedTextInTurns(counted, { text, issues: firehose.check(text).issues }))
    assert.deepStrictEqual(stopped, { isStopped: true })
    assert.isBelow(characters, 100_000)
  })
})

// ---- helpers ----

const fixOf = (check: Language["checkInTurns"], text: string): string | undefined =>
  finish(fixedTextInTurns(check, { text, issues: finish(check(text)).issues })).text
