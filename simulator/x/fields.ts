/** Selects the fields of a post that a connection requested. */
import { type JsonObject, objectOf, objectsOf } from "../../core/text/json.ts"
import type { MatchedPost } from "./XState.ts"

export interface Fields {
  readonly lists: Readonly<Record<FieldList, ReadonlySet<string>>>
  /** The call used `post.fields`. */
  readonly usesPostNames: boolean
}

export const fieldLists = {
  "tweet.fields":
    names(`article attachments author_id card_uri community_id context_annotations conversation_id created_at
    display_text_range edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang matched_media_notes
    media_metadata non_public_metrics note_request_suggestions note_tweet organic_metrics paid_partnership
    possibly_sensitive promoted_metrics public_metrics referenced_tweets reply_settings scopes source
    suggested_source_links suggested_source_links_with_counts text withheld`),
  expansions: names(`article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet
    attachments.poll_ids author_id edit_history_tweet_ids entities.mentions.username geo.place_id in_reply_to_user_id
    entities.note.mentions.username referenced_tweets.id referenced_tweets.id.attachments.media_keys
    referenced_tweets.id.author_id`),
  "user.fields": names(`affiliation confirmed_email connection_status created_at description entities id
    is_identity_verified location most_recent_tweet_id name parody pinned_tweet_id profile_banner_url profile_image_url
    protected public_metrics receives_your_dm subscription subscription_type url username verified
    verified_followers_count verified_type withheld`),
  "media.fields": names(`alt_text duration_ms height media_key non_public_metrics organic_metrics preview_image_url
    promoted_metrics public_metrics type url variants width`),
  "place.fields": names("contained_within country country_code full_name geo id name place_type"),
  "poll.fields": names("duration_minutes end_datetime id options voting_status")
} as const

export type FieldList = keyof typeof fieldLists

export const recordOf = (
  { payload, matchingRules }: MatchedPost,
  fields: Fields,
  vocabulary: "tweet" | "post"
): JsonObject => {
  const { lists } = fields
  const data = objectOf(payload["data"]) ?? {}
  const includes = includesOf(data, objectOf(payload["includes"]) ?? {}, lists)
  const record = {
    data: pick(data, lists["tweet.fields"], defaultFields.tweets),
    ...(Object.keys(includes).length > 0 && { includes }),
    matching_rules: matchingRules,
    // Errors of a partly expanded post. They do not end the stream.
    ...(Array.isArray(payload["errors"]) && { errors: payload["errors"] })
  }
  return fields.usesPostNames || vocabulary === "post" ? withPostNames(record) : record
}

// ---- helpers ----

function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

const defaultFields = {
  tweets: ["id", "text", "edit_history_tweet_ids"],
  users: ["id", "name", "username"],
  media: ["media_key", "type"],
  places: ["id", "full_name"],
  polls: ["id", "options"]
} as const

const pick = (object: JsonObject, requested: ReadonlySet<string>, defaults: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => requested.has(name) || defaults.includes(name)))

const includesOf = (data: JsonObject, includes: JsonObject, lists: Fields["lists"]): JsonObject => {
  const { expansions } = lists
  const include = (list: keyof typeof defaultFields, isWanted: (item: JsonObject) => boolean, fields: FieldList) => {
    const found = objectsOf(includes[list]).filter(isWanted)
    return found.length === 0 ? {} : { [list]: found.map((item) => pick(item, lists[fields], defaultFields[list])) }
  }
  const mentions = objectsOf(objectOf(data["entities"])?.["mentions"]).map(({ username }) => username)
  const authors = objectsOf(includes["tweets"]).map((tweet) => tweet["author_id"])
  const isUserWanted = ({ id, username }: JsonObject): boolean =>
    (expansions.has("author_id") && id === data["author_id"]) ||
    (expansions.has("in_reply_to_user_id") && id === data["in_reply_to_user_id"]) ||
    (expansions.has("entities.mentions.username") && mentions.includes(username)) ||
    (expansions.has("referenced_tweets.id.author_id") && authors.includes(id))
  return {
    ...include("users", isUserWanted, "user.fields"),
    ...include("tweets", () => expansions.has("referenced_tweets.id"), "tweet.fields"),
    ...include("media", () => expansions.has("attachments.media_keys"), "media.fields"),
    ...include("places", () => expansions.has("geo.place_id"), "place.fields"),
    ...include("polls", () => expansions.has("attachments.poll_ids"), "poll.fields")
  }
}

const postNames: Readonly<Record<string, string>> = {
  edit_history_tweet_ids: "edit_history_post_ids",
  referenced_tweets: "referenced_posts",
  tweets: "posts"
}

const rename = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [postNames[name] ?? name, value]))

const withPostNames = (record: JsonObject): JsonObject => {
  const includes = objectOf(record["includes"])
  return {
    ...record,
    data: rename(objectOf(record["data"]) ?? {}),
    ...(includes !== undefined && {
      includes: rename({
        ...includes,
        ...(includes["tweets"] !== undefined && { tweets: objectsOf(includes["tweets"]).map(rename) })
      })
    })
  }
}
