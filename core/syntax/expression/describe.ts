/** Describes a clause of a rule in one line. */
import type { Bound, Expression, KeywordField, NumberField, Predicate, TextField, WildcardSign } from "./expression.ts"

/** An expression without clauses: a predicate or a constant. */
export type Leaf = Predicate | (Expression & { readonly _tag: "Everything" | "Nothing" })

export const describe = (leaf: Leaf): string => {
  switch (leaf._tag) {
    case "Everything":
      return "Any event at all"
    case "Nothing":
      return "No event: this part of the rule cannot match"
    case "Phrase":
      return phrase(leaf)
    case "Wildcard":
      return `${subject(leaf.field)} fits the pattern ${quoted(patternOf(leaf.parts))}`
    case "Fuzzy":
      return `${subject(leaf.field)} is spelled like ${quoted(leaf.word)}, with at most ${count(leaf.distance, "edit")}`
    case "Regex":
      return `${subject(leaf.field)} fits the regular expression ${quoted(leaf.pattern)}`
    case "Equals":
      return equals(leaf.field, leaf.value)
    case "Contains":
      return `${keywordNames[leaf.field]} contains ${quoted(leaf.text)}`
    case "NumberRange":
      return `${numberNames[leaf.field]} is ${range(leaf.from, leaf.to, String)}`
    case "KeywordRange":
      return `${keywordNames[leaf.field]} is ${range(leaf.from, leaf.to, quoted)}`
    case "Radius":
      return `The post is from within ${leaf.kilometres} km of longitude ${leaf.longitude}, latitude ${leaf.latitude}`
    case "Box":
      return `The post is from between longitudes ${leaf.west} and ${leaf.east}, latitudes ${leaf.south} and ${leaf.north}`
    case "Sample":
      return `The post is in the fixed sample of ${leaf.percent} percent`
    case "Recent":
      return `The page was published at most ${count(leaf.hours, "hour")} before it was matched`
  }
}

// ---- helpers ----

const textNames: Readonly<Record<TextField, string>> = {
  "x.text": "the text of the post",
  "x.url": "a link of the post",
  "x.url_title": "the title of a linked page",
  "x.url_description": "the description of a linked page",
  "x.bio": "the profile of the author",
  "x.bio_name": "the display name of the author",
  "x.bio_location": "the profile location of the author",
  "x.place": "the name of the place of the post",
  "firehose.added": "text that the page gained",
  "firehose.removed": "text that the page lost",
  "firehose.added_anchor": "a link text that the page gained",
  "firehose.removed_anchor": "a link text that the page lost",
  "firehose.title": "the title of the page"
}

const keywordNames: Readonly<Record<KeywordField, string>> = {
  "x.hashtag": "A hashtag of the post",
  "x.mention": "An account mentioned in the post",
  "x.cashtag": "A cashtag of the post",
  "x.from": "The author",
  "x.to": "The account replied to",
  "x.retweets_of": "The author of the retweeted post",
  "x.from_affiliate_of": "An account the author is affiliated with",
  "x.to_affiliate_of": "An account affiliated with the one replied to",
  "x.url": "A link of the post",
  "x.lang": "The language of the post",
  "x.source": "The app of the post",
  "x.context": "A context annotation of the post",
  "x.entity": "An entity recognised in the post",
  "x.conversation_id": "The conversation of the post",
  "x.place_id": "The place id of the post",
  "x.place_country": "The country of the place of the post",
  "x.in_reply_to_tweet_id": "The post replied to",
  "x.retweets_of_tweet_id": "The retweeted post",
  "x.is": "The kind of post",
  "x.has": "A part of the post",
  "firehose.url": "The address of the page",
  "firehose.domain": "The domain of the page",
  "firehose.publish_time": "The publication time of the page",
  "firehose.page_category": "A category of the page",
  "firehose.page_type": "A type of the page",
  "firehose.language": "The language of the page"
}

const numberNames: Readonly<Record<NumberField, string>> = {
  "x.followers_count": "The number of the author's followers",
  "x.tweets_count": "The number of the author's posts",
  "x.following_count": "The number of accounts the author follows",
  "x.listed_count": "The number of lists with the author on them",
  "firehose.dr": "The Domain Rating of the site"
}

const phrase = ({ words, slop, field }: Predicate & { readonly _tag: "Phrase" }): string => {
  const where = textNames[field]
  const text = quoted(words.join(" "))
  if (words.length === 1) {
    return `The word ${text} in ${where}`
  }
  return slop === 0
    ? `The phrase ${text} in ${where}`
    : `The phrase ${text} in ${where}, with a slop of ${count(slop, "position")}`
}

const equals = (field: KeywordField, value: string): string => {
  switch (field) {
    case "x.is":
      return value === "verified" ? "The author is verified" : `The post is a ${value}`
    case "x.has":
      return `The post has ${value === "video_link" ? "video" : value}`
    default:
      return `${keywordNames[field]} is ${quoted(value)}`
  }
}

const subject = (field: TextField | KeywordField): string =>
  isKeyword(field) ? keywordNames[field] : `A word in ${textNames[field]}`

const isKeyword = (field: TextField | KeywordField): field is KeywordField => Object.hasOwn(keywordNames, field)

const range = <A>(from: Bound<A> | undefined, to: Bound<A> | undefined, show: (value: A) => string): string => {
  const low = from && `${from.inclusive ? "at least" : "over"} ${show(from.value)}`
  const high = to && `${to.inclusive ? "at most" : "under"} ${show(to.value)}`
  if (from !== undefined && to !== undefined && from.inclusive && to.inclusive && from.value === to.value) {
    return show(from.value)
  }
  return [low, high].filter((side) => side !== undefined).join(" and ") || "known"
}

const patternOf = (parts: ReadonlyArray<string | WildcardSign>): string =>
  parts.map((part) => (typeof part === "string" ? part : part.sign)).join("")

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? "" : "s"}`

/** Quoted, on one line, and truncated. */
const quoted = (text: string): string => {
  const plain = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\u202a-\u202e\u2066-\u2069]/gu, " ")
  const characters = [...plain.slice(0, 2 * MAX_LENGTH + 2)]
  return `"${characters.length > MAX_LENGTH ? `${characters.slice(0, MAX_LENGTH).join("")}…` : plain}"`
}

const MAX_LENGTH = 100
