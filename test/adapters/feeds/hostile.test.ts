/** Items of feeds with any fields: all of them can be read, and the others of the feed are not affected. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { afterDocument, newFeed } from "../../../adapters/feeds/FeedState.ts"
import { type ParsedFeed, parseFeed } from "../../../adapters/feeds/parse.ts"
import { withKeys } from "../../../adapters/feeds/parser.ts"
import { feeds } from "../../../core/languages/feeds.ts"
import type { Field } from "../../../core/syntax/expression/expression.ts"
import { sized } from "../../long.ts"

const NOW = Date.UTC(2026, 10, 15, 12)
const NUM_RUNS = sized(300, 2_000)

const FIELDS = [
  ...["id", "url", "external_url", "title", "content_html", "content_text", "summary", "tags", "authors", "author"],
  ...["date_published", "date_modified", "language", "attachments"]
]

const leaf = fc.constantFrom<unknown>(
  ...[null, true, 0, -1, 1e300, "", " ", "x", "\ud800", "\u0000", "2026-99-99T", "http://", "javascript:1", "__proto__"]
)
const anyValue = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("url", "name", "mime_type", "title", "0", "__proto__"), leaf, { maxKeys: 3 }),
  fc.constant([[[[]]]]),
  fc.constant("<b>".repeat(2_000))
)
const anyItem = fc.oneof(fc.dictionary(fc.constantFrom(...FIELDS), anyValue), leaf)

const TAGS = [
  ...["guid", "id", "link", "title", "description", "summary", "content", "content:encoded", "pubDate", "updated"],
  ...[
    "dc:date",
    "dc:creator",
    "dc:subject",
    "author",
    "category",
    "enclosure",
    "name",
    "uri",
    "item",
    "entry",
    "channel"
  ]
]
const attributes = fc
  .dictionary(
    fc.constantFrom("isPermaLink", "href", "rel", "type", "url", "term", "rdf:about", "xml:base", "length"),
    fc.constantFrom("", "alternate", "enclosure", "html", "xhtml", "1e300", "http://[", "&#0;", "&j;"),
    { maxKeys: 3 }
  )
  .map((all) =>
    Object.entries(all)
      .map(([name, value]) => ` ${name}="${value}"`)
      .join("")
  )
const words = fc.constantFrom(
  "",
  " ",
  "a storm",
  "<![CDATA[<p>a & b]]>",
  "&lt;b&gt;",
  "&#x110000;",
  "&nbsp;",
  "9".repeat(400)
)
const element = fc
  .tuple(fc.constantFrom(...TAGS), attributes, fc.oneof(words, fc.tuple(fc.constantFrom(...TAGS), words).map(wrapped)))
  .map(([tag, written, inner]) => `<${tag}${written}>${inner}</${tag}>`)
const anyElements = fc.array(element, { maxLength: 8 }).map((all) => all.join(""))

const good = (number: number) => ({ id: `good-${number}`, url: `https://example.org/${number}`, title: "A storm" })

const read = (text: string) =>
  parseFeed(text, { baseUrl: "https://example.org/feed", digest: (one) => `#${one.length}` })

const fields: ReadonlyArray<Field> = [
  ...(["added", "added_anchor", "title", "url", "domain", "publish_time"] as const).map(ofFirehose),
  ...(["page_category", "page_type", "language"] as const).map(ofFirehose),
  "feeds.feed",
  "feeds.author",
  "feeds.has"
]

/** As the stream does it. */
const deliver = ({ items, ...about }: ParsedFeed): ReadonlyArray<string> =>
  items.map((item) => {
    const payload = { feed: { url: "https://example.org/feed", ...about }, item, seen_at: new Date(NOW).toISOString() }
    const event = Either.getOrThrow(feeds.events.read(payload, NOW))
    for (const field of fields) {
      for (const one of [...event.texts(field), ...event.values(field)]) assert.isString(one)
    }
    assert.isString(feeds.events.titleOf(payload) ?? "")
    assert.isObject(feeds.events.summaryOf(payload))
    assert.isTrue(JSON.stringify(payload).isWellFormed())
    return Either.getOrThrow(feeds.events.idOf(payload, String))
  })

describe("items of feeds", () => {
  it("of a JSON feed may lack any field or have it with any type, and the others are read", () => {
    fc.assert(
      fc.property(fc.array(anyItem, { maxLength: 5 }), (items) => {
        const all = [good(1), ...items, good(2)]
        const feed = Either.getOrThrow(
          read(JSON.stringify({ version: "https://jsonfeed.org/version/1.1", items: all }))
        )
        const ids = deliver(feed)
        assert.includeMembers([...ids], ["https://example.org/feed good-1", "https://example.org/feed good-2"])
        assert.lengthOf(new Set(ids), ids.length)
        const state = newFeed("https://example.org/feed", NOW)
        assert.isFalse(afterDocument(state, withKeys(feed, String), { now: NOW, minMillis: 0 }).isJump)
      }),
      { numRuns: NUM_RUNS }
    )
  })

  for (const [format, head, item, foot] of [
    ["RSS", '<rss version="2.0"><channel><title>a</title>', "item", "</channel></rss>"],
    ["Atom", '<feed xmlns="http://www.w3.org/2005/Atom"><title>a</title>', "entry", "</feed>"],
    [
      "RDF",
      '<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><channel><title>a</title></channel>',
      "item",
      "</rdf:RDF>"
    ]
  ] as const) {
    it(`of ${format} may have any elements in any order, and the others are read`, () => {
      fc.assert(
        fc.property(fc.array(anyElements, { maxLength: 4 }), (bodies) => {
          const known = (number: number) =>
            format === "Atom"
              ? `<id>good-${number}</id><title>A storm</title><link href="https://example.org/${number}"/>`
              : `<guid>good-${number}</guid><title>A storm</title><link>https://example.org/${number}</link>`
          const about = (number: number) => (format === "RDF" ? ` rdf:about="good-${number}"` : "")
          const items = [
            `<${item}${about(1)}>${known(1)}</${item}>`,
            ...bodies.map((body) => `<${item}>${body}</${item}>`),
            `<${item}${about(2)}>${known(2)}</${item}>`
          ]
          const feed = Either.getOrThrow(read(head + items.join("") + foot))
          const ids = deliver(feed)
          assert.includeMembers([...ids], ["https://example.org/feed good-1", "https://example.org/feed good-2"])
          assert.lengthOf(new Set(ids), ids.length)
        }),
        { numRuns: NUM_RUNS }
      )
    })
  }
})

// ---- helpers ----

function ofFirehose<const Name extends string>(name: Name): `firehose.${Name}` {
  return `firehose.${name}`
}

function wrapped([tag, inner]: readonly [string, string]): string {
  return `<${tag}>${inner}</${tag}>`
}
