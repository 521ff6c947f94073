import { assert, describe, it } from "@effect/vitest"
import { check, lower } from "../../../../core/syntax/x/language.ts"
import { withoutSpans } from "./trees.ts"

const meaning = (text: string): unknown => {
  const { rule, issues } = check(text)
  assert.isDefined(rule, JSON.stringify(issues))
  return withoutSpans(lower(rule.ast))
}

const phrase = (field: string, words: ReadonlyArray<string>, slop = 0) => ({ _tag: "Phrase", field, words, slop })
const equals = (field: string, value: string) => ({ _tag: "Equals", field, value })
const range = (field: string, from: number, to?: number) => ({
  _tag: "NumberRange",
  field,
  from: { value: from, inclusive: true },
  to: to === undefined ? undefined : { value: to, inclusive: true }
})
const beside = (clause: unknown) => ({ _tag: "And", clauses: [phrase("x.text", ["cat"]), clause] })

describe("lower", () => {
  it.each([
    { rule: "Snow", means: phrase("x.text", ["snow"]) },
    { rule: "coca-cola", means: phrase("x.text", ["coca", "cola"]) },
    { rule: '"Happy birthday, you"', means: phrase("x.text", ["happy", "birthday", "you"]) },
    { rule: '"happy birthday"~3', means: phrase("x.text", ["happy", "birthday"], 3) },
    { rule: '"❤️"', means: phrase("x.text", ["❤"]) },
    { rule: "#Foo_Bar", means: equals("x.hashtag", "foo_bar") },
    { rule: "@NASA", means: equals("x.mention", "nasa") },
    { rule: "$BRK.A", means: equals("x.cashtag", "brk.a") },
    { rule: "from:NASA", means: equals("x.from", "nasa") },
    { rule: "to:123", means: equals("x.to", "123") },
    { rule: "retweets_of_user:nasa", means: equals("x.retweets_of", "nasa") },
    { rule: "from_affiliate_of:nasa", means: equals("x.from_affiliate_of", "nasa") },
    { rule: "to_affiliate_of:nasa", means: equals("x.to_affiliate_of", "nasa") },
    { rule: 'url:"https://Example.com/a"', means: phrase("x.url", ["https", "example", "com", "a"]) },
    { rule: "url_title:News", means: phrase("x.url_title", ["news"]) },
    { rule: "url_description:News", means: phrase("x.url_description", ["news"]) },
    { rule: 'url_contains:"/A-b"', means: { _tag: "Contains", field: "x.url", text: "/a-b" } },
    { rule: "bio:Teacher", means: phrase("x.bio", ["teacher"]) },
    { rule: "bio_name:PhD", means: phrase("x.bio_name", ["phd"]) },
    { rule: 'bio_location:"Big Apple"', means: phrase("x.bio_location", ["big", "apple"]) },
    {
      rule: 'place:"New York"',
      means: { _tag: "Or", clauses: [phrase("x.place", ["new", "york"]), equals("x.place_id", "new york")] }
    },
    { rule: "place_country:US", means: equals("x.place_country", "us") },
    { rule: "context:10.20", means: equals("x.context", "10.20") },
    { rule: "context:47.*", means: { _tag: "Wildcard", field: "x.context", parts: ["47.", { sign: "*" }] } },
    { rule: "context:*.20", means: { _tag: "Wildcard", field: "x.context", parts: [{ sign: "*" }, ".20"] } },
    { rule: 'entity:"Michael Jordan"', means: equals("x.entity", "michael jordan") },
    { rule: "conversation_id:12", means: equals("x.conversation_id", "12") },
    { rule: "in_reply_to_status_id:12", means: equals("x.in_reply_to_tweet_id", "12") },
    { rule: "retweets_of_tweet_id:12", means: equals("x.retweets_of_tweet_id", "12") },
    { rule: "followers_count:500", means: range("x.followers_count", 500) },
    { rule: "followers_count:1000..10000", means: range("x.followers_count", 1000, 10000) },
    { rule: "statuses_count:5", means: range("x.tweets_count", 5) },
    { rule: "friends_count:5", means: range("x.following_count", 5) },
    { rule: "user_in_lists_count:5", means: range("x.listed_count", 5) },
    { rule: "min_followers:5", means: range("x.followers_count", 5) },
    {
      rule: "point_radius:[2.5 48.5 16km]",
      means: { _tag: "Radius", longitude: 2.5, latitude: 48.5, kilometres: 16 }
    },
    {
      rule: "point_radius:[2.5 48.5 10mi]",
      means: { _tag: "Radius", longitude: 2.5, latitude: 48.5, kilometres: 16.09344 }
    },
    {
      rule: "bounding_box:[-105.3 39.9 -105.1 40.1]",
      means: { _tag: "Box", west: -105.3, south: 39.9, east: -105.1, north: 40.1 }
    },
    { rule: "cat lang:EN", means: beside(equals("x.lang", "en")) },
    { rule: "cat lang:zh-CN", means: beside(equals("x.lang", "zh")) },
    { rule: "cat lang:zh-TW", means: beside(equals("x.lang", "zh")) },
    { rule: "cat has:videos", means: beside(equals("x.has", "video_link")) },
    { rule: "cat has:media_link", means: beside(equals("x.has", "media")) },
    { rule: "cat IS:Retweet", means: beside(equals("x.is", "retweet")) },
    { rule: 'cat source:"Twitter for iPhone"', means: beside(equals("x.source", "twitter for iphone")) },
    { rule: "cat sample:10", means: beside({ _tag: "Sample", percent: 10 }) },
    { rule: "cat -#dog", means: beside({ _tag: "Not", clause: equals("x.hashtag", "dog") }) },
    {
      rule: "cat OR #dog",
      means: { _tag: "Or", clauses: [phrase("x.text", ["cat"]), equals("x.hashtag", "dog")] }
    }
  ])("says what $rule means", ({ rule, means }) => {
    assert.deepStrictEqual(meaning(rule), means)
  })

  it("keeps the place of every clause", () => {
    const { rule } = check("cat -from:nasa")
    assert.isDefined(rule)
    const expression = lower(rule.ast)
    assert.deepStrictEqual(expression._tag === "And" && expression.clauses.map(({ span }) => span), [
      { start: 0, end: 3 },
      { start: 4, end: 14 }
    ])
  })
})
