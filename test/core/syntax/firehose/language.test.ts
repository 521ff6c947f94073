/** Tests of Firehose's language by cases: accepted rules, and the issue, span and fix of rejected ones. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { fields } from "../../../../core/syntax/firehose/fields.ts"
import { check } from "../../../../core/syntax/firehose/language.ts"
import { operators } from "../../../../core/syntax/firehose/operators.ts"
import { hasErrors } from "../../../../core/syntax/issues/issue.ts"

/** Valid rules from Firehose's documentation and its users. The one with a dashboard filter is rejected below. */
const published = [
  "tesla",
  '"site explorer"',
  'tesla OR "electric vehicle"',
  "tesla AND recent:24h",
  'title:tesla AND page_category:"/News" AND recent:24h',
  '"AI agent" AND language:"en" AND recent:7d',
  'title:tesla OR added:"electric vehicle"',
  'title:ahrefs AND added:seo AND page_type:"/Article"',
  'removed:"old feature"',
  "added_anchor:buy",
  "removed_anchor:buy",
  "domain:techcrunch.com AND title:IPO",
  "domain:techcrunch.com AND NOT url:*\\/tag\\/*",
  'url:"https://example.com/page"',
  "url:https\\:\\/\\/example.com\\/blog\\/*",
  "url:/.*\\/page\\/[0-9]+.*/",
  "url:/.*\\.(pdf|xml|json)/",
  'title:tesla AND language:"en" AND NOT url:/.*\\/page\\/[0-9]+.*/ AND NOT url:*\\/category\\/*',
  "publish_time:[2025-01-01T00\\:00\\:00 TO 2025-12-31T23\\:59\\:59]",
  'title:("competitor A" OR "competitor B") AND page_type:"/Article"',
  'page_category:("/News/Technology_News" OR "/Finance/Investing") AND recent:7d',
  '(title:"Acme" OR domain:acme.com) AND language:en',
  'domain:sec.gov AND title:"10-K"',
  "dr:[50 TO 100] AND tesla"
]

interface Case {
  readonly rule: string
  readonly code: string
  /** The text at the span of the issue. */
  readonly at: string
  readonly severity: "error" | "warning"
  readonly fix?: string
}

