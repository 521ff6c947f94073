import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { evaluate } from "../../../../core/syntax/expression/evaluate.ts"
import type { EventFields } from "../../../../core/syntax/expression/eventFields.ts"
import type { Field } from "../../../../core/syntax/expression/expression.ts"
import { firehoseEvent, firehoseEventId } from "../../../../core/syntax/firehose/event.ts"
import { check } from "../../../../core/syntax/firehose/language.ts"
import { sized } from "../../../long.ts"

interface Page {
  readonly url?: string
  readonly title?: string
  readonly publish_time?: string
  readonly added?: string | ReadonlyArray<string>
  readonly removed?: string
  readonly page_category?: ReadonlyArray<string>
  readonly page_types?: ReadonlyArray<string>
  readonly language?: string
  readonly domain_rating?: number
}

const now = Date.parse("2026-03-01T12:00:00Z")

const eventOf = (record: unknown): EventFields => Either.getOrThrow(firehoseEvent(record, { now }))

const update = ({ url = "https://example.com/page", added = [], removed, ...rest }: Page): unknown => ({
  tap_id: "t",
  query_ids: ["q"],
  document: {
    url,
    ...rest,
    diff: {
      chunks: [
        ...[added].flat().map((text) => ({ typ: "ins", text })),
        ...(removed === undefined ? [] : [{ typ: "del", text: removed }])
      ]
    }
  }
})

const matches = (text: string, event: EventFields): boolean => {
  const { rule, issues } = check(text)
  if (rule === undefined) {
    throw new Error(`${text}: ${issues.map(({ message }) => message).join(", ")}`)
  }
  return evaluate(rule.expression, event)
}

const fresh = "2026-03-01T00:00:00"
const stale = "2026-02-28T11:59:59"
const old = "2026-02-22T11:59:59"

describe("firehoseEvent, the documented rules", () => {
  const cases: ReadonlyArray<readonly [rule: string, meets: Page, misses: Page]> = [
    ["tesla", { added: "The Tesla plant" }, { title: "Tesla", removed: "Tesla", added: "Teslas" }],
    ['"site explorer"', { added: "our Site-Explorer" }, { added: "explorer of the site, site and explorer" }],
    ['tesla OR "electric vehicle"', { added: "an electric vehicle" }, { added: "a vehicle, electric" }],
    [
      "tesla AND recent:24h",
      { added: "Tesla", publish_time: "2026-02-28T12:00:00" },
      { added: "Tesla", publish_time: stale }
    ],
    [
      'title:tesla AND page_category:"/News" AND recent:24h',
      { title: "Tesla", page_category: ["/News/Technology_News"], publish_time: fresh },
      { title: "Tesla", page_category: ["/Newsroom"], publish_time: fresh }
    ],
    [
      '"AI agent" AND language:"en" AND recent:7d',
      { added: "an AI agent", language: "en", publish_time: "2026-02-22T12:00:00" },
      { added: "an AI agent", language: "en", publish_time: old }
    ],
    [
      'title:tesla OR added:"electric vehicle"',
      { title: "TESLA!" },
      { title: "electric vehicle", added: ["electric", "vehicle"] }
    ],
    [
      'title:ahrefs AND added:seo AND page_type:"/Article"',
      { title: "Ahrefs", added: "SEO", page_types: ["/Article/How_to"] },
      { title: "Ahrefs", added: "SEO", page_types: ["/article"] }
    ],
    ['removed:"old feature"', { removed: "The old feature." }, { added: "The old feature." }],
    ["added_anchor:buy", { added: "Go [Buy now](https://shop)!" }, { added: "buy [now](https://buy)" }],
    ["removed_anchor:buy", { removed: "[buy](x)" }, { added: "[buy](x)" }],
    [
      "domain:techcrunch.com AND title:IPO",
      { url: "https://www.techcrunch.com/x", title: "An IPO" },
      { url: "https://nottechcrunch.com/x", title: "An IPO" }
    ],
    [
      "domain:techcrunch.com AND NOT url:*\\/tag\\/*",
      { url: "https://techcrunch.com/tags/x" },
      { url: "https://techcrunch.com/tag/x" }
    ],
    ['url:"https://example.com/page"', { url: "https://example.com/page" }, { url: "https://example.com/page/" }],
    [
      "url:https\\:\\/\\/example.com\\/blog\\/*",
      { url: "https://example.com/blog/" },
      { url: "http://example.com/blog/x" }
    ],
    ["url:/.*\\/page\\/[0-9]+.*/", { url: "https://a.b/page/2?x" }, { url: "https://a.b/page/x2" }],
    ["url:/.*\\.(pdf|xml|json)/", { url: "https://a.b/c.pdf" }, { url: "https://a.b/c.pdf?x" }],
    [
      'title:tesla AND language:"en" AND NOT url:/.*\\/page\\/[0-9]+.*/ AND NOT url:*\\/category\\/*',
      { title: "tesla", language: "en" },
      { title: "tesla", language: "en", url: "https://a.b/category/x" }
    ],
    [
      "publish_time:[2025-01-01T00\\:00\\:00 TO 2025-12-31T23\\:59\\:59]",
      { publish_time: "2025-12-31T23:59:59" },
      { publish_time: "2026-01-01T00:00:00" }
    ],
    [
      'title:("competitor A" OR "competitor B") AND page_type:"/Article"',
      { title: "Competitor B wins", page_types: ["/Article"] },
      { title: "Competitor C wins", page_types: ["/Article"] }
    ],
    [
      'page_category:("/News/Technology_News" OR "/Finance/Investing") AND recent:7d',
      { page_category: ["/Finance/Investing"], publish_time: fresh },
      { page_category: ["/Finance"], publish_time: fresh }
    ],
    [
      '(title:"Acme" OR domain:acme.com) AND language:en',
      { url: "https://blog.acme.com/", language: "en" },
      { url: "https://blog.acme.com/", language: "en-gb" }
    ],
    [
      'domain:sec.gov AND title:"10-K"',
      { url: "https://www.sec.gov/x", title: "Form 10-K for 2025" },
      { url: "https://www.sec.gov/x", title: "Form 10 of K" }
    ],
    ["dr:[50 TO 100] AND tesla", { domain_rating: 50, added: "tesla" }, { domain_rating: 49.9, added: "tesla" }]
  ]
  for (const [rule, meets, misses] of cases) {
    it(`${rule} matches the page that meets it, not the one that just misses`, () => {
      assert.isTrue(matches(rule, eventOf(update(meets))))
      assert.isFalse(matches(rule, eventOf(update(misses))))
    })
  }
})

