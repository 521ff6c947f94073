import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { evaluate } from "../../../../core/syntax/expression/evaluate.ts"
import type { EventFields } from "../../../../core/syntax/expression/eventFields.ts"
import type { Expression, Field } from "../../../../core/syntax/expression/expression.ts"
import { xEvent, xEventId } from "../../../../core/syntax/x/event.ts"
import { check, lower } from "../../../../core/syntax/x/language.ts"
import { sized } from "../../../long.ts"

type Json = Readonly<Record<string, unknown>>

const eventOf = (record: unknown): EventFields => Either.getOrThrow(xEvent(record))

const post = (text: string, data: Json = {}, includes: Json = {}): EventFields =>
  eventOf({ data: { id: "1", text, ...data }, includes })

const expressionOf = (text: string): Expression => {
  const { rule, issues } = check(text)
  if (rule === undefined) {
    throw new Error(`${text}: ${issues.map(({ message }) => message).join(", ")}`)
  }
  return lower(rule.ast)
}

const matches = (rule: string, event: EventFields): boolean => evaluate(expressionOf(rule), event)

const assertMatches = (event: EventFields, matching: ReadonlyArray<string>, missing: ReadonlyArray<string>): void => {
  for (const rule of matching) assert.isTrue(matches(rule, event), rule)
  for (const rule of missing) assert.isFalse(matches(rule, event), rule)
}

describe("xEvent, words", () => {
  const cases: ReadonlyArray<readonly [rule: string, text: string, matches: boolean]> = [
    ["gnip", "I like gnip's data", true],
    ["gnip", "thanks @gnip", true],
    ["gnip", "We use Gnip.", true],
    ["gnip", "so #gniprocks", false],
    ["coachella", "see you at #coachella", true],
    ["coachella", "COACHELLA2015 begins", false],
    ["snow", "SNOW everywhere", true],
    ["snow", "it is snowing", false],
    ["snow", "read https://example.com/Snow/today", true],
    ["snow", "read https://example.com/fresh-snow-today", true],
    ["cola", "coca-cola", true],
    ["cola", "cocacola", false],
    ['"coca cola"', "a coca-cola, please", true],
    ['"coca cola"', "cola coca", false],
    ['"coca cola"', "coca and cola", false],
    ['"#hashtag"', "the word hashtag", true],
    ['"$TWTR"', "buy TWTR now", true],
    ['"the boat"', "on the boat", true],
    ["diacrítica", "una marca diacrítica", true],
    ["diacrítica", "una marca diacritica", false],
    ["diacritica", "una marca diacrítica", false],
    ["café", "un café", true],
    ["café", "un cafe\u0301", true],
    ["東京", "東京 は", true],
    ["東京", "東京タワー", false],
    ["東京タワー", "東京タワー!", true],
    ["🍕", "I like 🍕", true],
    ["🍕", "I like🍕🍟", true],
    ["🍕", "I like 🍟", false],
    ['"❤️"', "with ❤ and care", true],
    ['"❤️"', "with ❤️ and care", true],
    ["👍", "👍🏽", false],
    ["snake_case", "snake case", true],
    ['"happy birthday"~3', "happy 21st birthday", true],
    ['"happy birthday"~3', "happy one two three birthday", true],
    ['"happy birthday"~3', "happy one two three four birthday", false],
    ['"happy birthday"~3', "birthday so happy", true],
    ['"happy birthday"~3', "birthday so very happy", false],
    ['"a b c"~2', "a x b y c", true],
    ['"a b c"~2', "a x b y z c", false],
    ['"no no"~3', "no way", false],
    ['"no no"~3', "no way no", true]
  ]
  for (const [rule, text, expected] of cases) {
    it(`${rule} ${expected ? "matches" : "does not match"} ${JSON.stringify(text)}`, () => {
      assert.strictEqual(matches(rule, post(text)), expected)
    })
  }

  it("reads the text of a long post from its note", () => {
    const event = post("The begin…", { note_tweet: { text: "The beginning and the end" } })
    assertMatches(event, ["beginning", '"the end"'], ["begin"])
  })

  it("matches the words of expanded and unwound links", () => {
    const urls = [
      { url: "https://t.co/xyz", expanded_url: "https://bit.ly/aBc", unwound_url: "https://example.com/deep-snow" }
    ]
    const event = post("look https://t.co/xyz", { entities: { urls } })
    assertMatches(
      event,
      ["snow", "bit", 'url:"example.com"', "url:snow", 'url_contains:"bit.ly/AB"'],
      ["url:look", "ample"]
    )
  })

  it("does not match a phrase across two values of a field", () => {
    const event = post("new", { entities: { urls: [{ expanded_url: "https://york.example" }] } })
    assert.isFalse(matches('"new https"', event))
  })
})

