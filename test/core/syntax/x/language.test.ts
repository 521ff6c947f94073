import { assert, describe, it } from "@effect/vitest"
import { check, parse, position, print } from "../../../../core/syntax/x/language.ts"
import { limits, operatorNamed } from "../../../../core/syntax/x/operators.ts"
import { MAX_ISSUES } from "../../../../core/text/shownIssues.ts"

describe("check", () => {
  // X documents these errors with their positions. For the dollar value, single quotes, the open parenthesis and the
  // commas it does not document the whole rule, so the rest of the rule is invented.
  it.each([
    { rule: "-follow", code: "only-negations", at: [1] },
    { rule: "--b", code: "only-negations", at: [1] },
    { rule: "you", code: "stop-words-only", at: [1] },
    { rule: "a", code: "stop-words-only", at: [1] },
    { rule: "fish AND bird", code: "ambiguous-and", at: [6] },
    { rule: "has:links", code: "needs-conjunction", at: [1] },
    { rule: "is:retweet lang:en", code: "needs-conjunction", at: [1] },
    { rule: "[(cat OR dog)]", code: "square-brackets", at: [1] },
    { rule: "@gnip OR @jack contains:$twtr", code: "value-start", at: [25] },
    { rule: "cat OR (from:nasa 'blue moon')", code: "single-quotes", at: [19] },
    { rule: "cat (dog OR parrot ", code: "unclosed-group", at: [20] },
    { rule: "from:contains:heart", code: "unquoted-colon", at: [14] },
    { rule: "bounding_box:[-71.199636,42.1,-71.1,42.2]", code: "geo-commas", at: [16] },
    { rule: 'Pizza OR 🍕 OR "🍕" sample:100', code: "sample-with-or", at: [21] },
    { rule: "h:foo", code: "unknown-operator", at: [1] }
  ])("reports $code in $rule at the position that X reports", isRefusedAt)

  // X documents these errors without a position, or with a position for one occurrence only.
  it.each([
    { rule: "fish AND bird and cat", code: "ambiguous-and", at: [6, 15] },
    { rule: "has:links OR is:retweet", code: "needs-conjunction", at: [1, 14] },
    { rule: "cat 'blue moon' 'red moon'", code: "single-quotes", at: [5, 17] },
    { rule: "(cat OR dog) bird)", code: "extra-parenthesis", at: [18] },
    { rule: "（地震 OR 台风） lang:zh", code: "full-width-parentheses", at: [1] },
    { rule: "from:", code: "missing-value", at: [1] },
    { rule: "cat has:polls", code: "unavailable-operator", at: [5] },
    { rule: "cat min_likes:10", code: "unavailable-operator", at: [5] }
  ])("reports $code in $rule at our own position", isRefusedAt)

  it.each([
    { rule: "fish AND bird", fixed: "fish bird" },
    { rule: "cat AND", fixed: 'cat "AND"' },
    { rule: "cat or dog", fixed: "cat OR dog" },
    { rule: "cat NOT dog", fixed: "cat -dog" },
    { rule: "the", fixed: '"the"' },
    { rule: "[cat OR dog]", fixed: "(cat OR dog)" },
    { rule: "cat [dog OR [bird OR cow]] x", fixed: "cat (dog OR [bird OR cow]) x" },
    { rule: "（地震 OR 台风） lang:zh", fixed: "(地震 OR 台风) lang:zh" },
    { rule: "'blue moon'", fixed: '"blue moon"' },
    { rule: "“blue moon”", fixed: '"blue moon"' },
    { rule: 'cat "blue moon', fixed: 'cat "blue moon"' },
    { rule: "cat dog)", fixed: "cat dog" },
    { rule: "(cat OR (dog bird", fixed: "(cat OR (dog bird))" },
    { rule: "cat () dog", fixed: "cat dog" },
    { rule: "cat OR OR dog", fixed: "cat OR dog" },
    { rule: "cat OR", fixed: "cat" },
    { rule: "cat & dog", fixed: "cat dog" },
    { rule: "cat||dog cow || bird", fixed: "cat||dog cow OR bird" },
    { rule: "!cat dog", fixed: "-cat dog" },
    { rule: "+cat dog", fixed: "cat dog" },
    { rule: "cat –dog", fixed: "cat -dog" },
    { rule: "cat - dog", fixed: "cat -dog" },
    { rule: "cat --dog", fixed: "cat -dog" },
    { rule: "cat -(dog OR bird)", fixed: "cat -dog -bird" },
    { rule: "form:nasa", fixed: "from:nasa" },
    { rule: "hashtag:foo", fixed: "#foo" },
    { rule: "mention:nasa", fixed: "@nasa" },
    { rule: 'author:"nasa"', fixed: "from:nasa" },
    { rule: "cat filter:links", fixed: "cat has:links" },
    { rule: "cat -filter:replies", fixed: "cat -is:reply" },
    { rule: "cat exclude:retweets", fixed: "cat -is:retweet" },
    { rule: "cat since:2024-01-01 dog", fixed: "cat dog" },
    { rule: "from:@nasa", fixed: "from:nasa" },
    { rule: "from: nasa", fixed: "from:nasa" },
    { rule: "from : nasa", fixed: "from:nasa" },
    { rule: "from:(nasa OR esa) moon", fixed: "(from:nasa OR from:esa) moon" },
    { rule: "from:nasa,esa moon", fixed: "(from:nasa OR from:esa) moon" },
    { rule: "moon -from:nasa,esa", fixed: "moon -from:nasa -from:esa" },
    { rule: "url:https://example.com/a?b=c", fixed: 'url:"https://example.com/a?b=c"' },
    { rule: "https://example.com/a", fixed: 'url:"https://example.com/a"' },
    { rule: "12:30", fixed: '"12:30"' },
    { rule: ".NET", fixed: '".NET"' },
    { rule: "☕ morning", fixed: '"☕" morning' },
    { rule: "coca-cola", fixed: '"coca-cola"' },
    { rule: "cat\u00a0dog", fixed: "cat dog" },
    { rule: "ca\u200bt", fixed: "cat" },
    { rule: "cat\u0000", fixed: "cat" },
    { rule: '"a b"~9', fixed: '"a b"~6' },
    { rule: '"a b" ~3', fixed: '"a b"~3' },
    { rule: "cat is:nullcast", fixed: "cat -is:nullcast" },
    { rule: "cat OR dog sample:10", fixed: "(cat OR dog) sample:10" },
    { rule: "cat sample:10 OR dog", fixed: "(cat OR dog) sample:10" },
    { rule: "(cat) OR (dog sample:10)", fixed: "((cat) OR (dog)) sample:10" },
    { rule: "cat lang:eng", fixed: "cat lang:en" },
    { rule: "cat lang:jp", fixed: "cat lang:ja" },
    { rule: "cat lang:en lang:fr", fixed: "cat (lang:en OR lang:fr)" },
    { rule: "cat is:retweets", fixed: "cat is:retweet" },
    { rule: "followers_count:10000..1000", fixed: "followers_count:1000..10000" },
    { rule: "followers_count:5k", fixed: "followers_count:5000" },
    { rule: "followers_count:10-20", fixed: "followers_count:10..20" },
    { rule: "point_radius:[2.35,48.86,10km]", fixed: "point_radius:[2.35 48.86 10km]" },
    { rule: "point_radius:[48.86 174.1 10km]", fixed: "point_radius:[174.1 48.86 10km]" },
    { rule: "bounding_box:[39.96 -105.3 40.09 -105.17]", fixed: "bounding_box:[-105.3 39.96 -105.17 40.09]" },
    { rule: "cat dog cat", fixed: "cat dog" },
    { rule: "(cat)(dog)", fixed: "(cat) (dog)" },
    { rule: "cat place_country:UK", fixed: "cat place_country:GB" }
  ])("fixes $rule to $fixed", ({ rule, fixed }) => {
    const fixes = check(rule).issues.map(({ fix }) => fix?.text)
    assert.include(fixes, fixed)
  })

  it("offers no fix that adds another error", () => {
    const { issues } = check("point_radius:[48.86,174.1,10km]")
    assert.deepStrictEqual(
      issues.map(({ code, fix }) => ({ code, fix })),
      [{ code: "geo-commas", fix: undefined }]
    )
  })

  it("reports several issues in text order", () => {
    const { issues } = check("form:nasa AND 'blue moon' lang:jp (cat")
    assert.deepStrictEqual(
      issues.map(({ code }) => code),
      ["unknown-operator", "ambiguous-and", "single-quotes", "unknown-language", "unclosed-group"]
    )
  })

  it("limits the number of issues and prefers errors", () => {
    const { issues, omitted } = check(`${"a-b ".repeat(40)}lang:xx cat`)
    assert.strictEqual(issues.length, MAX_ISSUES)
    // Two warnings for each "a-b", but one for the first.
    assert.deepStrictEqual(omitted, { errors: 0, warnings: 40 + 39 - (MAX_ISSUES - 1) })
    assert.deepStrictEqual(check(")".repeat(100)).omitted, { errors: 80, warnings: 0 })
    assert.isUndefined(check(")".repeat(20)).omitted)
    assert.include(
      issues.map(({ code }) => code),
      "unknown-language"
    )
  })

  it("shows the first errors of the text, and says that their fixes are not verified", () => {
    const rule = Array.from({ length: 60 }, (_, n) => `lang:q${n} AND`).join(" ")
    const { issues, omitted, hasUnverifiedFixes } = check(rule)
    assert.deepStrictEqual(
      issues.slice(0, 5).map(({ code }) => code),
      ["needs-conjunction", "unknown-language", "ambiguous-and", "unknown-language", "ambiguous-and"]
    )
    assert.isBelow(Math.max(...issues.map(({ span }) => span.start)), rule.indexOf("lang:q10"))
    assert.deepStrictEqual(omitted, { errors: 121 - MAX_ISSUES, warnings: 1 })
    assert.isTrue(issues.every(({ fix }) => fix === undefined))
    assert.isTrue(hasUnverifiedFixes)
  })

  it("does not speak of unverified fixes where there is none, or where all are verified", () => {
    for (const rule of [`cat ${"lang:q0 ".repeat(80)}`, "cat AND dog lang:eng"]) {
      assert.isUndefined(check(rule).hasUnverifiedFixes, rule)
    }
  })

  it.each([
    { rule: "🚀🚀", codes: [] },
    { rule: "moon🚀", codes: [] },
    { rule: "bio:🚀🚀", codes: [] },
    { rule: "cafe\u0301", codes: [] },
    { rule: "nasa\u200bmoon", codes: ["invisible-character"] },
    { rule: "coca-\u200bcola", codes: ["keyword-punctuation", "invisible-character"] },
    { rule: "coca-cola", codes: ["keyword-punctuation"] },
    { rule: "nasa™moon", codes: ["keyword-punctuation"] },
    { rule: "bio:coca-cola", codes: ["value-punctuation"] }
  ])("warns about punctuation in a word only where there is some: $rule", ({ rule, codes }) => {
    assert.deepStrictEqual(
      check(rule).issues.map(({ code }) => code),
      codes
    )
  })

  it("limits the length in UTF-16 code units, before other checks", () => {
    const exact = `${"🍕".repeat(511)} a`
    assert.strictEqual(exact.length, 1024)
    assert.isDefined(check(exact).rule)
    const { issues, rule } = check(`${exact}(`)
    assert.deepStrictEqual(
      issues.map(({ code, span }) => ({ code, span })),
      [{ code: "too-long", span: { start: 1024, end: 1025 } }]
    )
    assert.isUndefined(rule)
    assert.isDefined(check(`${exact}a`, { maxLength: limits.maxLengthEnterprise }).rule)
  })

  it("limits the depth of parentheses", () => {
    const nested = (depth: number) => `${"(".repeat(depth)}cat${")".repeat(depth)}`
    assert.isDefined(check(nested(limits.maxDepth)).rule)
    assert.deepStrictEqual(
      check(nested(limits.maxDepth + 1)).issues.map(({ code }) => code),
      ["too-deep"]
    )
    const message =
      "Parentheses are nested 130 levels deep, at most 100 are allowed: remove those that are not needed, or split the rule into several"
    assert.strictEqual(check(nested(130)).issues[0]?.message, message)
  })

  it("reports lone surrogates", () => {
    const [issue] = check("cat \ud83c dog").issues
    assert.strictEqual(issue?.code, "half-character")
    assert.deepStrictEqual(issue?.span, { start: 4, end: 5 })
    assert.strictEqual(check('"\ud83c\udf55 \udf55"').issues[0]?.fix?.text, '"🍕 "')
  })

  it("refuses an empty rule", () => {
    for (const rule of ["", "   ", "\n\t"]) {
      assert.deepStrictEqual(
        check(rule).issues.map(({ code }) => code),
        ["empty-rule"]
      )
    }
  })
})