describe("firehoseEvent, operators", () => {
  const page = eventOf(
    update({
      url: "https://News.Example.co.uk:8443/Path?q=1",
      title: "The state of the art",
      added: ["The quick brown fox jumps over a lazy dog", "München überall, naïve café"],
      language: "en",
      domain_rating: 70,
      publish_time: "2026-02-01T00:00:00"
    })
  )
  const matching = [
    "quick",
    "QUICK",
    '"quick brown"',
    '"brown quick"~2',
    '"quick fox"~1',
    '"fox jumps over the lazy dog"',
    '"quick fox dog"~7',
    "qu*k",
    "qu?ck",
    "*ick",
    "quikc~1",
    "qick~",
    "quack~1",
    "/qu[a-z]+/",
    "/.*(ump|azy).*/",
    "münchen",
    "MÜNCHEN",
    "mün*",
    'title:"state of the art"',
    "title:the",
    "domain:example.co.uk",
    "domain:news.example.co.uk",
    "domain:*.co.uk",
    "domain:/[a-z.]*example.*/",
    "url:*Path*",
    "dr:[70 TO *]",
    "dr:{69 TO 71}",
    "dr:70",
    "language:[a TO f]",
    "publish_time:2026*",
    "*:* AND language:en",
    "quick AND NOT slow",
    "+quick -slow",
    "quick slow",
    "(quick OR slow) AND (dog OR cat)"
  ]
  const missing = [
    "slow",
    '"quick fox"',
    '"brown quick"~1',
    '"quick fox dog"~4',
    '"dog münchen"~100',
    "qu*x",
    "qu?k",
    "quiikk~1",
    "quick~0 AND slow",
    "/quic/",
    "munchen",
    'title:"state art"',
    "domain:co.uk",
    "domain:Example.co.uk",
    "domain:ample.co.uk",
    "url:*path*",
    "dr:{70 TO *]",
    "dr:[0 TO 69]",
    "language:EN",
    "language:[f TO z]",
    "publish_time:2025*",
    "removed:quick",
    "quick AND slow",
    "quick AND NOT fox",
    "page_type:*",
    "tesla AND recent:1000d"
  ]
  for (const rule of matching) {
    it(`${rule} matches`, () => assert.isTrue(matches(rule, page)))
  }
  for (const rule of missing) {
    it(`${rule} does not match`, () => assert.isFalse(matches(rule, page)))
  }
})