describe("xEvent, tags and links", () => {
  it("reads tags only from the entities if there are any", () => {
    const event = post("#thankunext @nasa $TSLA", {
      entities: {
        hashtags: [{ start: 0, end: 3, tag: "ThankU" }],
        mentions: [{ username: "ESA", id: "7" }],
        cashtags: [{ tag: "BRK.A" }]
      }
    })
    assertMatches(event, ["#thanku", "@esa", "$brk.a", "x OR nasa"], ["#thankunext", "@nasa", "$TSLA"])
  })

  it("parses tags and links from the text if there are no entities", () => {
    const event = post("#Caturday at @NASA: $tsla rose, see https://example.com/a#b. (not a@b.c, $5, #1, &#39;)")
    assertMatches(
      event,
      ["#caturday", "@nasa", "$TSLA", 'url_contains:"example.com/a#b"', "nasa has:links has:hashtags has:cashtags"],
      ["#b", "@b", "#1", "$5", "#39", 'url_contains:"b."']
    )
    assert.deepStrictEqual(event.keywords("x.mention"), ["nasa"])
    assert.deepStrictEqual(event.keywords("x.hashtag"), ["caturday"])
    assert.deepStrictEqual(event.keywords("x.url"), ["https://example.com/a#b"])
  })

  it("parses accented and Japanese hashtags", () => {
    assert.deepStrictEqual(post("#Año #東京 ＃猫").keywords("x.hashtag"), ["año", "東京", "猫"])
    assertMatches(post("#año"), ["#AÑO"], ["#ano"])
  })

  it("matches titles and descriptions of linked pages", () => {
    const urls = [{ url: "https://t.co/x", title: "Press Release: Moon", description: "Weather on the moon" }]
    const event = post("x", { entities: { urls } })
    assertMatches(
      event,
      ['url_title:"press release"', "url_description:weather"],
      ["url_title:weather", "url_description:press", "moon"]
    )
  })
})

describe("xEvent, accounts", () => {
  const includes = {
    users: [
      {
        id: "11",
        username: "NASA",
        name: "N.A.S.A. PhD",
        description: "Space software engineer",
        location: "The Big Apple",
        verified_type: "government",
        public_metrics: { followers_count: 1000, tweet_count: "50", following_count: 3, listed_count: 0 },
        affiliation: { url: "https://twitter.com/USGov", user_id: ["99"] }
      },
      { id: "12", username: "esa", verified: false, verified_type: "none" }
    ]
  }
  const event = post("hi @esa", { author_id: "11", in_reply_to_user_id: "12", conversation_id: "5" }, includes)

  it("matches author and addressee by username and by id", () => {
    assertMatches(
      event,
      ["from:nasa", "from:11", "to:ESA", "to:12", "hi is:reply is:verified", "conversation_id:5"],
      ["from:esa", "to:nasa", "hi is:retweet", "conversation_id:6", "retweets_of:nasa"]
    )
  })

  it("matches the author's profile and counters", () => {
    assertMatches(
      event,
      [
        'bio:"software engineer"',
        "bio_name:phd",
        'bio_location:"big apple"',
        "followers_count:1000",
        "followers_count:10..1000",
        "min_followers:1000",
        "tweets_count:50",
        "listed_count:0..0",
        "from_affiliate_of:usgov",
        "from_affiliate_of:99"
      ],
      [
        "bio:soft",
        "bio_name:dr",
        "followers_count:1001",
        "followers_count:1..999",
        "following_count:4",
        "to_affiliate_of:usgov"
      ]
    )
  })

  it("reads the username of an account from a mention", () => {
    const reply = post("@esa hi", {
      in_reply_to_user_id: "12",
      entities: { mentions: [{ username: "esa", id: "12" }] }
    })
    assertMatches(reply, ["to:esa", "to:12"], ["from:esa"])
  })

  it("has no counters without the author", () => {
    assertMatches(post("hi", { author_id: "11" }), ["from:11"], ["from:nasa", "followers_count:0", "bio:space"])
  })
})