describe("parse", () => {
  it("binds AND tighter than OR and gives every clause its span", () => {
    assert.deepStrictEqual(parse("apple OR iphone ipad").rule?.ast, {
      _tag: "Or",
      clauses: [
        { _tag: "Keyword", text: "apple", span: { start: 0, end: 5 } },
        {
          _tag: "And",
          clauses: [
            { _tag: "Keyword", text: "iphone", span: { start: 9, end: 15 } },
            { _tag: "Keyword", text: "ipad", span: { start: 16, end: 20 } }
          ],
          span: { start: 9, end: 20 }
        }
      ],
      span: { start: 0, end: 20 }
    })
  })

  it("gives operators their canonical name and the span of their value", () => {
    assert.deepStrictEqual(parse('-User_Bio:"a \\"b\\""').rule?.ast, {
      _tag: "Not",
      clause: {
        _tag: "Operator",
        operator: operatorNamed("bio") ?? assert.fail(),
        name: "bio",
        value: 'a "b"',
        span: { start: 1, end: 19 },
        valueSpan: { start: 11, end: 18 }
      },
      span: { start: 0, end: 19 }
    })
  })

  it("checks the syntax only", () => {
    assert.isDefined(parse("-is:retweet").rule)
    assert.isUndefined(parse("(cat").rule)
  })
})

