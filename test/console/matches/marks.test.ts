import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Match } from "../../../console/client.ts"
import { contentOf, type Part, webLink } from "../../../console/matches/content.ts"
import { findPlaces } from "../../../console/matches/findPlaces.ts"
import { excerptOf, type Place, placesIn, placesOf, repeatedIn } from "../../../console/matches/marks.ts"
import { ROOT } from "../../program.ts"

const place = (start: number, end: number): Place => ({ field: "x.text", value: 0, start, end })

const texts = (text: string, places: ReadonlyArray<Place>, max = 500): ReadonlyArray<string> =>
  excerptOf(text, places, max).pieces.map((piece) => (piece.isMarked ? `[${piece.text}]` : piece.text))

const match = (platform: string, payload: Match["payload"]): Match => ({
  id: "match_1",
  rule_id: "rule_1",
  rule_version: 1,
  created_at: "2026-11-17T12:00:00.000Z",
  platform,
  platform_post_id: "1",
  payload
})

const post = match("x", {
  data: {
    id: "12",
    text: "Felt an Earthquake <b>now</b>",
    author_id: "7",
    created_at: "2026-11-17T11:59:00.000Z",
    referenced_tweets: [{ type: "quoted", id: "11" }]
  },
  includes: {
    users: [{ id: "7", username: "ann", name: "Ann" }],
    tweets: [{ id: "11", text: "Small quake here" }]
  }
})

const update = match("firehose", {
  document: {
    url: "https://news.example.com/a",
    title: "Earthquake news",
    diff: {
      chunks: [
        { typ: "del", text: "No quake" },
        { typ: "ins", text: "One quake" },
        { typ: "ins", text: "An earthquake was felt" }
      ]
    }
  }
})

const skeet = match("bluesky", {
  did: "did:plc:ann",
  time_us: 1_794_916_800_000_000,
  commit: {
    rkey: "3k",
    record: {
      text: "Felt an <i>earthquake</i>",
      createdAt: "1999-01-01T00:00:00Z",
      reply: { parent: { uri: "at://did:plc:bob/app.bsky.feed.post/1" } },
      embed: {
        record: { record: { uri: "at://did:plc:eve/app.bsky.feed.post/2" } },
        media: {
          external: { uri: "https://news.example.com/quake", title: "Quake news", description: "A strong quake" },
          images: [{ alt: "A map" }, { alt: "The quake on a map" }]
        }
      }
    }
  },
  handles: { "did:plc:ann": "ann.example.com", "did:plc:bob": "bob.example.com" }
})

const change = match("wikimedia", {
  meta: { id: "1", dt: "2026-11-17T11:59:00Z", uri: "https://en.wikipedia.org/wiki/Talk:Quake" },
  type: "edit",
  title: "Talk:Quake",
  comment: "/* History */ the [[Earthquake|quake]] of 2026",
  user: "Ann",
  minor: true,
  length: { old: 1_100, new: 88 },
  server_name: "en.wikipedia.org",
  notify_url: "javascript:alert(1)"
})

const item = match("feeds", {
  feed: { url: "https://example.com/feed.xml", title: "Example news" },
  item: {
    id: "1",
    url: "https://example.com/quake",
    title: "An earthquake in Japan",
    summary: "The earthquake was felt <b>everywhere</b>",
    authors: ["Ann", "Bob"],
    link_texts: ["Map of the quake"],
    published: "2026-11-17T11:00:00Z",
    enclosures: [{ url: "https://example.com/a.mp3" }]
  }
})

/** The text of each place that was found. */
const wordsIn = (match: Match, filter: string): ReadonlyArray<string> => {
  const places = findPlaces(match, filter)
  return (contentOf(match)?.parts ?? []).flatMap((part) =>
    placesIn(part, places).map(({ start, end }) => `${part.kind}: ${part.text.slice(start, end)}`)
  )
}

const linesOf = (path: string): ReadonlyArray<string> => readFileSync(join(ROOT, path), "utf8").split("\n")

describe("repeatedIn", () => {
  const part = (text: string, value = 0, kind: Part["kind"] = "text"): Part => ({ kind, field: "x.text", value, text })

  it("marks a word wherever it stands as a whole word, in any case", () => {
    const text = "Storm! A storm, no thunderstorm, no storms: STORM"
    const post = part(text)
    assert.deepStrictEqual(texts(text, repeatedIn(post, [post], [place(0, 5)])), [
      "[Storm]",
      "! A ",
      "[storm]",
      ", no thunderstorm, no storms: ",
      "[STORM]"
    ])
  })

  it("marks it in another text of the field that was asked for", () => {
    const parts = contentOf(item)?.parts ?? []
    const marked = (filter: string) =>
      parts.map((part) => repeatedIn(part, parts, findPlaces(item, filter)).length > 0 && part.kind)
    assert.deepStrictEqual(marked("earthquake"), ["title", "text", false])
    assert.deepStrictEqual(marked("title:earthquake"), ["title", false, false])
  })

  it("marks it in other values of the field, but not in links", () => {
    const [first, second, link] = [part("C++ (now)"), part("c++ (now) again", 1), part("c++ (now)", 2, "link")]
    const marked = [first, second, link].map((one) => repeatedIn(one, [first, second, link], [place(0, 9)]).length)
    assert.deepStrictEqual(marked, [2, 1, 0])
  })
})