const cases: ReadonlyArray<Case> = [
  // Operators
  { rule: "ford AND gm OR kia", code: "mixed-operators", at: "kia", severity: "warning", fix: "(ford AND gm) OR kia" },
  { rule: "ford OR gm AND kia", code: "mixed-operators", at: "ford", severity: "warning", fix: "ford OR (gm AND kia)" },
  {
    rule: "ford AND gm OR kia AND vw",
    code: "mixed-operators",
    at: "OR",
    severity: "warning",
    fix: "(ford AND gm) OR (kia AND vw)"
  },
  {
    rule: 'tesla OR "electric vehicle" AND recent:24h',
    code: "mixed-operators",
    at: "tesla",
    severity: "warning",
    fix: '(tesla OR "electric vehicle") AND recent:24h'
  },
  { rule: "tesla recall", code: "implicit-or", at: "tesla recall", severity: "warning", fix: "tesla AND recall" },
  {
    rule: "title:(tesla recall)",
    code: "implicit-or",
    at: "tesla recall",
    severity: "warning",
    fix: "title:(tesla AND recall)"
  },
  { rule: "ford OR gm kia", code: "implicit-or", at: "gm kia", severity: "warning", fix: "ford OR gm OR kia" },
  { rule: "tesla and recall", code: "lowercase-operator", at: "and", severity: "warning", fix: "tesla AND recall" },
  { rule: "tesla not ford", code: "lowercase-operator", at: "not", severity: "warning", fix: "tesla NOT ford" },
  { rule: "NOT tesla", code: "never-matches", at: "NOT tesla", severity: "error" },
  {
    rule: "tesla AND (NOT ford)",
    code: "never-matches",
    at: "NOT ford",
    severity: "error",
    fix: "tesla AND (*:* AND NOT ford)"
  },
  { rule: "NOT tesla AND recent:24h", code: "never-matches", at: "NOT tesla AND recent:24h", severity: "error" },
  {
    rule: "tesla OR NOT ford",
    code: "or-not",
    at: "NOT ford",
    severity: "warning",
    fix: "tesla OR (*:* AND NOT ford)"
  },
  { rule: "+tesla OR ford", code: "optional-clause", at: "ford", severity: "warning" },
  { rule: "tesla - ford", code: "stray-operator", at: "-", severity: "warning", fix: "tesla -ford" },
  { rule: "tesla&&ford", code: "glued-operator", at: "tesla&&ford", severity: "warning", fix: "tesla && ford" },
  { rule: "AND tesla", code: "leading-operator", at: "AND", severity: "error", fix: "tesla" },
  { rule: "tesla AND", code: "dangling-operator", at: "AND", severity: "error", fix: "tesla" },
  { rule: "tesla AND NOT", code: "dangling-operator", at: "AND NOT", severity: "error", fix: "tesla" },
  { rule: "tesla AND OR ford", code: "doubled-operator", at: "OR", severity: "error", fix: "tesla AND ford" },
  { rule: "tesla AND NOT -ford", code: "doubled-modifier", at: "-", severity: "error", fix: "tesla AND NOT ford" },
  { rule: "ford AND title:-x", code: "misplaced-modifier", at: "-", severity: "error", fix: "ford AND -title:x" },
  { rule: "tesla OR tesla", code: "duplicate-clause", at: "tesla", severity: "warning", fix: "tesla" },
  { rule: "ford AND NOT ford", code: "contradiction", at: "ford", severity: "error", fix: "ford" },
  { rule: "f\\ord AND NOT ford", code: "contradiction", at: "ford", severity: "error", fix: "f\\ord" },
  { rule: "*:*", code: "matches-everything", at: "*:*", severity: "warning" },
  // Brackets, quotes and backslashes
  { rule: "(tesla", code: "unclosed-group", at: "(", severity: "error", fix: "(tesla)" },
  { rule: "tesla)", code: "extra-parenthesis", at: ")", severity: "error", fix: "tesla" },
  { rule: "tesla AND ()", code: "empty-group", at: "()", severity: "error" },
  { rule: '"tesla', code: "unclosed-quote", at: '"', severity: "error", fix: '"tesla"' },
  { rule: '"" AND tesla', code: "empty-phrase", at: '""', severity: "error" },
  { rule: "url:/.*pdf AND x", code: "unclosed-regex", at: "/", severity: "error", fix: "url:/.*pdf/ AND x" },
  { rule: "dr:[50 TO 100", code: "unclosed-range", at: "[", severity: "error", fix: "dr:[50 TO 100]" },
  { rule: "dr:[50, 100]", code: "bad-range", at: "[50, 100]", severity: "error", fix: "dr:[50 TO 100]" },
  {
    rule: "'electric vehicle'",
    code: "single-quotes",
    at: "'electric vehicle'",
    severity: "error",
    fix: '"electric vehicle"'
  },
  {
    rule: "“electric vehicle”",
    code: "curly-quotes",
    at: "“electric vehicle”",
    severity: "error",
    fix: '"electric vehicle"'
  },
  { rule: 'title:\\"foo bar\\"', code: "escaped-quotes", at: '\\"foo', severity: "error", fix: 'title:"foo bar"' },
  { rule: "tesla\\", code: "dangling-escape", at: "\\", severity: "error", fix: "tesla" },
  { rule: "\\u12 AND x", code: "bad-escape", at: "\\u", severity: "error", fix: "u12 AND x" },
  { rule: "tesla ]", code: "unexpected-character", at: "]", severity: "error", fix: "tesla " },
  { rule: "title:", code: "missing-value", at: "title:", severity: "error" },
  { rule: "tesla AND\u00a0ford", code: "unusual-space", at: "AND\u00a0ford", severity: "error", fix: "tesla AND ford" },
  {
    rule: "（地震 OR 台风） AND x",
    code: "full-width-parentheses",
    at: "（地震",
    severity: "warning",
    fix: "(地震 OR 台风) AND x"
  },
  { rule: "tes\u200bla", code: "invisible-character", at: "\u200b", severity: "warning", fix: "tesla" },
  { rule: "\u202etesla \udc00", code: "lone-surrogate", at: "\udc00", severity: "error", fix: "\u202etesla " },
  { rule: "tesla \ud800", code: "lone-surrogate", at: "\ud800", severity: "error", fix: "tesla " },
  // Addresses and slashes
  {
    rule: "url:https://example.com/page",
    code: "unescaped-special",
    at: "https://example.com/page",
    severity: "error",
    fix: 'url:"https://example.com/page"'
  },
  { rule: "url:*/tag/*", code: "unescaped-special", at: "*/tag/*", severity: "error", fix: "url:*\\/tag\\/*" },
  {
    rule: "url:*\\\\/abs\\\\/*",
    code: "unescaped-special",
    at: "*\\\\/abs\\\\/*",
    severity: "error",
    fix: "url:*\\/abs\\/*"
  },
  {
    rule: "page_type:/Article",
    code: "unescaped-special",
    at: "/Article",
    severity: "error",
    fix: 'page_type:"/Article"'
  },
  {
    rule: "domain:https://www.example.com/",
    code: "unescaped-special",
    at: "https://www.example.com/",
    severity: "error",
    fix: "domain:example.com"
  },
  {
    rule: "domain:example.com/blog",
    code: "unescaped-special",
    at: "example.com/blog",
    severity: "error",
    fix: "url:*example.com\\/blog*"
  },
  { rule: "24/7 AND tesla", code: "unescaped-special", at: "24/7", severity: "error", fix: '"24/7" AND tesla' },
  {
    rule: "http://example.com/page",
    code: "bare-url",
    at: "http://example.com/page",
    severity: "error",
    fix: 'url:"http://example.com/page"'
  },
  {
    rule: "url:example.com",
    code: "url-incomplete",
    at: "example.com",
    severity: "warning",
    fix: "domain:example.com"
  },
  { rule: "url:/blog/", code: "regex-anchored", at: "/blog/", severity: "warning", fix: "url:/.*blog.*/" },
  { rule: 'url:"*blog*"', code: "quoted-wildcard", at: '"*blog*"', severity: "warning", fix: "url:*blog*" },
  // Fields
  {
    rule: 'page_types:"/Article"',
    code: "unknown-field",
    at: "page_types",
    severity: "error",
    fix: 'page_type:"/Article"'
  },
  { rule: 'category:"/News"', code: "unknown-field", at: "category", severity: "error", fix: 'page_category:"/News"' },
  { rule: "lang:en", code: "unknown-field", at: "lang", severity: "error", fix: "language:en" },
  { rule: "site:example.com", code: "unknown-field", at: "site", severity: "error", fix: "domain:example.com" },
  { rule: "titel:tesla", code: "unknown-field", at: "titel", severity: "error", fix: "title:tesla" },
  { rule: "12:30", code: "unknown-field", at: "12", severity: "error", fix: '"12:30"' },
  { rule: "tesla AND quality:false", code: "rule-option", at: "quality", severity: "error", fix: "tesla" },
  { rule: "nsfw:true AND tesla", code: "rule-option", at: "nsfw", severity: "error", fix: "tesla" },
  { rule: 'title:tesla AND language:"en" AND $no-junk', code: "dashboard-filter", at: "$no-junk", severity: "error" },
  { rule: "title:[a TO b]", code: "wrong-form", at: "[a TO b]", severity: "error" },
  // Keyword values
  {
    rule: "domain:TechCrunch.com",
    code: "keyword-case",
    at: "TechCrunch.com",
    severity: "warning",
    fix: "domain:techcrunch.com"
  },
  {
    rule: "domain:www.example.com",
    code: "domain-www",
    at: "www.example.com",
    severity: "warning",
    fix: "domain:example.com"
  },
  { rule: "domain:google", code: "domain-not-host", at: "google", severity: "warning", fix: "domain:google.*" },
  {
    rule: 'page_category:"/news"',
    code: "keyword-case",
    at: '"/news"',
    severity: "warning",
    fix: 'page_category:"/News"'
  },
  { rule: "page_category:News", code: "unknown-label", at: "News", severity: "warning", fix: 'page_category:"/News"' },
  {
    rule: 'page_type:"/Artcle"',
    code: "unknown-label",
    at: '"/Artcle"',
    severity: "warning",
    fix: 'page_type:"/Article"'
  },
  {
    rule: 'page_type:"/News"',
    code: "unknown-label",
    at: '"/News"',
    severity: "warning",
    fix: 'page_category:"/News"'
  },
  { rule: "language:eng", code: "unknown-language", at: "eng", severity: "warning", fix: "language:en" },
  {
    rule: "storm AND NOT language:zh",
    code: "unknown-language",
    at: "zh",
    severity: "warning",
    fix: "storm AND NOT (language:zh-cn OR language:zh-tw)"
  },
  {
    rule: "language:(Chinese OR en)",
    code: "unknown-language",
    at: "Chinese",
    severity: "warning",
    fix: "language:((zh-cn OR zh-tw) OR en)"
  },
  { rule: "language:zh-hk", code: "unknown-language", at: "zh-hk", severity: "warning", fix: "language:zh-tw" },
  { rule: "language:en-us", code: "unknown-language", at: "en-us", severity: "warning", fix: "language:en" },
  { rule: "language:EN", code: "keyword-case", at: "EN", severity: "warning", fix: "language:en" },
  { rule: "language:(en fr)", code: "keyword-list", at: "en fr", severity: "error", fix: "language:(en OR fr)" },
  // Numbers and times
  { rule: "dr:150", code: "dr-out-of-range", at: "150", severity: "error" },
  { rule: "dr:[50 TO 200]", code: "dr-out-of-range", at: "200", severity: "error", fix: "dr:[50 TO 100]" },
  { rule: "dr:[100 TO 50]", code: "reversed-range", at: "[100 TO 50]", severity: "error", fix: "dr:[50 TO 100]" },
  { rule: "dr:{5 TO 5}", code: "empty-range", at: "{5 TO 5}", severity: "error", fix: "dr:[5 TO 5]" },
  { rule: "dr:>=50", code: "comparison", at: ">=50", severity: "error", fix: "dr:[50 TO *]" },
  { rule: "dr:high", code: "not-a-number", at: "high", severity: "error" },
  {
    rule: "publish_time:2025-01-01T00:00:00",
    code: "unescaped-special",
    at: "2025-01-01T00:00:00",
    severity: "error",
    fix: 'publish_time:"2025-01-01T00:00:00"'
  },
  {
    rule: "publish_time:2025-06-15",
    code: "publish-time-exact",
    at: "2025-06-15",
    severity: "warning",
    fix: "publish_time:[2025-06-15T00\\:00\\:00 TO 2025-06-15T23\\:59\\:59]"
  },
  {
    rule: "publish_time:[2025-01-01 TO 2025-12-31]",
    code: "publish-time-end",
    at: "2025-12-31",
    severity: "warning",
    fix: "publish_time:[2025-01-01 TO 2025-12-31T23\\:59\\:59]"
  },
  { rule: "publish_time:[yesterday TO *]", code: "publish-time-format", at: "yesterday", severity: "error" },
  { rule: "publish_time:2025-02-30", code: "publish-time-format", at: "2025-02-30", severity: "error" },
  // Age
  { rule: "recent:24h", code: "recent-alone", at: "recent:24h", severity: "error" },
  {
    rule: "tesla OR recent:24h",
    code: "recent-placement",
    at: "recent:24h",
    severity: "error",
    fix: "tesla AND recent:24h"
  },
  {
    rule: "tesla recent:24h",
    code: "recent-placement",
    at: "recent:24h",
    severity: "error",
    fix: "tesla AND recent:24h"
  },
  {
    rule: "ford OR gm OR recent:1d",
    code: "recent-placement",
    at: "recent:1d",
    severity: "error",
    fix: "(ford OR gm) AND recent:1d"
  },
  { rule: "tesla AND NOT recent:24h", code: "recent-placement", at: "recent:24h", severity: "error" },
  { rule: "(tesla AND recent:24h)", code: "recent-placement", at: "recent:24h", severity: "error" },
  {
    rule: "tesla AND recent:24h AND recent:7d",
    code: "recent-twice",
    at: "recent:7d",
    severity: "error",
    fix: "tesla AND recent:24h"
  },
  { rule: "tesla AND recent:1w", code: "recent-value", at: "1w", severity: "error", fix: "tesla AND recent:7d" },
  { rule: "tesla AND recent:24", code: "recent-value", at: "24", severity: "error" },
  // Text analysis
  { rule: "the AND tesla", code: "stop-words-only", at: "the", severity: "warning", fix: "tesla" },
  { rule: '"to be or not to be"', code: "never-matches", at: '"to be or not to be"', severity: "error" },
  { rule: "wi-fi AND router", code: "split-term", at: "wi-fi", severity: "warning", fix: '"wi-fi" AND router' },
  { rule: "C++", code: "punctuation-ignored", at: "C++", severity: "warning" },
  { rule: "title:fo-o*", code: "pattern-across-words", at: "fo-o*", severity: "warning" },
  // Suffixes
  { rule: "tesla~3", code: "fuzzy-distance", at: "~3", severity: "warning", fix: "tesla~2" },
  { rule: "tesla~abc", code: "fuzzy-distance", at: "~abc", severity: "error", fix: "tesla~1" },
  { rule: '"tesla"~2', code: "ignored-suffix", at: "~2", severity: "warning", fix: '"tesla"' },
  { rule: '"tesla ford"~99999', code: "phrase-slop", at: "~99999", severity: "error", fix: '"tesla ford"~1000' },
  { rule: "(tesla OR ford)~2", code: "misplaced-tilde", at: "~2", severity: "error", fix: "(tesla OR ford)" },
  { rule: "tesla^2", code: "boost-ignored", at: "^2", severity: "warning", fix: "tesla" },
  { rule: "tesla^x", code: "bad-boost", at: "^", severity: "error", fix: "teslax" },
  // Patterns
  { rule: "url:/.*\\d+/", code: "regex-shorthand", at: "\\d", severity: "error", fix: "url:/.*[0-9]+/" },
  { rule: "url:/.*\\.pdf$/", code: "regex-anchor", at: "$", severity: "warning", fix: "url:/.*\\.pdf/" },
  { rule: "url:/.*a=1&b=2/", code: "regex-special", at: "&", severity: "warning", fix: "url:/.*a=1\\&b=2/" },
  { rule: "url:/h(?:a|b)/", code: "regex-group", at: "(?:", severity: "error", fix: "url:/h(a|b)/" },
  { rule: "url:/*.pdf/", code: "regex-nothing-to-repeat", at: "*", severity: "error", fix: "url:/.*.pdf/" },
  { rule: "url:/(h{999}){999}/", code: "regex-too-large", at: "(h{999}){999}", severity: "error" }
]

