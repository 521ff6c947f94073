/** The part of a post that a connection asked for, in the words of its vocabulary. */
import { type JsonObject, objectOf, objectsOf } from "../../../core/syntax/json.ts"
import type { Published } from "./XState.ts"

export interface Fields {
  readonly lists: Readonly<Record<FieldList, ReadonlySet<string>>>
  /** The call used `post.fields`. */
  readonly isPostWords: boolean
}

export const FIELD_LISTS = {
  "tweet.fields":
    words(`article attachments author_id card_uri community_id context_annotations conversation_id created_at
    display_text_range edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang matched_media_notes
    media_metadata non_public_metrics note_request_suggestions note_tweet organic_metrics paid_partnership
    possibly_sensitive promoted_metrics public_metrics referenced_tweets reply_settings scopes source
    suggested_source_links suggested_source_links_with_counts text withheld`),
  expansions: words(`article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet
    attachments.poll_ids author_id edit_history_tweet_ids entities.mentions.username geo.place_id in_reply_to_user_id
    entities.note.mentions.username referenced_tweets.id referenced_tweets.id.attachments.media_keys
    referenced_tweets.id.author_id`),
  "user.fields": words(`affiliation confirmed_email connection_status created_at description entities id
    is_identity_verified location most_recent_tweet_id name parody pinned_tweet_id profile_banner_url profile_image_url
    protected public_metrics receives_your_dm subscription subscription_type url username verified
    verified_followers_count verified_type withheld`),
  "media.fields": words(`alt_text duration_ms height media_key non_public_metrics organic_metrics preview_image_url
    promoted_metrics public_metrics type url variants width`),
  "place.fields": words("contained_within country country_code full_name geo id name place_type"),
  "poll.fields": words("duration_minutes end_datetime id options voting_status")
} as const

export type FieldList = keyof typeof FIELD_LISTS

export const recordOf = (
  { payload, matchingRules }: Published,
  fields: Fields,
  vocabulary: "tweet" | "post"
): JsonObject => {
  const { lists } = fields
  const data = objectOf(payload["data"]) ?? {}
  const includes = includesOf(data, objectOf(payload["includes"]) ?? {}, lists)
  const record = {
    data: picked(data, lists["tweet.fields"], DEFAULTS.tweets),
    ...(Object.keys(includes).length > 0 && { includes }),
    matching_rules: matchingRules,
    // Of a post that could not be filled in whole; it is no end of the stream.
    ...(Array.isArray(payload["errors"]) && { errors: payload["errors"] })
  }
  return fields.isPostWords || vocabulary === "post" ? inPostWords(record) : record
}

// ---- helpers ----

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

const DEFAULTS = {
  tweets: ["id", "text", "edit_history_tweet_ids"],
  users: ["id", "name", "username"],
  media: ["media_key", "type"],
  places: ["id", "full_name"],
  polls: ["id", "options"]
} as const

const picked = (object: JsonObject, asked: ReadonlySet<string>, defaults: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => asked.has(name) || defaults.includes(name)))

const includesOf = (data: JsonObject, includes: JsonObject, lists: Fields["lists"]): JsonObject => {
  const { expansions } = lists
  const some = (list: keyof typeof DEFAULTS, isWanted: (item: JsonObject) => boolean, asked: FieldList) => {
    const found = objectsOf(includes[list]).filter(isWanted)
    return found.length === 0 ? {} : { [list]: found.map((item) => picked(item, lists[asked], DEFAULTS[list])) }
  }
  const mentions = objectsOf(objectOf(data["entities"])?.["mentions"]).map(({ username }) => username)
  const authors = objectsOf(includes["tweets"]).map((tweet) => tweet["author_id"])
  const isUserWanted = ({ id, username }: JsonObject): boolean =>
    (expansions.has("author_id") && id === data["author_id"]) ||
    (expansions.has("in_reply_to_user_id") && id === data["in_reply_to_user_id"]) ||
    (expansions.has("entities.mentions.username") && mentions.includes(username)) ||
    (expansions.has("referenced_tweets.id.author_id") && authors.includes(id))
  return {
    ...some("users", isUserWanted, "user.fields"),
    ...some("tweets", () => expansions.has("referenced_tweets.id"), "tweet.fields"),
    ...some("media", () => expansions.has("attachments.media_keys"), "media.fields"),
    ...some("places", () => expansions.has("geo.place_id"), "place.fields"),
    ...some("polls", () => expansions.has("attachments.poll_ids"), "poll.fields")
  }
}

const POST_WORDS: Readonly<Record<string, string>> = {
  edit_history_tweet_ids: "edit_history_post_ids",
  referenced_tweets: "referenced_posts",
  tweets: "posts"
}

const renamed = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [POST_WORDS[name] ?? name, value]))

const inPostWords = (record: JsonObject): JsonObject => {
  const includes = objectOf(record["includes"])
  return {
    ...record,
    data: renamed(objectOf(record["data"]) ?? {}),
    ...(includes !== undefined && {
      includes: renamed({
        ...includes,
        ...(includes["tweets"] !== undefined && { tweets: objectsOf(includes["tweets"]).map(renamed) })
      })
    })
  }
}
