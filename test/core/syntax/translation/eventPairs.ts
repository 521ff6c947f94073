/** Generators of events with the same content on X and on Firehose, and of rules that match such events. */
import { Either } from "effect"
import fc from "fast-check"
import type { EventFields } from "../../../../core/syntax/expression/eventFields.ts"
import { firehoseEvent } from "../../../../core/syntax/firehose/event.ts"
import { xEvent } from "../../../../core/syntax/x/event.ts"

interface Content {
  readonly text: ReadonlyArray<string>
  readonly title: ReadonlyArray<string>
  readonly link: string
  readonly language: (typeof languages)[number]
  /** On one platform only, like the fields that follow. */
  readonly author: string
  readonly followers: number
  readonly rating: number
  readonly category: string
  readonly published: string
}

export interface Pair {
  readonly content: Content
  readonly x: EventFields
  readonly firehose: EventFields
}

const plain = ["tesla", "recall", "ford", "crash", "größe", "2025"]
/** Stop words of one platform or both. */
const special = ["the", "of", "you", "not"]
/** Split into different words by the platforms. The words differ from those above. */
const splitDifferently = [
  "node.js",
  "node js",
  "o'neil",
  "o neil",
  "foo_bar",
  "foo bar",
  "東京",
  "東京タワー",
  "東",
  "🍕",
  "❤️"
]

/** Codes of Firehose and X. */
const languages = [
  ["en", "en"],
  ["he", "iw"],
  ["zh-cn", "zh"],
  ["zh-tw", "zh"],
  ["sw", "und"],
  [undefined, "eu"]
] as const

const links = [
  "https://example.com/zone/77/",
  "https://example.com/Zone/alpha",
  "http://shop.example.com/77/beta?x=1",
  "https://other.org/?to=example.com",
  "https://other.org/ozone"
]

export const pairs = (everyWord: boolean): fc.Arbitrary<Pair> => {
  const word = fc.constantFrom(...plain, ...special, ...(everyWord ? splitDifferently : []))
  const token = fc.oneof(
    { weight: 4, arbitrary: word },
    fc.constantFrom("#tesla", "#crash", "#foo_bar", "TESLA", "Ford")
  )
  return fc
    .record({
      text: fc.array(token, { maxLength: 8 }),
      title: fc.array(fc.constantFrom(...plain, ...special), { maxLength: 3 }),
      link: fc.constantFrom(...links),
      language: fc.constantFrom(...languages),
      author: fc.constantFrom("nasa", "esa"),
      followers: fc.constantFrom(1, 1000),
      rating: fc.constantFrom(10, 90),
      category: fc.constantFrom("/News", "/Sports"),
      published: fc.constantFrom("2026-01-01T00:00:00", "2026-06-01T00:00:00")
    })
    .map((content) => ({ content, x: asPost(content), firehose: asUpdate(content) }))
}

/** Valid X rules. */
export const xRules = (everyWord: boolean): fc.Arbitrary<string> => {
  const words = [...plain, ...special, ...(everyWord ? ["node.js", "東京", "🍕", '"❤️"'] : [])]
  const phrases = ['"tesla recall"', '"ford of the crash"', '"the tesla"', '"not you"', '"größe 2025"']
  const leaves = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...words) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...phrases, ...(everyWord ? ['"o\'neil"', '"東京"', '"node.js tesla"'] : []))
    },
    fc.constantFrom("#tesla", "#crash", "#foo_bar"),
    fc.constantFrom("lang:en", "lang:iw", "lang:zh-TW", "lang:eu"),
    fc.constantFrom('url:"example.com"', 'url:"com/zone"', "url:77", 'url_contains:"/zone/"', 'url_contains:"77"'),
    fc.constantFrom('url_title:"the ford"', "url_title:tesla", "url_description:ford"),
    fc.constantFrom("from:nasa", "@nasa", "followers_count:1000", "has:links", "place:berlin"),
    ...(everyWord ? [] : [fc.constantFrom('"tesla recall"~2', '"ford the crash"~3', '"tesla of"~1')])
  )
  return fc.letrec<{ positive: string; negative: string }>((tie) => ({
    positive: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 3, arbitrary: leaves },
      fc.tuple(tie("positive"), tie("positive")).map(([a, b]) => `(${a} OR ${b})`),
      fc.tuple(tie("positive"), fc.oneof(tie("positive"), tie("negative"))).map(([a, b]) => `(${a} ${b})`)
    ),
    negative: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 3, arbitrary: fc.oneof(leaves, fc.constant("is:retweet")).map((leaf) => `-${leaf}`) },
      fc.tuple(tie("positive"), tie("negative")).map(([a, b]) => `-(${a} OR ${b})`),
      fc.tuple(tie("negative"), tie("positive")).map(([a, b]) => `-(${a} ${b})`),
      fc.tuple(tie("negative"), tie("negative")).map(([a, b]) => `-(${a} ${b})`)
    )
  })).positive
}