describe("check", () => {
  for (const rule of published) {
    it(`accepts ${rule}`, () => {
      const { issues, rule: accepted } = check(rule)
      assert.deepStrictEqual(issues, [])
      assert.isDefined(accepted)
    })
  }

  for (const [rule, excess] of [
    ["url:/h~((a|b)*a(a|b){30})/", /need more than 40000 steps to prepare, and at most 40000 are allowed/],
    [Array.from({ length: 4 }, (_, i) => `url:/h[ab${i}]*a[ab]{400}/`).join(" OR "), /, and at most 1500 are allowed/]
  ] as const) {
    it(`names the limit that the patterns of ${rule.slice(0, 30)} exceed`, () => {
      assert.match(check(rule).issues.find(({ code }) => code === "regex-too-large")?.message ?? "", excess)
    })
  }

  for (const { rule, code, at, severity, fix } of cases) {
    it(`reports ${code} for ${JSON.stringify(rule)}`, () => {
      const { issues, rule: accepted } = check(rule)
      const issue = issues.find((each) => each.code === code)
      assert.isDefined(issue, JSON.stringify(issues))
      assert.strictEqual(rule.slice(issue?.span.start, issue?.span.end), at)
      assert.strictEqual(issue?.severity, severity)
      assert.strictEqual(issue?.fix?.text, fix)
      assert.strictEqual(accepted === undefined, hasErrors(issues))
    })
  }

  it("reports several issues at once, in text order", () => {
    const { issues } = check('page_types:"/Article" AND dr:150 AND tesla~abc')
    assert.deepStrictEqual(
      issues.map((issue) => issue.code),
      ["unknown-field", "dr-out-of-range", "fuzzy-distance"]
    )
  })

  it("rejects a text longer than maxLength", () => {
    assert.isDefined(check("tesla", { maxLength: 5 }).rule)
    assert.strictEqual(check("tesla", { maxLength: 4 }).issues[0]?.code, "too-long")
    assert.deepStrictEqual(check("tesla", { maxLength: 4 }).issues[0]?.span, { start: 4, end: 5 })
    assert.strictEqual(
      check("tesla", { maxLength: 4 }).issues[0]?.message,
      "A rule has at most 4 characters, this one has 5: shorten it or split it into several rules"
    )
    assert.deepStrictEqual(check("tesla", { maxLength: 4 }).issues[0]?.expected, ["at most 4 characters"])
  })

  it("asks whether the nearest field is meant", () => {
    assert.strictEqual(check("titel:tesla").issues[0]?.message, 'There is no field "titel": did you mean "title"?')
  })

  it.each([
    ["2,000 equal characters", "丅".repeat(2000), false],
    ["2,000 different characters", han(2000), false],
    ["as many as a phrase can have", han(187), true],
    ["one more", han(188), false],
    ["a rule of nearly the maximum length", "wi-fi".padEnd(8191), false],
    [
      "fuzzy words after it",
      `${han(100)}${Array.from({ length: 60 }, (_, index) => ` OR tesla${index}~1`).join("")}`,
      false
    ],
    ["an unknown field", `标题:${han(2000)}`, false],
    ["an unknown field with a short value", `标题:${han(100)}`, true],
    ["an unescaped slash", `2026/11/18${han(2000)}`, false],
    ["an unescaped slash in a short text", `2026/11/18${han(100)}`, true]
  ])("advises to quote a text only if the rule is then valid: %s", (_, rule, isAllowed) => {
    const [issue] = check(rule).issues
    assert.include(["split-term", "unknown-field", "unescaped-special"], issue?.code)
    assert.strictEqual(issue?.fix !== undefined, isAllowed)
    assert.strictEqual(/: quote it|, put it in|: put the value in/.test(issue?.message ?? ""), isAllowed)
    if (isAllowed) assert.isDefined(check(issue?.fix?.text ?? "").rule)
    else assert.isFalse(issue?.expected?.some((text) => text.startsWith('"')) ?? false)
  })

  it("shows that a list of words is cut", () => {
    const listOf = (rule: string) => / the words (.*), and any/.exec(check(rule).issues[0]?.message ?? "")?.[1]
    assert.strictEqual(listOf("一丁丂七"), '"一", "丁", "丂", "七"')
    assert.strictEqual(listOf("一丁丂七丄"), '"一", "丁", "丂", "七", …')
  })

  it("accepts at most 1,024 clauses", () => {
    const rule = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(" OR ")
    assert.isDefined(check(rule(1024), { maxLength: 100_000 }).rule)
    const [issue] = check(`(${rule(1500)}) AND title:"a b" AND dr:[1 TO 9]`, { maxLength: 100_000 }).issues
    assert.strictEqual(issue?.code, "too-many-clauses")
    assert.strictEqual(
      issue?.message,
      "A rule has at most 1024 clauses, this one has 1502: split it into several rules"
    )
  })

  it("accepts parentheses nested at most 50 deep", () => {
    const rule = (depth: number) => `${"(".repeat(depth)}tesla${")".repeat(depth)}`
    assert.isDefined(check(rule(50)).rule)
    const [issue] = check(rule(70)).issues
    assert.strictEqual(issue?.code, "too-deep")
    assert.strictEqual(
      issue?.message,
      "Parentheses are nested 70 levels deep, at most 50 are allowed: remove those that are not needed, or split the rule into several"
    )
  })

  it("reports at most 20 issues, and prefers errors over warnings", () => {
    const { issues, rule } = check(`${"tesla^2 OR ".repeat(30)}dr:150`)
    assert.isAtMost(issues.length, 20)
    assert.isTrue(hasErrors(issues))
    assert.isUndefined(rule)
  })

  it("shows the first errors of the text, and says that their fixes are not verified", () => {
    const rule = Array.from({ length: 20 }, (_, n) => `titel:a${n} AND AND`).join(" ")
    const { issues, hasUnverifiedFixes } = check(rule)
    const last = Math.max(...issues.map(({ span }) => span.start))
    assert.isBelow(last, rule.indexOf("titel:a10"))
    assert.include(issues[0]?.message, 'did you mean "title"?')
    assert.isTrue(issues.every(({ fix }) => fix === undefined))
    assert.isTrue(hasUnverifiedFixes)
  })

  it("verifies the fixes of warnings that are shown, although others are not", () => {
    const words = Array.from({ length: 18 }, (_, n) => `a${n}-b${n}`).join(" OR ")
    const { issues, omitted, hasUnverifiedFixes } = check(`titel:x1 OR titel:x2 OR titel:x3 OR titel:x4 OR ${words}`)
    assert.deepStrictEqual(omitted, { errors: 0, warnings: 2 })
    assert.isTrue(issues.every(({ fix }) => fix !== undefined))
    assert.isUndefined(hasUnverifiedFixes)
  })

  it("counts the issues that are left out", () => {
    const omittedOf = (text: string) => check(text).omitted
    assert.deepStrictEqual(omittedOf(")".repeat(100)), { errors: 80, warnings: 0 })
    // The warnings about repeated clauses are consequences of the errors.
    assert.deepStrictEqual(omittedOf("dr:150 ".repeat(30)), { errors: 10, warnings: 0 })
    assert.isUndefined(omittedOf("dr:150 ".repeat(20)))
    assert.strictEqual(omittedOf(`${"tesla^2 OR ".repeat(30)}dr:150`)?.warnings, 30 + 29 - 19)
  })
})