describe("print", () => {
  it.each([
    { rule: "  Cat   Dog  ", canonical: "cat dog" },
    { rule: "(cat) (dog (bird))", canonical: "cat dog bird" },
    { rule: "(cat OR (dog OR bird)) cow", canonical: "(cat OR dog OR bird) cow" },
    { rule: "cat OR (dog bird)", canonical: "cat OR dog bird" },
    { rule: "cat --dog", canonical: "cat -dog" },
    { rule: "cat -(dog)", canonical: "cat -dog" },
    { rule: "cat -(dog OR bird)", canonical: "cat -(dog OR bird)" },
    { rule: '"Blue   Moon"~2', canonical: '"blue moon"~2' },
    { rule: "USER_BIO:Teacher", canonical: "bio:teacher" },
    { rule: 'bio:"teacher"', canonical: "bio:teacher" },
    { rule: "cat lang:ZH-cn", canonical: "cat lang:zh-CN" },
    { rule: "cat has:videos place_country:us", canonical: "cat has:video_link place_country:US" },
    { rule: "followers_count:0010..0020", canonical: "followers_count:10..20" },
    { rule: "point_radius:[ 2.35   48.86 16KM ]", canonical: "point_radius:[2.35 48.86 16km]" },
    { rule: "url:EXAMPLE.com", canonical: 'url:"example.com"' }
  ])("prints $rule as $canonical", ({ rule, canonical }) => {
    const found = check(rule).rule
    assert.isDefined(found)
    assert.strictEqual(print(found.ast), canonical)
  })
})

// ---- helpers ----

function isRefusedAt({ rule, code, at }: { rule: string; code: string; at: Array<number> }): void {
  const checked = check(rule)
  const found = checked.issues.filter((issue) => issue.code === code)
  assert.deepStrictEqual(
    found.map(({ span }) => position(span)),
    at
  )
  assert.isTrue(found.every(({ severity }) => severity === "error"))
  assert.isUndefined(checked.rule)
}