describe("excerptOf", () => {
  it("marks the places, in order and without overlaps", () => {
    assert.deepStrictEqual(texts("one two three", [place(8, 13), place(0, 3)]), ["[one]", " two ", "[three]"])
    assert.deepStrictEqual(texts("one two", [place(0, 5), place(2, 7)]), ["[one t]", "[wo]"])
  })

  it("ignores a place outside of the text", () => {
    assert.deepStrictEqual(texts("one", [place(10, 12)]), ["one"])
  })

  it("cuts a long text around the first mark", () => {
    const text = `${"a".repeat(1_000)}word${"b".repeat(1_000)}`
    const { pieces, isCut } = excerptOf(text, [place(1_000, 1_004)], 300)
    assert.isTrue(isCut)
    assert.strictEqual(pieces[0]?.text, "…")
    assert.deepStrictEqual(
      pieces.filter((piece) => piece.isMarked).map((piece) => piece.text),
      ["word"]
    )
    assert.isAtMost(pieces.map((piece) => piece.text).join("").length, 302)
  })

  it("shows the start of a long text without marks", () => {
    assert.deepStrictEqual(texts("abcdef", [], 3), ["abc", "…"])
  })

  it("does not cut a character in two", () => {
    assert.deepStrictEqual(texts("a😀😀", [], 2), ["a😀", "…"])
  })
})

describe("placesOf", () => {
  it("has the clauses that held and are wanted", () => {
    const tested = { field: "x.text", values: [], count: 1, place: { value: 0, start: 1, end: 2, text: "b" } }
    const clauses = [
      { held: true, negated: false, tested },
      { held: true, negated: true, tested },
      { held: false, negated: false, tested: { field: "x.text", values: [], count: 1 } },
      { held: true, negated: false }
    ]
    assert.lengthOf(placesOf(clauses), 1)
  })
})