describe("firehoseEvent, fields", () => {
  const domains = (url: string) => eventOf(update({ url })).keywords("firehose.domain")

  it("domain has the host without www and its parents down to the registrable domain", () => {
    assert.deepStrictEqual(domains("https://www.example.com/"), ["example.com"])
    assert.deepStrictEqual(domains("https://a.B.example.com?x"), ["a.b.example.com", "b.example.com", "example.com"])
    assert.deepStrictEqual(domains("https://www.bbc.co.uk#x"), ["bbc.co.uk"])
    assert.deepStrictEqual(domains("https://shop.bbc.com.au/"), ["shop.bbc.com.au", "bbc.com.au"])
    assert.deepStrictEqual(domains("https://user:pw@example.com:80/"), ["example.com"])
    assert.deepStrictEqual(domains("https://example.com./"), ["example.com"])
    assert.deepStrictEqual(domains("https://192.168.0.1/x"), ["192.168.0.1"])
    assert.deepStrictEqual(domains("http://[::1]:80/x"), ["[::1]"])
    assert.deepStrictEqual(domains("https://www.com/"), ["www.com"])
    assert.deepStrictEqual(domains("https://localhost/"), ["localhost"])
    assert.deepStrictEqual(domains("no address"), [])
    assert.deepStrictEqual(domains("https:///x"), [])
  })

  it("added_anchor has link texts, not images", () => {
    const anchors = (added: string) =>
      eventOf(update({ added }))
        .text("firehose.added_anchor")
        .map(({ words }) => words.join(" "))
    assert.deepStrictEqual(anchors("[One](a) two [Three *four*](b 'c') [five] (d)"), ["one", "three four"])
    assert.deepStrictEqual(anchors("![picture](a) [text](b_(c)) \\[no](d) [open](e"), ["text"])
    assert.deepStrictEqual(anchors("[broken](\n) [[nested] words](x)"), ["nested words"])
  })

  it("ageHours counts up to matched_at, or up to now", () => {
    const age = (publish_time: string, matched_at?: unknown) =>
      eventOf({ document: { url: "https://a.b", publish_time }, matched_at }).ageHours
    assert.strictEqual(age("2026-03-01T00:00:00"), 12)
    assert.strictEqual(age("2026-03-01"), 12)
    assert.strictEqual(age("2026-03-01T00:00:00+02:00"), 14)
    assert.strictEqual(age("2026-03-01T00:00:00", "2026-03-01T06:00:00.000000Z"), 6)
    assert.strictEqual(age("2026-03-01T00:00:00", "yesterday"), 12)
    assert.strictEqual(age("2026-03-01T18:00:00"), -6)
    assert.isUndefined(age("last week"))
    assert.isUndefined(age("2026-13-45T00:00:00"))
  })

  it("firehoseEventId is the digest of the document", () => {
    const id = (record: unknown) => Either.getOrThrow(firehoseEventId(record, (text) => `<${text}>`))
    assert.strictEqual(id({ document: { url: "u" }, matched_at: "x" }), '<{"url":"u"}>')
    assert.strictEqual(id({ document: { url: "u" }, tap_id: "y" }), id({ document: { url: "u" } }))
  })

  it("fails with a message for a record without document or url", () => {
    for (const record of [undefined, null, 1, "x", [], {}, { document: [] }]) {
      assert.match(Either.getOrThrow(Either.flip(firehoseEvent(record, { now }))), /no "document"/)
    }
    for (const record of [{ document: {} }, { document: { url: "" } }, { document: { url: 7 } }]) {
      assert.match(Either.getOrThrow(Either.flip(firehoseEvent(record, { now }))), /needs a "url"/)
    }
  })

  it("reads a document that is nested deeper than the stack", () => {
    const record: unknown = JSON.parse(`{"document":{"url":"u","x":${"[".repeat(200_000)}${"]".repeat(200_000)}}}`)
    assert.isString(eventOf(record).id)
    assert.match(Either.getOrThrow(Either.flip(firehoseEventId(record, String))), /too deep/)
  })

  const names = "diff chunks typ text title publish_time page_category page_types language domain_rating __proto__"
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown>(null, true, 0, -1, 1e308, "", "ins", "/a/b", "[a](b)", "2026-03-01T00:00:00"),
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names.split(" ")), tie("value"), { maxKeys: 5 })
    )
  })).value
  const texts: ReadonlyArray<Field> = ["firehose.added", "firehose.removed_anchor", "firehose.title", "x.text"]
  const keywords: ReadonlyArray<Field> = [
    "firehose.url",
    "firehose.domain",
    "firehose.publish_time",
    "firehose.page_category",
    "firehose.page_type",
    "firehose.language",
    "x.from"
  ]

  it("never throws for any record", () => {
    fc.assert(
      fc.property(anything, fc.oneof(fc.webUrl(), fc.string({ unit: "binary", minLength: 1 })), (document, url) => {
        firehoseEvent(document, { now })
        const event = eventOf({ document: { ...(document as object), url } })
        for (const field of texts) for (const { words } of event.text(field)) assert.isArray(words)
        for (const field of keywords) for (const value of event.keywords(field)) assert.isString(value)
        event.number("firehose.dr")
        assert.isString(event.id)
      }),
      { numRuns: sized(250, 1_000) }
    )
  })

  it("reads long hostile texts quickly", () => {
    for (const text of ["[", "]", "](", "[a](", "![", "\\", "[a](b)", "a.", "_", "//"]) {
      const long = text.repeat(50_000)
      const event = eventOf(update({ added: long, url: `https://${long}`, page_types: [long] }))
      for (const field of texts) event.text(field)
      for (const field of keywords) event.keywords(field)
    }
  })
})