describe("xEvent, quotes and retweets", () => {
  for (const [references, tweets] of [
    ["referenced_tweets", "tweets"],
    ["referenced_posts", "posts"]
  ] as const) {
    it(`includes the quoted original, in ${references} and ${tweets}`, () => {
      const event = post(
        "so true",
        { [references]: [{ type: "quoted", id: "9" }] },
        {
          [tweets]: [
            {
              id: "9",
              text: "Snow is white #winter",
              author_id: "3",
              geo: { place_id: "p" },
              in_reply_to_user_id: "4",
              entities: {
                hashtags: [{ tag: "winter" }],
                cashtags: [{ tag: "SNOW" }],
                mentions: [{ username: "alps" }],
                urls: [{ expanded_url: "https://x.com/a/status/9/photo/1" }]
              },
              attachments: { media_keys: ["3_1"] }
            }
          ],
          media: [{ media_key: "3_1", type: "photo" }]
        }
      )
      assertMatches(
        event,
        [
          "snow",
          '"is white"',
          '"snow white"~1',
          "#winter",
          "$snow",
          "@alps",
          "url:photo",
          "true has:links has:mentions has:hashtags has:cashtags has:media has:images",
          "true is:quote is:reply"
        ],
        ["true is:retweet", "from:3", "true has:geo", "true has:video_link"]
      )
    })
  }

  const retweet = (text: string) =>
    post(
      text,
      { author_id: "1", referenced_tweets: [{ type: "retweeted", id: "9" }], geo: { place_id: "p" } },
      {
        tweets: [{ id: "9", text: "The earthquake was felt in Lima", author_id: "3", in_reply_to_user_id: "8" }],
        users: [{ id: "3", username: "usgs" }],
        places: [{ id: "p", full_name: "Lima", country_code: "PE", geo: { bbox: [1, 1, 1, 1] } }]
      }
    )

  it("replaces the truncated text of a retweet by the text of its original", () => {
    const event = retweet("RT @usgs: The earthq…")
    assertMatches(
      event,
      [
        "earthquake",
        '"felt in lima"',
        "usgs",
        "retweets_of:usgs",
        "retweets_of:3",
        "retweets_of_tweet_id:9",
        "lima is:retweet is:reply"
      ],
      ["earthq", "lima is:quote", "from:usgs", "to:8", "retweets_of_tweet_id:8"]
    )
  })

  it("ignores truncated tags and links in the text of a retweet", () => {
    const event = post(
      "RT @usgs: see #earthq… https://t.co/ab…",
      { referenced_tweets: [{ type: "retweeted", id: "9" }] },
      { tweets: [{ id: "9", text: "see #earthquake https://t.co/abcdef" }] }
    )
    assert.deepStrictEqual(event.keywords("x.hashtag"), ["earthquake"])
    assert.deepStrictEqual(event.keywords("x.url"), ["https://t.co/abcdef"])
    assert.deepStrictEqual(event.keywords("x.mention"), ["usgs"])
  })

  it("does not match the place of a retweet", () => {
    assertMatches(retweet("RT @usgs: x"), ["lima"], ["place:lima", "place:p", "place_country:PE", "lima has:geo"])
    assert.deepStrictEqual(retweet("RT @usgs: x").places(), [])
  })

  it("treats a post as a retweet only if it references one, whatever its text", () => {
    assertMatches(post("RT @usgs: shake"), ["shake"], ["shake is:retweet", "retweets_of:usgs"])
  })

  it("reads the author of a retweeted post from the text if the post is not included", () => {
    const event = post("RT @usgs: shake", { referenced_tweets: [{ type: "retweeted", id: "9" }] })
    assertMatches(event, ["retweets_of:usgs", "shake is:retweet"], ["retweets_of:nasa"])
  })

  it("includes the quoted post of a retweet", () => {
    const event = post(
      "RT @a: look",
      { referenced_tweets: [{ type: "retweeted", id: "2" }] },
      {
        tweets: [
          { id: "2", text: "look", referenced_tweets: [{ type: "quoted", id: "3" }] },
          { id: "3", text: "comet" }
        ]
      }
    )
    assertMatches(event, ["comet is:quote is:retweet"], [])
  })

  it("matches the id of the post replied to", () => {
    const event = post("yes", { referenced_tweets: [{ type: "replied_to", id: "77" }] })
    assertMatches(event, ["in_reply_to_tweet_id:77", "yes is:reply"], ["in_reply_to_tweet_id:78", "yes is:quote"])
  })
})

