import { assert, describe, it } from "@effect/vitest"
import type { Match } from "../../../console/client.ts"
import { contentOf, type Part, webLink } from "../../../console/matches/content.ts"
import { findPlaces } from "../../../console/matches/findPlaces.ts"
import { excerptOf, type Place, placesIn, placesOf, repeatedIn } from "../../../console/matches/marks.ts"

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

/** The text of each place that was found. */
const wordsIn = (match: Match, filter: string): ReadonlyArray<string> => {
  const places = findPlaces(match, filter)
  return (contentOf(match)?.parts ?? []).flatMap((part) =>
    placesIn(part, places).map(({ start, end }) => `${part.kind}: ${part.text.slice(start, end)}`)
  )
}

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

  it("has no link that does not lead to the web", () => {
    assert.isUndefined(webLink("javascript:alert(1)"))
    assert.isUndefined(webLink("data:text/html,x"))
    assert.isUndefined(webLink("/relative"))
    assert.isDefined(webLink("https://example.com"))
    const page = match("firehose", { document: { url: "javascript:alert(1)", title: "t" } })
    assert.isUndefined(contentOf(page)?.link)
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

  it("finds nothing if the filter does not match, is not valid, or is of an unknown platform", () => {
    assert.deepStrictEqual(findPlaces(post, "earthquake volcano"), [])
    assert.deepStrictEqual(findPlaces(post, "(((("), [])
    assert.deepStrictEqual(findPlaces(match("other", {}), "a"), [])
  })
})
