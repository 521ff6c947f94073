/** Property tests for arbitrary texts and ASTs. */
import { readFileSync } from "node:fs"
import { assert, describe, it, vi } from "@effect/vitest"
import fc from "fast-check"
import { hasErrors } from "../../../../core/syntax/issues/issue.ts"
import { check, lower, parse, print } from "../../../../core/syntax/x/language.ts"
import { MAX_ISSUES } from "../../../../core/text/shownIssues.ts"
import { trees, withoutSpans } from "./trees.ts"
import { sized } from "../../../long.ts"
import { cpuMillisOf } from "../../../cpuMillis.ts"

const rules = readFileSync(new URL("../../../../fixtures/rules-x.txt", import.meta.url), "utf8")
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
    for (const [index, removed, inserted] of edits) {
      const at = index % (text.length + 1)
      text = text.slice(0, at) + inserted + text.slice(at + removed)
    }
    return text
  })

const assertSound = (text: string): void => {
  const { issues, rule } = check(text, { maxLength: 4000 })
  assert.strictEqual(rule === undefined, hasErrors(issues))
  assert.isAtMost(issues.length, MAX_ISSUES)
  for (const { span, code, message, fix } of issues) {
    assert.isTrue(0 <= span.start && span.start <= span.end && span.end <= text.length, code)
    assert.match(code, /^[a-z]+(-[a-z]+)*$/)
    assert.match(message, /^[^a-z].*[^.]$/su)
    assert.notStrictEqual(fix?.text, text)
  }
  if (issues.length < MAX_ISSUES) {
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

// Other tests may run at the same time.
vi.setConfig({ testTimeout: 60_000 })

describe("check", () => {
  it("gives sound issues and fixes for noise", () => {
    fc.assert(
      fc.property(noise, (parts) => assertSound(parts.join(""))),
      { numRuns: sized(750, 3_000) }
    )
  })

  it("gives sound issues and fixes for mutated rules", () => {
    fc.assert(fc.property(mutated, assertSound), { numRuns: sized(1_000, 4_000) })
  })

  it("gives sound issues and fixes for arbitrary code units", () => {
    fc.assert(fc.property(fc.string16bits({ maxLength: 60 }), assertSound), { numRuns: sized(500, 2_000) })
  })
})

describe("print", () => {
  it("round-trips: parse gives back the printed AST", () => {
    fc.assert(
      fc.property(trees, (tree) => {
        const text = print(tree)
        const { rule, issues } = parse(text, { maxLength: 1_000_000 })
        assert.isDefined(rule, `${text}: ${JSON.stringify(issues)}`)
        assert.deepStrictEqual(withoutSpans(rule.ast), withoutSpans(tree))
        assert.strictEqual(print(rule.ast), text)
      }),
      { numRuns: sized(500, 2_000) }
    )
  })
})

describe("check on huge texts", () => {
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
  ])("takes less than a second for 100 kB of %s", (piece) => {
    const text = piece.repeat(Math.ceil(100_000 / piece.length))
    assert.isBelow(
      cpuMillisOf(() => check(text, { maxLength })),
      1_000
    )
    const { issues, rule } = check(text, { maxLength })
    assert.strictEqual(rule === undefined, hasErrors(issues))
    assert.isTrue(issues.every(({ span }) => span.start <= span.end && span.end <= text.length))
    assert.deepStrictEqual(
      check(text).issues.map(({ code }) => code),
      ["too-long"]
    )
  })

  it.each(["#", "@", "from:", "conversation_id:", "followers_count:", "lang:", "context:", "point_radius:[", '"'])(
    "takes less than a second for a value of 100 kB after %s",
    (name) => {
      for (const filling of ["!", "1", "1,", "a-", " 1"]) {
        const text = `${name}${filling.repeat(100_000 / filling.length)}a`
        assert.isBelow(
          cpuMillisOf(() => check(text, { maxLength })),
          1_000,
          filling
        )
      }
    }
  )

  it("refuses a rule over the length limit without lexing it", () => {
    const text = "(".repeat(10_000_000)
    const millis = cpuMillisOf(() => {
      assert.deepStrictEqual(
        check(text).issues.map(({ code }) => code),
        ["too-long"]
      )
    })
    assert.isBelow(millis, 50)
  })
})
