import { assert, describe, it } from "@effect/vitest"
import { check, lower } from "../../../../core/syntax/x/language.ts"
import { withoutSpans } from "./trees.ts"

const lowered = (text: string): unknown => {
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
const withCat = (clause: unknown) => ({ _tag: "And", clauses: [phrase("x.text", ["cat"]), clause] })

describe("lower", () => {
  it.each([
    { rule: "Snow", expression: phrase("x.text", ["snow"]) },
    { rule: "coca-cola", expression: phrase("x.text", ["coca", "cola"]) },
    { rule: '"Happy birthday, you"', expression: phrase("x.text", ["happy", "birthday", "you"]) },
    { rule: '"happy birthday"~3', expression: phrase("x.text", ["happy", "birthday"], 3) },
    { rule: '"❤️"', expression: phrase("x.text", ["❤"]) },
    { rule: "#Foo_Bar", expression: equals("x.hashtag", "foo_bar") },
    { rule: "@NASA", expression: equals("x.mention", "nasa") },
    { rule: "$BRK.A", expression: equals("x.cashtag", "brk.a") },
    { rule: "from:NASA", expression: equals("x.from", "nasa") },
    { rule: "to:123", expression: equals("x.to", "123") },
    { rule: "retweets_of_user:nasa", expression: equals("x.retweets_of", "nasa") },
    { rule: "from_affiliate_of:nasa", expression: equals("x.from_affiliate_of", "nasa") },
    { rule: "to_affiliate_of:nasa", expression: equals("x.to_affiliate_of", "nasa") },
    { rule: 'url:"https://Example.com/a"', expression: phrase("x.url", ["https", "example", "com", "a"]) },
    { rule: "url_title:News", expression: phrase("x.url_title", ["news"]) },
    { rule: "url_description:News", expression: phrase("x.url_description", ["news"]) },
    { rule: 'url_contains:"/A-b"', expression: { _tag: "Contains", field: "x.url", text: "/a-b" } },
    { rule: "bio:Teacher", expression: phrase("x.bio", ["teacher"]) },
    { rule: "bio_name:PhD", expression: phrase("x.bio_name", ["phd"]) },
    { rule: 'bio_location:"Big Apple"', expression: phrase("x.bio_location", ["big", "apple"]) },
    {
      rule: 'place:"New York"',
      expression: { _tag: "Or", clauses: [phrase("x.place", ["new", "york"]), equals("x.place_id", "new york")] }
    },
    { rule: "place_country:US", expression: equals("x.place_country", "us") },
    { rule: "context:10.20", expression: equals("x.context", "10.20") },
    {
      rule: "context:47.*",
      expression: { _tag: "Wildcard", field: "x.context", over: "values", parts: ["47.", { sign: "*" }] }
    },
    {
      rule: "context:*.20",
      expression: { _tag: "Wildcard", field: "x.context", over: "values", parts: [{ sign: "*" }, ".20"] }
    },
    { rule: 'entity:"Michael Jordan"', expression: equals("x.entity", "michael jordan") },
    { rule: "conversation_id:12", expression: equals("x.conversation_id", "12") },
    { rule: "in_reply_to_status_id:12", expression: equals("x.in_reply_to_tweet_id", "12") },
    { rule: "retweets_of_tweet_id:12", expression: equals("x.retweets_of_tweet_id", "12") },
    { rule: "followers_count:500", expression: range("x.followers_count", 500) },
    { rule: "followers_count:1000..10000", expression: range("x.followers_count", 1000, 10000) },
    { rule: "statuses_count:5", expression: range("x.tweets_count", 5) },
    { rule: "friends_count:5", expression: range("x.following_count", 5) },
    { rule: "user_in_lists_count:5", expression: range("x.listed_count", 5) },
    { rule: "min_followers:5", expression: range("x.followers_count", 5) },
    {
      rule: "point_radius:[2.5 48.5 16km]",
      expression: { _tag: "Radius", longitude: 2.5, latitude: 48.5, kilometres: 16 }
    },
    {
      rule: "point_radius:[2.5 48.5 10mi]",
      expression: { _tag: "Radius", longitude: 2.5, latitude: 48.5, kilometres: 16.09344 }
    },
    {
      rule: "bounding_box:[-105.3 39.9 -105.1 40.1]",
      expression: { _tag: "Box", west: -105.3, south: 39.9, east: -105.1, north: 40.1 }
    },
    { rule: "cat lang:EN", expression: withCat(equals("x.lang", "en")) },
    { rule: "cat lang:zh-CN", expression: withCat(equals("x.lang", "zh")) },
    { rule: "cat lang:zh-TW", expression: withCat(equals("x.lang", "zh")) },
    { rule: "cat has:videos", expression: withCat(equals("x.has", "video_link")) },
    { rule: "cat has:media_link", expression: withCat(equals("x.has", "media")) },
    { rule: "cat IS:Retweet", expression: withCat(equals("x.is", "retweet")) },
    { rule: 'cat source:"Twitter for iPhone"', expression: withCat(equals("x.source", "twitter for iphone")) },
    { rule: "cat sample:10", expression: withCat({ _tag: "Sample", percent: 10 }) },
    { rule: "cat -#dog", expression: withCat({ _tag: "Not", clause: equals("x.hashtag", "dog") }) },
    {
      rule: "cat OR #dog",
      expression: { _tag: "Or", clauses: [phrase("x.text", ["cat"]), equals("x.hashtag", "dog")] }
    }
  ])("lowers $rule", ({ rule, expression }) => {
    assert.deepStrictEqual(lowered(rule), expression)
  })

  it("keeps the span of every clause", () => {
    const { rule } = check("cat -from:nasa")
    assert.isDefined(rule)
    const expression = lower(rule.ast)
    assert.deepStrictEqual(expression._tag === "And" && expression.clauses.map(({ span }) => span), [
      { start: 0, end: 3 },
      { start: 4, end: 14 }
    ])
  })
})