describe("xEvent, other fields", () => {
  it("matches languages, apps and annotations", () => {
    const event = post("hi", {
      lang: "en",
      source: "Twitter for iPhone",
      context_annotations: [{ domain: { id: "47", name: "Brand" }, entity: { id: "1027", name: "Michael Jordan" } }],
      entities: { annotations: [{ normalized_text: "Barcelona" }] }
    })
    assertMatches(
      event,
      [
        "hi lang:en",
        'hi source:"twitter FOR iphone"',
        "context:47.1027",
        "context:47.*",
        "context:*.1027",
        'entity:"michael jordan"',
        "entity:barcelona"
      ],
      ["hi lang:de", "hi source:iphone", "context:4.*", "context:*.102", "entity:michael"]
    )
  })

  it("treats both Chinese scripts as plain zh", () => {
    for (const lang of ["zh", "zh-CN", "zh-TW"]) {
      assertMatches(post("hi", { lang }), ["hi lang:zh-CN", "hi lang:zh-TW"], ["hi lang:ja"])
    }
  })

  it("matches points and places that are wholly inside the area", () => {
    const bbox = [-105.28, 39.97, -105.2, 40.05]
    const boulder = { id: "AbC", full_name: "Boulder, CO", name: "Boulder", country_code: "US", geo: { bbox } }
    const inPlace = post("hi", { geo: { place_id: "AbC" } }, { places: [boulder] })
    assertMatches(
      inPlace,
      [
        "bounding_box:[-105.301758 39.964069 -105.178505 40.09455]",
        "point_radius:[-105.24 40.01 10km]",
        "place:boulder",
        'place:"boulder, co"',
        "place:abc",
        "place_country:us",
        "hi has:geo"
      ],
      [
        "bounding_box:[-105.27 39.964069 -105.178505 40.09455]",
        "bounding_box:[-105.301758 39.964069 -105.178505 40.04]",
        "point_radius:[-105.24 40.01 4km]",
        "place:bould",
        "place_country:CA"
      ]
    )
    const atPoint = post("hi", { geo: { coordinates: { type: "Point", coordinates: [2.3522, 48.8566] } } })
    assertMatches(
      atPoint,
      ["point_radius:[2.355128 48.861118 1km]", "point_radius:[2.355128 48.861118 0.4mi]", "hi has:geo"],
      ["point_radius:[2.355128 48.861118 0.5km]", "place_country:FR", "point_radius:[48.861118 2.355128 1km]"]
    )
  })

  it("distinguishes photos, videos and GIFs", () => {
    const withMedia = (type: string) =>
      post("hi", { attachments: { media_keys: ["k"] } }, { media: [{ media_key: "k", type }] })
    assertMatches(withMedia("photo"), ["hi has:media has:images"], ["hi has:video_link"])
    assertMatches(withMedia("video"), ["hi has:media has:video_link"], ["hi has:images"])
    assertMatches(withMedia("animated_gif"), ["hi has:media"], ["hi has:images", "hi has:video_link"])
    assertMatches(post("hi"), ["hi"], ["hi has:media", "hi has:links"])
    const linked = post("hi", { entities: { urls: [{ expanded_url: "https://x.com/a/status/1/video/1" }] } })
    assertMatches(linked, ["hi has:media has:video_link has:links"], ["hi has:images"])
  })

  it("samples deterministically by id, close to the percentage", () => {
    const ids = Array.from({ length: 5000 }, (_, index) => String(1_800_000_000_000_000_000n + BigInt(index)))
    const events = ids.map((id) => eventOf({ data: { id, text: "hi" } }))
    const kept = (percent: number) => {
      const expression = expressionOf(`hi sample:${percent}`)
      return events.filter((event) => evaluate(expression, event)).map(({ id }) => id)
    }
    const ten = kept(10)
    assert.deepStrictEqual(ten, kept(10))
    assert.isTrue(ten.length > 400 && ten.length < 600, String(ten.length))
    const twenty = new Set(kept(20))
    assert.isTrue(ten.every((id) => twenty.has(id)))
    assert.strictEqual(kept(100).length, ids.length)
  })
})

