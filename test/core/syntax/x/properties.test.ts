/** What holds for any text and any tree. */
import { readFileSync } from "node:fs"
import { assert, describe, it, vi } from "@effect/vitest"
import fc from "fast-check"
import { hasErrors } from "../../../../core/syntax/issue.ts"
import { check, lower, parse, print } from "../../../../core/syntax/x/language.ts"
import { limits } from "../../../../core/syntax/x/operators.ts"
import { trees, withoutSpans } from "./trees.ts"

const rules = readFileSync(new URL("../../../fixtures/rules-x.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => line.slice(line.indexOf("\t") + 1))

const pieces = [
  ..."()\"'-~:[]{}#@$&|!*.,\\ \t\n“”‘’–＃\u00a0\u200b\u0000\ud83c\udf55\ufe0f",
  ..." OR | AND | NOT |from:|lang:|has:|is:|sample:|url:|point_radius:[|bounding_box:[|a|the|1|..|🍕|http://|-(".split(
    "|"
  )
]

const noise = fc.array(
  fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...rules), fc.fullUnicodeString({ maxLength: 3 })),
  {
    maxLength: 12
  }
)

const mutated = fc
  .tuple(
    fc.constantFrom(...rules),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 4 }), fc.constantFrom(...pieces)), { maxLength: 4 })
  )
  .map(([rule, edits]) => {
    let text = rule
    for (const [place, removed, inserted] of edits) {
      const at = place % (text.length + 1)
      text = text.slice(0, at) + inserted + text.slice(at + removed)
    }
    return text
  })

const holds = (text: string): void => {
  const { issues, rule } = check(text, { maxLength: 4000 })
  assert.strictEqual(rule === undefined, hasErrors(issues))
  assert.isAtMost(issues.length, limits.maxIssues)
  for (const { span, code, message, fix } of issues) {
    assert.isTrue(0 <= span.start && span.start <= span.end && span.end <= text.length, code)
    assert.match(code, /^[a-z]+(-[a-z]+)*$/)
    assert.match(message, /^[^a-z].*[^.]$/su)
    assert.notStrictEqual(fix?.text, text)
  }
  if (issues.length < limits.maxIssues) {
    const count = (found: typeof issues, code: string) => found.filter((issue) => issue.code === code).length
    for (const { code, fix } of issues) {
      if (fix !== undefined) {
        const after = check(fix.text, { maxLength: 4000 }).issues
        assert.isBelow(count(after, code), count(issues, code), `${code}: ${fix.text}`)
        for (const left of after.filter(({ severity }) => severity === "error")) {
          assert.isAtMost(count(after, left.code), count(issues, left.code), `${code}: ${fix.text}`)
        }
      }
    }
  }
  if (rule !== undefined) {
    const canonical = print(rule.ast)
    const again = check(canonical, { maxLength: 8000 })
    assert.isDefined(again.rule, `${canonical}: ${JSON.stringify(again.issues)}`)
    assert.strictEqual(print(again.rule.ast), canonical)
    assert.deepStrictEqual(withoutSpans(lower(again.rule.ast)), withoutSpans(lower(rule.ast)))
  }
}

// The machine that runs this may be busy with other tests.
vi.setConfig({ testTimeout: 60_000 })

describe("any text", () => {
  it("gives a rule or an error, with every place inside the text and every fix tried", () => {
    fc.assert(
      fc.property(noise, (parts) => holds(parts.join(""))),
      { numRuns: 3000 }
    )
  })

  it("does so after small mistakes in good rules", () => {
    fc.assert(fc.property(mutated, holds), { numRuns: 4000 })
  })

  it("does so for raw code units", () => {
    fc.assert(fc.property(fc.string16bits({ maxLength: 60 }), holds), { numRuns: 2000 })
  })
})

describe("any tree", () => {
  it("is what parse reads from what print writes", () => {
    fc.assert(
      fc.property(trees, (tree) => {
        const text = print(tree)
        const { rule, issues } = parse(text, { maxLength: 1_000_000 })
        assert.isDefined(rule, `${text}: ${JSON.stringify(issues)}`)
        assert.deepStrictEqual(withoutSpans(rule.ast), withoutSpans(tree))
        assert.strictEqual(print(rule.ast), text)
      }),
      { numRuns: 2000 }
    )
  })
})

describe("huge texts", () => {
  const maxLength = 100_000_000

  it.each([
    "(",
    ")",
    "-",
    '"a" OR ',
    '"',
    "'a ",
    "' ",
    "[",
    "[a ",
    "a:",
    "a:[",
    "“",
    "a OR -",
    "-(",
    '\\"',
    "~1 ",
    "@",
    "#a",
    "lang:x ",
    "\u00a0",
    "\ud83c",
    "🍕",
    'url:"',
    "(a OR ",
    "a a-",
    "from:a ",
    "a,",
    "!",
    "#!"
  ])("are refused or read quickly: 100 kB of %s", (piece) => {
    const text = piece.repeat(Math.ceil(100_000 / piece.length))
    const started = process.cpuUsage()
    const { issues, rule } = check(text, { maxLength })
    assert.isBelow(process.cpuUsage(started).user, 1_000_000)
    assert.strictEqual(rule === undefined, hasErrors(issues))
    assert.isTrue(issues.every(({ span }) => span.start <= span.end && span.end <= text.length))
    assert.deepStrictEqual(
      check(text).issues.map(({ code }) => code),
      ["too-long"]
    )
  })

  it.each(["#", "@", "from:", "conversation_id:", "followers_count:", "lang:", "context:", "point_radius:[", '"'])(
    "are refused or read quickly: one value of 100 kB after %s",
    (name) => {
      for (const filling of ["!", "1", "1,", "a-", " 1"]) {
        const started = process.cpuUsage()
        check(`${name}${filling.repeat(100_000 / filling.length)}a`, { maxLength })
        assert.isBelow(process.cpuUsage(started).user, 1_000_000, filling)
      }
    }
  )

  it("are refused by their length before anything is read", () => {
    const text = "(".repeat(10_000_000)
    const started = process.cpuUsage()
    assert.deepStrictEqual(
      check(text).issues.map(({ code }) => code),
      ["too-long"]
    )
    assert.isBelow(process.cpuUsage(started).user, 50_000)
  })
})
