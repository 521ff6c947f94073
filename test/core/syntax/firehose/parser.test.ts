/** Tests of the parser: occurrence of each clause, spans, canonical form. */
import { assert, describe, it } from "@effect/vitest"
import { parse, print } from "../../../../core/syntax/firehose/language.ts"

const signs = { must: "+", should: "", must_not: "-" } as const

/** The top-level clauses in the notation of a Lucene Boolean query. */
const occurrences = (rule: string): string => {
  const { ast } = parse(rule)
  return (ast?.clauses ?? [])
    .map(({ occur, query }) => signs[occur] + rule.slice(query.span.start, query.span.end))
    .join(" ")
}

/** Computed by hand from Lucene's `addClause`, with OR as the default operator. */
const precedence: ReadonlyArray<readonly [rule: string, clauses: string]> = [
  ["ford", "ford"],
  ["ford gm", "ford gm"],
  ["ford OR gm", "ford gm"],
  ["ford AND gm", "+ford +gm"],
  ["ford AND gm OR kia", "+ford +gm kia"],
  ["ford OR gm AND kia", "ford +gm +kia"],
  ["ford AND gm OR kia AND vw", "+ford +gm +kia +vw"],
  ["ford OR gm OR kia AND vw", "ford gm +kia +vw"],
  ["ford AND NOT gm", "+ford -gm"],
  ["ford NOT gm", "ford -gm"],
  ["ford OR NOT gm", "ford -gm"],
  ["NOT ford AND gm", "-ford +gm"],
  ["ford && gm || kia", "+ford +gm kia"],
  ["ford AND !gm", "+ford -gm"],
  ["+ford gm -kia", "+ford gm -kia"],
  ["ford AND +gm", "+ford +gm"],
  ["ford OR +gm", "ford +gm"],
  ["ford AND -gm OR kia", "+ford -gm kia"],
  // A clause of stop words is dropped, but its AND still makes the previous clause required.
  ["ford AND the", "+ford"],
  ["the AND ford", "+ford"],
  ["ford OR the AND gm", "+ford +gm"],
  ["ford - gm", "ford gm"],
  ["ford AND (the OR of) AND gm", "+ford +gm"]
]

const canonical: ReadonlyArray<readonly [rule: string, text: string]> = [
  ["ford   &&  gm", "ford AND gm"],
  ["ford || gm", "ford OR gm"],
  ["ford gm", "ford OR gm"],
  ["ford !gm", "ford -gm"],
  ["+ford +gm", "ford AND gm"],
  ["+ford -gm", "ford AND NOT gm"],
  ["ford AND gm OR kia", "+ford +gm OR kia"],
  ["domain:(a.com OR b.com -c.com d.com)", "domain:(a.com OR b.com -c.com OR d.com)"],
  ["-ford", "NOT ford"],
  ["+ford", "+ford"],
  ["title : ford", "title:ford"],
  ["t\\u0065sla", "tesla"],
  ["title:(ford   gm)", "title:(ford OR gm)"],
  ["tesla~", "tesla~2"],
  ["tesla^3", "tesla"],
  ['"ford gm"~3^2', '"ford gm"~3'],
  ["url:a\\/b", "url:a\\/b"],
  ["title:\\AND", "title:\\AND"],
  ["a\\-b \\-c", "a-b OR \\-c"],
  ["publish_time:[2025-01-01T00:00:00 TO *}", "publish_time:[2025-01-01T00\\:00\\:00 TO *}"],
  ['url:["a b" TO "*"]', 'url:["a b" TO "*"]'],
  ["ford AND the", "+ford"]
]

describe("parse", () => {
  for (const [rule, clauses] of precedence) {
    it(`parses ${rule} to ${clauses}`, () => assert.strictEqual(occurrences(rule), clauses))
  }

  for (const [rule, text] of canonical) {
    it(`prints ${rule} as ${text}`, () => {
      const { ast } = parse(rule)
      assert.strictEqual(ast && print(ast), text)
    })
  }

  it("keeps the spans of fields, values and clauses", () => {
    const rule = 'tesla AND -title:"model y"~2'
    const clause = parse(rule).ast?.clauses[1]
    assert.deepStrictEqual(clause?.span, { start: 10, end: 28 })
    assert.deepStrictEqual(clause?.spelling.conjunctionSpan, { start: 6, end: 9 })
    const query = clause?.query
    assert.strictEqual(query?._tag, "Phrase")
    assert.deepStrictEqual(query?.span, { start: 11, end: 28 })
    assert.deepStrictEqual(query?.field?.span, { start: 11, end: 16 })
    assert.deepStrictEqual(query?._tag === "Phrase" ? query.value : undefined, { start: 17, end: 26 })
  })

  it("ends a pattern at the first unescaped slash", () => {
    const query = parse("url:/a\\/b/ AND url:/c/").ast?.clauses[0]?.query
    assert.strictEqual(query?._tag === "Regex" ? query.pattern : undefined, "a\\/b")
  })

  it("reads AND, OR and NOT as words if escaped or part of a longer word", () => {
    assert.strictEqual(occurrences("ANDROID ORACLE NOTE"), "ANDROID ORACLE NOTE")
    assert.strictEqual(occurrences("\\AND \\OR"), "")
    assert.strictEqual(occurrences("title:(\\AND \\OR)"), "title:(\\AND \\OR)")
  })

  it("does not check fields and values", () => {
    assert.isDefined(parse("nosuchfield:x").ast)
    assert.isUndefined(parse("nosuchfield:").ast)
  })
})