/** Valid Firehose rules, except for rare contradictions. */
export const firehoseRules = (everyWord: boolean): fc.Arbitrary<string> => {
  const words = [...plain, "you", ...(everyWord ? ["node.js", "foo_bar", "東京", "🍕"] : [])]
  const phrases = ['"tesla recall"', '"ford of the crash"', '"the tesla"', '"größe 2025"', '"you crash"']
  const leaves = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...words) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...phrases, ...(everyWord ? ['"o\'neil"', '"東京"', '"node.js tesla"'] : []))
    },
    fc.constantFrom("language:en", "language:he", "language:zh-tw", "language:sw"),
    fc.constantFrom(
      "domain:example.com",
      'url:"https://example.com/zone/77/"',
      "url:*\\/zone\\/*",
      "url:*\\/77\\/*",
      "url:http\\:*beta*",
      "url:/.*77.*/"
    ),
    fc.constantFrom('title:"the ford"', "title:tesla", 'title:"tesla ford"~2'),
    fc.constantFrom(
      "removed:tesla",
      'page_category:"/News"',
      "dr:[50 TO *]",
      "tes*",
      "fort~1",
      "ford~0",
      "tesla-recall"
    ),
    ...(everyWord ? [] : [fc.constantFrom('"tesla recall"~2', '"ford the crash"~9')])
  )
  const rule = fc.letrec<{ positive: string; negative: string }>((tie) => ({
    positive: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 3, arbitrary: leaves },
      fc.tuple(tie("positive"), tie("positive")).map(([a, b]) => `(${a} OR ${b})`),
      fc.tuple(tie("positive"), fc.oneof(tie("positive"), tie("negative"))).map(([a, b]) => `(${a} AND ${b})`),
      tie("negative").map((a) => `(*:* AND ${a})`)
    ),
    negative: tie("positive").map((a) => `NOT ${a}`)
  })).positive
  return fc.tuple(rule, fc.boolean()).map(([text, recent]) => (recent ? `(${text}) AND recent:24h` : text))
}

// ---- helpers ----

const matchedAt = "2026-06-01T12:00:00Z"

function asPost({ text, title, link, language, author, followers }: Content): EventFields {
  const record = {
    data: {
      id: "1",
      text: text.join(" "),
      lang: language[1],
      author_id: "7",
      entities: {
        hashtags: text.filter((word) => word.startsWith("#")).map((word) => ({ tag: word.slice(1) })),
        urls: [{ url: link, expanded_url: link, title: title.join(" ") }]
      }
    },
    includes: { users: [{ id: "7", username: author, public_metrics: { followers_count: followers } }] }
  }
  return Either.getOrThrowWith(xEvent(record), (reason) => new Error(reason))
}

function asUpdate({ text, title, link, language, rating, category, published }: Content): EventFields {
  const record = {
    matched_at: matchedAt,
    document: {
      url: link,
      title: title.join(" "),
      publish_time: published,
      domain_rating: rating,
      page_category: [category],
      ...(language[0] !== undefined && { language: language[0] }),
      diff: { chunks: [{ typ: "ins", text: text.join(" ") }] }
    }
  }
  return Either.getOrThrowWith(firehoseEvent(record, { now: 0 }), (reason) => new Error(reason))
}
