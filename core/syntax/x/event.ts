/** Reads the fields of a record of X's stream, `{data, includes}`. Accepts both the tweet and the post field names. */
import { Either } from "effect"
import { instantOf, type JsonObject, numberOf, objectOf, objectsOf, textOf } from "../../text/json.ts"
import type { Pace, Turns } from "../../work/turns.ts"
import { type FieldReader, LazyFields, type PlatformEvent } from "../expression/eventFields.ts"
import type { Field } from "../expression/expression.ts"
import type { Tokens } from "../words/tokens.ts"
import { Post } from "./Post.ts"
import { analyseInTurns, tokens, withPositions, writeWords } from "./tokens.ts"

/** Left is the reason why the record is not a post. */
export const xEvent = (record: unknown): Either.Either<PlatformEvent, string> =>
  Either.map(
    postOf(record),
    (post) => new LazyFields(new PostReader(new Post(post, objectOf(objectOf(record)?.["includes"]) ?? {})))
  )

export const xEventId = (record: unknown): Either.Either<string, string> =>
  Either.map(postOf(record), (post) => textOf(post["id"]) ?? "")

/** Creation time of the post, in milliseconds. */
export const xEventTime = (record: unknown): number | undefined =>
  instantOf(objectOf(objectOf(record)?.["data"])?.["created_at"])

// ---- helpers ----

const postOf = (record: unknown): Either.Either<JsonObject, string> => {
  const post = objectOf(objectOf(record)?.["data"])
  if (post === undefined) {
    return Either.left('Not an X post: "data" is missing (an object with "id" and "text")')
  }
  if (textOf(post["id"]) === undefined) {
    return Either.left('Not an X post: "data" needs an "id", a text that is not empty')
  }
  return typeof post["text"] === "string" ? Either.right(post) : Either.left('Not an X post: "data" has no "text"')
}

class PostReader implements FieldReader {
  private readonly post: Post

  constructor(post: Post) {
    this.post = post
  }

  id(): string {
    return textOf(this.post.data["id"]) ?? ""
  }

  analyse(text: string): Tokens {
    return withPositions(tokens(text))
  }

  analyseInTurns(text: string, _: Field, pace: Pace): Turns<Tokens> {
    return analyseInTurns(text, pace)
  }

  writeWords(text: string): number {
    return writeWords(text)
  }

  texts(field: Field): ReadonlyArray<string> {
    const { post } = this
    switch (field) {
      case "x.text":
        return post.texts
      case "x.url":
        return post.urls
      case "x.url_title":
        return present(post.links.map((link) => link.title))
      case "x.url_description":
        return present(post.links.map((link) => link.description))
      case "x.bio":
        return optional(textOf(post.author?.["description"]))
      case "x.bio_name":
        return optional(textOf(post.author?.["name"]))
      case "x.bio_location":
        return optional(textOf(post.author?.["location"]))
      case "x.place":
        return present([textOf(post.place?.["full_name"]), textOf(post.place?.["name"])])
      default:
        return empty
    }
  }

  values(field: Field): ReadonlyArray<string> {
    const { post } = this
    switch (field) {
      case "x.hashtag":
        return post.hashtags.map(lower)
      case "x.mention":
        return post.mentions.map(({ username }) => lower(username))
      case "x.cashtag":
        return post.cashtags.map(lower)
      case "x.from":
        return post.account(textOf(post.data["author_id"])).map(lower)
      case "x.to":
        return post.account(post.repliedTo).map(lower)
      case "x.retweets_of":
        return post.retweetedAuthor().map(lower)
      case "x.from_affiliate_of":
        return post.affiliations(textOf(post.data["author_id"])).map(lower)
      case "x.to_affiliate_of":
        return post.affiliations(post.repliedTo).map(lower)
      case "x.url":
        return post.urls.map(lower)
      case "x.lang":
        return optional(languageOf(post.data))
      case "x.source":
        return optional(textOf(post.data["source"])).map(lower)
      case "x.context":
        return this.annotations().flatMap((annotation) => {
          const domain = textOf(objectOf(annotation["domain"])?.["id"])
          const entity = textOf(objectOf(annotation["entity"])?.["id"])
          return domain === undefined || entity === undefined ? [] : [`${domain}.${entity}`]
        })
      case "x.entity":
        return [
          ...present(this.annotations().map((annotation) => textOf(objectOf(annotation["entity"])?.["name"]))),
          ...post.contents.flatMap(({ entities }) => entities.annotations)
        ].map(lower)
      case "x.conversation_id":
        return optional(textOf(post.data["conversation_id"]))
      case "x.place_id":
        return optional(post.placeId).map(lower)
      case "x.place_country":
        return optional(textOf(post.place?.["country_code"])).map(lower)
      case "x.in_reply_to_tweet_id":
        return optional(post.repliedId)
      case "x.retweets_of_tweet_id":
        return optional(post.retweetedId)
      case "x.is":
        return post.kinds()
      case "x.has":
        return post.parts()
      default:
        return empty
    }
  }

  number(field: Field): number | undefined {
    const metrics = objectOf(this.post.author?.["public_metrics"])
    switch (field) {
      case "x.followers_count":
        return numberOf(metrics?.["followers_count"])
      case "x.tweets_count":
        return numberOf(metrics?.["tweet_count"] ?? metrics?.["post_count"])
      case "x.following_count":
        return numberOf(metrics?.["following_count"])
      case "x.listed_count":
        return numberOf(metrics?.["listed_count"])
      default:
        return undefined
    }
  }

  places() {
    return this.post.areas
  }

  ageHours(): undefined {
    return undefined
  }

  private annotations(): ReadonlyArray<JsonObject> {
    return objectsOf(this.post.data["context_annotations"])
  }
}

const empty: ReadonlyArray<string> = []

const optional = (value: string | undefined): ReadonlyArray<string> => (value === undefined ? empty : [value])

const present = <A>(values: ReadonlyArray<A | undefined>): ReadonlyArray<A> =>
  values.filter((value) => value !== undefined)

/** Rules for both Chinese scripts lower to plain zh. */
const languageOf = (post: JsonObject): string | undefined => {
  const language = textOf(post["lang"])?.toLowerCase()
  return language?.startsWith("zh-") ? "zh" : language
}

const lower = (text: string): string => text.toLowerCase()