describe("corpus", () => {
  const lines = readFileSync(new URL("../../../../fixtures/rules-firehose.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const tab = line.indexOf("\t")
      return { code: line.slice(0, tab), rule: line.slice(tab + 1) }
    })

  for (const { code, rule } of lines) {
    it(`${code}: ${rule}`, () => {
      const codes = check(rule).issues.map((issue) => issue.code)
      if (code === "ok") {
        assert.deepStrictEqual(codes, [])
      } else {
        assert.include(codes, code)
      }
    })
  }

  it("every fix removes its issue and adds no error", () => {
    let count = 0
    for (const rule of [...lines.map((line) => line.rule), ...cases.map((each) => each.rule)]) {
      const before = check(rule)
      const errorsBefore = new Set(before.issues.filter((each) => each.severity === "error").map((each) => each.code))
      for (const { code, fix } of before.issues) {
        if (fix === undefined) {
          continue
        }
        count++
        const after = check(fix.text).issues
        const times = (issues: typeof after) => issues.filter((each) => each.code === code).length
        assert.isBelow(times(after), times(before.issues), `${code}: ${rule} -> ${fix.text}`)
        for (const each of after) {
          assert.isTrue(
            each.severity === "warning" || errorsBefore.has(each.code),
            `${rule} -> ${fix.text}: ${each.code}`
          )
        }
      }
    }
    assert.isAbove(count, 150)
  })

  it("messages begin with a capital or a quoted value and have no final period", () => {
    for (const { rule } of lines) {
      for (const { message, fix } of check(rule).issues) {
        assert.match(message, /^[A-Z"]/)
        assert.notMatch(message, /[.]$/)
        assert.match(fix?.message ?? "Fix", /^[A-Z]/)
      }
    }
  })
})

describe("tables", () => {
  for (const field of fields) {
    it(`the example of ${field.name} has no issues and uses the field`, () => {
      assert.deepStrictEqual(check(field.example).issues, [])
      assert.include(field.example, `${field.name}:`)
    })
  }

  for (const operator of operators) {
    it(`the example of ${operator.name} is accepted`, () => {
      assert.isDefined(check(operator.example).rule)
    })
  }
})

// ---- helpers ----

/** Different Chinese characters. Each is a word. */
function han(count: number): string {
  return String.fromCodePoint(...Array.from({ length: count }, (_, index) => 0x4e00 + index))
}