describe("contentOf", () => {
  it("reads a post, with markup as text", () => {
    const content = contentOf(post)
    assert.strictEqual(content?.name, "Ann")
    assert.strictEqual(content?.source, "@ann")
    assert.strictEqual(content?.link, "https://x.com/i/status/12")
    assert.deepStrictEqual(
      content?.parts.map(({ kind, text }) => [kind, text]),
      [
        ["text", "Felt an Earthquake <b>now</b>"],
        ["quoted", "Small quake here"]
      ]
    )
  })

  it("reads a page with its changes", () => {
    const content = contentOf(update)
    assert.strictEqual(content?.source, "news.example.com")
    assert.deepStrictEqual(
      content?.parts.map(({ field, value }) => `${field} ${value}`),
      ["firehose.title 0", "firehose.removed 0", "firehose.added 0", "firehose.added 1"]
    )
  })

  it("reads a post on Bluesky with what it answers and shows, and when the platform saw it", () => {
    const { parts, ...content } = contentOf(skeet) ?? { parts: [] }
    assert.deepStrictEqual(content, {
      kind: "post",
      source: "@ann.example.com",
      facts: ["reply to @bob.example.com", "quotes another post", "2 images"],
      publishedAt: 1_794_916_800_000,
      link: "https://bsky.app/profile/did:plc:ann/post/3k"
    })
    assert.deepStrictEqual(
      parts.map(({ kind, text }) => [kind, text]),
      [
        ["text", "Felt an <i>earthquake</i>"],
        ["card", "Quake news"],
        ["link", "A strong quake"],
        ["link", "https://news.example.com/quake"],
        ["alt", "A map"],
        ["alt", "The quake on a map"]
      ]
    )
  })

  it("reads a wiki change with its user, wiki, kind, size and comment, and a link to the web only", () => {
    const { parts, ...content } = contentOf(change) ?? { parts: [] }
    assert.deepStrictEqual(content, {
      kind: "change",
      name: "Ann",
      source: "en.wikipedia.org",
      facts: ["edit", `${(-1_012).toLocaleString()} bytes`, "minor"],
      publishedAt: Date.parse("2026-11-17T11:59:00Z"),
      link: "https://en.wikipedia.org/wiki/Talk:Quake"
    })
    assert.deepStrictEqual(
      parts.map(({ kind, text }) => [kind, text]),
      [
        ["title", "Talk: Quake"],
        ["text", "History the quake of 2026"]
      ]
    )
  })

  it("reads the kind of a log entry and of other changes", () => {
    const factsOf = (payload: Match["payload"]) => contentOf(match("wikimedia", { meta: {}, ...payload }))?.facts
    assert.deepStrictEqual(factsOf({ type: "log", log_type: "delete", log_action: "restore" }), ["log: delete/restore"])
    assert.deepStrictEqual(factsOf({ type: "log" }), ["log"])
    assert.deepStrictEqual(factsOf({ type: "new", length: { new: 1 }, bot: true }), ["new page", "+1 byte", "bot"])
    assert.deepStrictEqual(factsOf({}), [])
  })

  it("reads an item of a feed with its source, authors, title and text", () => {
    const { parts, ...content } = contentOf(item) ?? { parts: [] }
    assert.deepStrictEqual(content, {
      kind: "item",
      name: "Ann, Bob",
      source: "Example news",
      facts: ["1 file"],
      publishedAt: Date.parse("2026-11-17T11:00:00Z"),
      link: "https://example.com/quake"
    })
    assert.deepStrictEqual(
      parts.map(({ kind, text }) => [kind, text]),
      [
        ["title", "An earthquake in Japan"],
        ["text", "The earthquake was felt <b>everywhere</b>"],
        ["link", "Map of the quake"]
      ]
    )
  })

  it("reads the recorded events of each source", () => {
    const changes = ["recentchange-2022.sse", "recentchange-2023-2025.sse"].flatMap((name) =>
      linesOf(`fixtures/wikimedia/${name}`)
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice(6))
    )
    const posts = linesOf("test/adapters/bluesky/samples/posts.jsonl").filter((line) => line.includes('"create"'))
    assert.isAbove(Math.min(changes.length, posts.length), 5)
    for (const [platform, lines] of Object.entries({ wikimedia: changes, bluesky: posts })) {
      for (const line of lines) {
        const content = contentOf(match(platform, JSON.parse(line)))
        assert.isString(content?.source, line)
        assert.match(content?.link ?? "", /^https:\/\//, line)
        assert.isDefined(content?.publishedAt, line)
        assert.isNotEmpty([...(content?.parts ?? []), ...(content?.facts ?? [])], line)
      }
    }
  })

  it("reads what strangers send in other forms, and fails on nothing", () => {
    const values = [undefined, null, 1e300, -1, "", "a", [], [[]], {}, { a: {} }]
    const fields = ["did", "time_us", "meta", "type", "length", "timestamp", "title", "comment", "feed", "item"]
    for (const value of values) {
      const record = { text: value, embed: value, reply: value, facets: value, createdAt: value }
      const payload = {
        ...Object.fromEntries(fields.map((field) => [field, value])),
        did: "did:plc:a",
        commit: { rkey: "1", record }
      }
      for (const platform of ["bluesky", "wikimedia", "feeds", "x", "firehose"]) {
        const { publishedAt } = contentOf(match(platform, payload)) ?? {}
        if (publishedAt !== undefined) assert.isString(new Date(publishedAt).toISOString())
      }
    }
  })

  it("has no link that does not lead to the web", () => {
    assert.isUndefined(webLink("javascript:alert(1)"))
    assert.isUndefined(webLink("data:text/html,x"))
    assert.isUndefined(webLink("/relative"))
    assert.isDefined(webLink("https://example.com"))
    const page = match("firehose", { document: { url: "javascript:alert(1)", title: "t" } })
    assert.isUndefined(contentOf(page)?.link)
    const bad = match("feeds", { feed: { url: "a" }, item: { url: "javascript:alert(1)" } })
    assert.isUndefined(contentOf(bad)?.link)
  })

  it("does not know events of another form", () => {
    assert.isUndefined(contentOf(match("other", { text: "a" })))
  })
})

describe("findPlaces", () => {
  it("finds the words of a post and of its quoted post", () => {
    assert.deepStrictEqual(wordsIn(post, "(earthquake OR quake) -is:retweet"), ["text: Earthquake", "quoted: quake"])
  })

  it("finds the words of a page where they stand", () => {
    assert.deepStrictEqual(wordsIn(update, "title:earthquake AND added:felt"), ["title: Earthquake", "added: felt"])
  })

  it("finds the words of a post on Bluesky, of its card and of its images", () => {
    assert.deepStrictEqual(wordsIn(skeet, "earthquake alt:map url_title:quake"), [
      "text: earthquake",
      "card: Quake",
      "alt: map"
    ])
  })

  it("finds the words of a wiki change and of an item of a feed", () => {
    assert.deepStrictEqual(wordsIn(change, "quake AND title:quake AND minor:true AND delta:[* TO -1000]"), [
      "title: Quake",
      "text: quake"
    ])
    assert.deepStrictEqual(wordsIn(item, "felt AND title:japan AND added_anchor:map"), [
      "title: Japan",
      "text: felt",
      "link: Map"
    ])
  })

  it("finds nothing if the filter does not match, is not valid, or is of an unknown platform", () => {
    assert.deepStrictEqual(findPlaces(post, "earthquake volcano"), [])
    assert.deepStrictEqual(findPlaces(post, "(((("), [])
    assert.deepStrictEqual(findPlaces(match("other", {}), "a"), [])
  })
})