describe("xEvent, invalid records", () => {
  const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
    [undefined, /"data" is missing/],
    [null, /"data" is missing/],
    ["text", /"data" is missing/],
    [[], /"data" is missing/],
    [{}, /"data" is missing/],
    [{ data: [] }, /"data" is missing/],
    [{ data: {} }, /needs an "id", a text that is not empty/],
    [{ data: { id: 5, text: "x" } }, /needs an "id", a text that is not empty/],
    [{ data: { id: "", text: "x" } }, /needs an "id", a text that is not empty/],
    [{ data: { id: "5" } }, /no "text"/],
    [{ data: { id: "5", text: null } }, /no "text"/]
  ]
  for (const [record, message] of cases) {
    it(`refuses ${JSON.stringify(record)} with the reason`, () => {
      assert.match(Either.getOrThrow(Either.flip(xEvent(record))), message)
      assert.match(Either.getOrThrow(Either.flip(xEventId(record))), message)
    })
  }

  it("xEventId returns the id of the post", () => {
    assert.deepStrictEqual(xEventId({ data: { id: "5", text: "" } }), Either.right("5"))
    assert.strictEqual(eventOf({ data: { id: "5", text: "" } }).id, "5")
  })

  const names = [
    "entities hashtags mentions urls tag username url expanded_url referenced_tweets type id retweeted quoted text",
    "note_tweet geo place_id coordinates bbox attachments media_keys media users posts tweets places author_id lang",
    "public_metrics followers_count affiliation user_id context_annotations domain entity name __proto__ constructor"
  ].flatMap((line) => line.split(" "))
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown>(null, true, 0, -1, 1e308, "", "1", "retweeted", "quoted", "RT @a: b", "https://x.y/"),
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 5 })
    )
  })).value
  const texts: ReadonlyArray<Field> = ["x.text", "x.url", "x.url_title", "x.bio", "x.place", "firehose.title"]
  const keywords: ReadonlyArray<Field> = [
    "x.hashtag",
    "x.mention",
    "x.from",
    "x.to",
    "x.retweets_of",
    "x.from_affiliate_of",
    "x.to_affiliate_of",
    "x.url",
    "x.lang",
    "x.context",
    "x.entity",
    "x.place_id",
    "x.is",
    "x.has",
    "firehose.url"
  ]

  it("never throws", () => {
    fc.assert(
      fc.property(anything, anything, fc.string({ unit: "binary" }), (data, includes, text) => {
        xEvent(data)
        const record = { data: { ...(data as object), id: "1", text }, includes }
        const event = eventOf(record)
        for (const field of texts) for (const { words } of event.text(field)) assert.isArray(words)
        for (const field of keywords) for (const value of event.keywords(field)) assert.isString(value)
        event.number("x.followers_count")
        event.places()
      }),
      { numRuns: sized(250, 1_000) }
    )
  })

  it("reads long adversarial texts quickly", () => {
    for (const text of ["#", "@", "$", "https://", "https://.", "#_", "a#", "@a@", "https://a)))", "…"]) {
      const event = post(text.repeat(20_000))
      event.text("x.text")
      event.keywords("x.has")
    }
  })
})
