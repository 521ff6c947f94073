/** Reads the fields of a Bluesky post. Those that X's posts have, too, have the same names. */
import { Either } from "effect"
import { instantOf, numberOf, objectOf, textOf } from "../../text/json.ts"
import { type FieldReader, LazyFields, type PlatformEvent } from "../expression/eventFields.ts"
import type { Field } from "../expression/expression.ts"
import type { Tokens } from "../words/tokens.ts"
import { parseEntities } from "../x/entities.ts"
import { tokens, withPositions, writeWords } from "../x/tokens.ts"
import { authorOf, Post } from "./Post.ts"

/** Left is the reason why the record is not a post. */
export const blueskyEvent = (record: unknown): Either.Either<PlatformEvent, string> =>
  Either.map(postOf(record), (post) => new LazyFields(new PostReader(post)))

export const blueskyEventId = (record: unknown): Either.Either<string, string> =>
  Either.map(postOf(record), ({ uri }) => uri)

/** When the platform saw the post: its own time is the word of the client. In milliseconds. */
export const blueskyEventTime = (record: unknown): number | undefined => {
  const event = objectOf(record)
  const micros = numberOf(event?.["time_us"])
  return micros === undefined
    ? instantOf(objectOf(objectOf(event?.["commit"])?.["record"])?.["createdAt"])
    : Math.floor(micros / 1_000)
}

export const blueskyTitle = (record: unknown): string | undefined =>
  textOf(objectOf(objectOf(objectOf(record)?.["commit"])?.["record"])?.["text"])

// ---- helpers ----

const postOf = (record: unknown): Either.Either<Post, string> => {
  const post = Post.of(record)
  return typeof post === "string" ? Either.left(post) : Either.right(post)
}

class PostReader implements FieldReader {
  private readonly post: Post

  constructor(post: Post) {
    this.post = post
  }

  id(): string {
    return this.post.uri
  }

  analyse(text: string): Tokens {
    return withPositions(tokens(text))
  }

  writeWords(text: string): number {
    return writeWords(text)
  }

  texts(field: Field): ReadonlyArray<string> {
    const { post } = this
    switch (field) {
      case "x.text":
        return [post.text]
      case "x.url":
        return post.links
      case "x.url_title":
        return optional(textOf(post.external?.["title"]))
      case "x.url_description":
        return optional(textOf(post.external?.["description"]))
      case "bluesky.alt":
        return post.alts
      default:
        return empty
    }
  }

  values(field: Field): ReadonlyArray<string> {
    return this.ownValues(field).map((value) => value.toLowerCase())
  }

  private ownValues(field: Field): ReadonlyArray<string> {
    const { post } = this
    switch (field) {
      case "x.hashtag":
        return post.hashtags
      case "x.cashtag":
        return parseEntities(post.text).cashtags
      case "x.mention":
        return post.mentions.flatMap((did) => post.account(did))
      case "x.from":
        return post.account(post.did)
      case "x.to":
        return post.account(authorOf(post.repliedTo))
      case "x.url":
        return post.links
      case "x.lang":
        return post.languages
      case "x.conversation_id":
        return [post.conversation]
      case "x.in_reply_to_tweet_id":
        return optional(post.repliedTo)
      case "x.is":
        return this.kinds()
      case "x.has":
        return this.parts()
      case "bluesky.domain":
        return post.domains
      case "bluesky.quotes":
        return post.quoted === undefined ? empty : [post.quoted, ...post.account(authorOf(post.quoted))]
      case "bluesky.label":
        return post.labels
      default:
        return empty
    }
  }

  number(): undefined {
    return undefined
  }

  places(): ReadonlyArray<never> {
    return []
  }

  ageHours(): undefined {
    return undefined
  }

  /** Values for `is:`. */
  private kinds(): ReadonlyArray<string> {
    const { post } = this
    return [...(post.repliedTo === undefined ? [] : ["reply"]), ...(post.quoted === undefined ? [] : ["quote"])]
  }

  /** Values for `has:`. */
  private parts(): ReadonlyArray<string> {
    const { post } = this
    const hasImages = post.images.length > 0
    const { hasVideo } = post
    return [
      ...(post.hashtags.length > 0 ? ["hashtags"] : []),
      ...(parseEntities(post.text).cashtags.length > 0 ? ["cashtags"] : []),
      ...(post.links.length > 0 ? ["links"] : []),
      ...(post.mentions.length > 0 ? ["mentions"] : []),
      ...(hasImages || hasVideo ? ["media"] : []),
      ...(hasImages ? ["images"] : []),
      ...(hasVideo ? ["video_link"] : []),
      ...(post.alts.length > 0 ? ["alt"] : [])
    ]
  }
}

const empty: ReadonlyArray<string> = []

const optional = (value: string | undefined): ReadonlyArray<string> => (value === undefined ? empty : [value])
