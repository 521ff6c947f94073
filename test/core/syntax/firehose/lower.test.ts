/** Tests of lowering a Firehose rule to an expression. */
import { assert, describe, it } from "@effect/vitest"
import type { Expression } from "../../../../core/syntax/expression/expression.ts"
import { check } from "../../../../core/syntax/firehose/language.ts"

/** Short form of an expression. */
const show = (expression: Expression): string => {
  switch (expression._tag) {
    case "And":
    case "Or":
      return `${expression._tag}(${expression.clauses.map(show).join(", ")})`
    case "Not":
      return `Not(${show(expression.clause)})`
    case "Phrase": {
      const offsets = expression.offsets === undefined ? "" : `@${expression.offsets.join("")}`
      const slop = expression.slop === 0 ? "" : `~${expression.slop}`
      return `${field(expression.field)}"${expression.words.join(" ")}"${offsets}${slop}`
    }
    case "Wildcard":
      return `${field(expression.field)}${expression.parts.map((part) => (typeof part === "string" ? `'${part}'` : part.sign)).join("")}`
    case "Fuzzy":
      return `${field(expression.field)}${expression.word}~${expression.distance}`
    case "Regex":
      return `${field(expression.field)}/${expression.pattern}/`
    case "Equals":
      return `${field(expression.field)}=${expression.value}`
    case "NumberRange":
    case "KeywordRange": {
      const from =
        expression.from === undefined ? "(*" : (expression.from.inclusive ? "[" : "(") + expression.from.value
      const to = expression.to === undefined ? "*)" : expression.to.value + (expression.to.inclusive ? "]" : ")")
      return `${field(expression.field)}${from},${to}`
    }
    case "Recent":
      return `Recent(${expression.hours})`
    default:
      return expression._tag
  }
}

const field = (name: string): string => (name === "firehose.added" ? "" : `${name.replace("firehose.", "")}:`)

const meanings: ReadonlyArray<readonly [rule: string, meaning: string]> = [
  ["Tesla", '"tesla"'],
  ['"Site Explorer"', '"site explorer"'],
  ["ford AND gm", 'And("ford", "gm")'],
  ["ford OR gm", 'Or("ford", "gm")'],
  ["ford AND gm OR kia", 'And("ford", "gm")'],
  ["ford AND gm OR kia AND vw", 'And("ford", "gm", "kia", "vw")'],
  ["ford OR NOT gm", 'And("ford", Not("gm"))'],
  ["ford gm -kia", 'And(Or("ford", "gm"), Not("kia"))'],
  ["ford AND NOT (gm OR kia)", 'And("ford", Not(Or("gm", "kia")))'],
  ["(((ford)))", '"ford"'],
  ["the AND ford", '"ford"'],
  ["wi-fi", 'Or("wi", "fi")'],
  ['"wi-fi"', '"wi fi"'],
  ["title:wi-fi AND x", 'And(Or(title:"wi", title:"fi"), "x")'],
  ['"state of the art"', '"state art"@03'],
  ['title:"state of the art"', 'title:"state of the art"'],
  ['"the beatles"', '"beatles"'],
  ['"ford recall"~4', '"ford recall"~4'],
  ["volkswagen~1", "volkswagen~1"],
  ["Volkswagen~", "volkswagen~2"],
  ["domain:gogle.com~1", "domain:gogle.com~1"],
  ["Tes*", "'tes'*"],
  ["url:*\\/Tag\\/?", "url:*'/Tag/'?"],
  ["title:/Tes.*/", "title:/tes.*/"],
  ["url:/.*Tag.*/", "url:/.*Tag.*/"],
  ['page_type:"/Article"', "page_type:=/Article"],
  ["url:https\\:\\/\\/a.com\\/B", "url:=https://a.com/B"],
  ["dr:50", "dr:[50,50]"],
  ["dr:{50 TO 100]", "dr:(50,100]"],
  ["dr:[* TO 20}", "dr:(*,20)"],
  ["dr:*", "dr:(*,*)"],
  ["publish_time:[2025-01-01T00\\:00\\:00 TO *]", "publish_time:[2025-01-01T00:00:00,*)"],
  ["ford AND recent:24h", 'And("ford", Recent(24))'],
  ["ford AND recent:7d", 'And("ford", Recent(168))'],
  ["ford AND recent:2mo", 'And("ford", Recent(1440))'],
  ["ford^2", '"ford"'],
  ["*:* AND NOT ford", 'And(Everything, Not("ford"))'],
  ["title:(ford OR url:*x)", "Or(title:\"ford\", url:*'x')"],
  ["language:(en OR fr)", "Or(language:=en, language:=fr)"]
]

describe("lower", () => {
  for (const [rule, meaning] of meanings) {
    it(`lowers ${rule} to ${meaning}`, () => {
      const { rule: accepted, issues } = check(rule)
      assert.isDefined(accepted, JSON.stringify(issues))
      assert.strictEqual(accepted && show(accepted.expression), meaning)
    })
  }

  it("keeps the span of each clause", () => {
    const expression = check("ford AND NOT title:gm").rule?.expression
    assert.strictEqual(expression?._tag, "And")
    if (expression?._tag === "And") {
      assert.deepStrictEqual(expression.clauses[0]?.span, { start: 0, end: 4 })
      assert.deepStrictEqual(expression.clauses[1]?.span, { start: 9, end: 21 })
    }
  })
})
