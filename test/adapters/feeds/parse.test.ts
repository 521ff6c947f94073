/** Reading feeds: bytes to text, text to items, HTML to text. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { items } from "../../../adapters/demo/items.ts"
import { decodeText } from "../../../adapters/feeds/decode.ts"
import { linkTextsOf, textOfHtml } from "../../../adapters/feeds/html.ts"
import { parseFeed } from "../../../adapters/feeds/parse.ts"
import { feeds } from "../../../core/languages/feeds.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import { ROOT } from "../../program.ts"
import { cpuMillisOf } from "../../cpuMillis.ts"

const digest = (text: string) => createHash("sha256").update(text).digest("hex")
const parse = (text: string) => parseFeed(text, { baseUrl: "https://example.org/feeds/all.xml", digest })
const sample = (name: string) => Either.getOrThrow(parse(readFileSync(join(ROOT, "fixtures/feeds", name), "utf8")))
const bytes = (text: string) => new TextEncoder().encode(text)

const NOW = Date.UTC(2026, 10, 15)

const matches = (filter: string, record: unknown) => {
  const { rule, issues } = feeds.check(filter)
  if (rule === undefined) return assert.fail(`${filter}: ${issues[0]?.message}`)
  return evaluate(rule.expression, Either.getOrThrow(feeds.events.read(record, NOW)))
}

describe("parseFeed", () => {
  it("reads the samples of every format", () => {
    const nasa = sample("rss20-nasa.xml")
    assert.strictEqual(nasa.format, "rss")
    assert.deepInclude(nasa.items[0], {
      title: "NASA Extends Cyclone Global Navigation Satellite System Mission",
      published: "2021-06-22T20:52:00.000Z"
    })
    assert.strictEqual(nasa.items[0]?.enclosures[0]?.type, "image/jpeg")
    const atom = sample("atom10-github-commits.xml")
    assert.deepInclude(atom.items[0], {
      id: "tag:github.com,2008:Grit::Commit/6d97f8b4582414b6ce69467656824690057d4793",
      title: "Parse podcast categories",
      authors: ["fguillot"]
    })
    const rdf = sample("rss10-constructed.rdf")
    assert.deepInclude(rdf.items[0], {
      id: "http://www.example.org/1",
      authors: ["Aaron Swartz"],
      categories: ["Politics"]
    })
    const json = sample("jsonfeed1-constructed.json")
    assert.deepInclude(json.items[0], { id: "2", summary: "This is a second item.", categories: ["test", "JSON"] })
    for (const { format, title, items } of [nasa, atom, rdf, json]) {
      for (const item of items) {
        const payload = {
          feed: { url: "https://example.org/f", title, format },
          item,
          seen_at: new Date(NOW).toISOString()
        }
        assert.isTrue(feeds.events.recognizes(payload))
        assert.isTrue(Either.isRight(feeds.events.idOf(payload, digest)))
        assert.isTrue(matches(`feed:* AND page_type:${format} AND url:http*`, payload))
      }
    }
  })

  it("limits what is in the payload of every item, and what an item has many of", () => {
    const long = "x".repeat(5_000)
    const item = (id: string) =>
      `<item><guid>${id}</guid><link>/${long}</link>${"<category>a</category>".repeat(150)}<description><![CDATA[${`<a>${long}</a>`.repeat(250)}]]></description></item>`
    const head = `<title>${long}</title><language>${long}</language>`
    const feed = Either.getOrThrow(
      parseFeed(`<rss version="2.0"><channel>${head}${item("1")}${item(long)}</channel></rss>`, {
        baseUrl: "https://example.org/",
        digest: (text) => `#${text.length}`
      })
    )
    assert.strictEqual(feed.title, "x".repeat(300))
    assert.isUndefined(feed.language)
    assert.deepStrictEqual(
      feed.items.map(({ id, url }) => [id, url]),
      [
        ["1", undefined],
        ["#5000", undefined]
      ]
    )
    assert.lengthOf(feed.items[0]?.link_texts ?? [], 199)
    assert.lengthOf(feed.items[0]?.link_texts[0] ?? "", 300)
  })

  it("resolves links, and keeps items with the same id apart", () => {
    const { items } = Either.getOrThrow(
      parse(
        '<rss version="2.0"><channel><title>A &amp; B</title><item><guid>1</guid><link>/a</link><title>One</title></item><item><guid>1</guid><link>/b</link></item><item><title>No id</title></item></channel></rss>'
      )
    )
    assert.deepStrictEqual(
      items.map(({ id, url }) => [id, url]),
      [
        ["1", "https://example.org/a"],
        ["1 https://example.org/b", "https://example.org/b"],
        [digest("No id\n"), undefined]
      ]
    )
  })

  it("says why a document is not a feed", () => {
    const reasons: ReadonlyArray<readonly [string, RegExp]> = [
      ["<!DOCTYPE html><html><body>Hi</body></html>", /web page, not a feed/],
      ['<rss version="2.0"><channel><title>cut', /cut off/],
      ["", /cannot be read|can be read/],
      ["{}", /can be read/],
      [
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>&a;</title></channel></rss>',
        /./
      ]
    ]
    for (const [text, reason] of reasons) {
      const result = parse(text)
      if (Either.isLeft(result)) assert.match(result.left, reason, text)
      else assert.notInclude(JSON.stringify(result.right), "root:", text)
    }
  })

  it("does not expand an entity bomb", () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`
    ).join("")
    const document = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY e0 "lol">${levels}]><rss version="2.0"><channel><item><guid>1</guid><title>&e9;</title></item></channel></rss>`
    const millis = cpuMillisOf(() => {
      assert.isBelow(JSON.stringify(parse(document)).length, 10_000)
    })
    assert.isBelow(millis, 2_000)
  })

  it("never throws", () => {
    const part = fc.constantFrom(
      "<rss>",
      "<item>",
      "</item>",
      "<guid>1</guid>",
      "<![CDATA[",
      "]]>",
      "&#0;",
      "<title>",
      "\ud800",
      "{",
      '"items":[',
      "}"
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string())), (parts) => void parse(parts.join(""))),
      { numRuns: 300 }
    )
  })
})

describe("a feed item", () => {
  it("has the fields of its filters", () => {
    const record = {
      feed: { url: "https://example.org/f.xml", title: "Example News", format: "rss", language: "en-GB" },
      item: {
        id: "1",
        url: "https://www.example.org/a",
        title: "The Comet",
        summary: "Visible tonight",
        link_texts: ["see the map"],
        authors: ["Ada"],
        categories: ["Science"],
        published: "2026-11-14T12:00:00Z",
        enclosures: [{ url: "https://example.org/a.mp3", type: "audio/mpeg" }]
      },
      seen_at: "2026-11-14T18:00:00Z"
    }
    const filters = [
      'comet AND visible AND title:"the comet" AND added_anchor:map',
      'page_type:"audio/mpeg" AND page_type:rss AND has:enclosure AND author:Ada',
      'page_category:Science AND language:en AND language:en-gb AND feed:"Example News"',
      "domain:example.org AND recent:7h AND comet AND publish_time:[2026-11 TO *]"
    ]
    for (const filter of filters) assert.isTrue(matches(filter, record), filter)
    assert.isFalse(matches("comet AND recent:5h", record))
    assert.isTrue(matches("title:*", items(1)(NOW)))
    for (const { rule } of feeds.help.examples) assert.deepStrictEqual(feeds.check(rule).issues, [], rule)
    for (const { example } of feeds.help.operators) assert.exists(feeds.check(example).rule, example)
    for (const { wrong, right } of feeds.help.mistakes) {
      assert.isNotEmpty(feeds.check(wrong).issues, wrong)
      assert.deepStrictEqual(feeds.check(right).issues, [], right)
    }
  })
})

describe("decodeText", () => {
  it("knows the charset from the mark, HTTP, the declaration, or by trying", () => {
    const latin1 = Uint8Array.from([0x63, 0x61, 0x66, 0xe9])
    assert.strictEqual(decodeText(latin1, "text/xml; charset=iso-8859-1"), "café")
    assert.strictEqual(decodeText(latin1, ""), "café")
    assert.strictEqual(decodeText(bytes("café"), ""), "café")
    assert.strictEqual(decodeText(bytes("café"), "text/xml; charset=unknown"), "café")
    assert.strictEqual(decodeText(Uint8Array.from([0xff, 0xfe, 0x61, 0x00]), "text/xml; charset=utf-8"), "a")
    const declared = Uint8Array.from([...bytes('<?xml version="1.0" encoding="windows-1251"?>'), 0xe0])
    assert.isTrue(decodeText(declared, "").endsWith("а"))
  })
})

describe("textOfHtml", () => {
  it("has the text without tags, and the texts of links", () => {
    assert.strictEqual(
      textOfHtml("<p>A &amp; B<br>&#x1F600; <script>x()</script>c &unknown;</p>"),
      "A & B 😀 c &unknown;"
    )
    assert.deepStrictEqual(linkTextsOf('<a href="x">the <b>map</b></a> <A HREF=y>two</A><a>'), ["the map", "two"])
  })

  it("takes linear time", () => {
    const millis = cpuMillisOf(() => {
      for (const piece of ["<a ", "<script>", "&#", "<<", "&amp;", "<a>x", "<style"]) {
        textOfHtml(piece.repeat(100_000))
        linkTextsOf(piece.repeat(100_000))
      }
    })
    assert.isBelow(millis, 4_000)
  })
})
