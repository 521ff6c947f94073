/** The form of a record of X's stream, for documentation and client types. Unknown fields are allowed. */
import { Schema } from "effect"
import { list, open, optional } from "../expression/openSchema.ts"

const Text = optional(Schema.String)
const Count = optional(Schema.Number)

const Post = open({
  id: Schema.String,
  text: Schema.String.annotations({ description: "Truncated for a long post: note_tweet has the whole text" }),
  note_tweet: optional(open({ text: Text })),
  author_id: Text,
  created_at: Text,
  lang: Text,
  conversation_id: Text,
  in_reply_to_user_id: Text,
  possibly_sensitive: optional(Schema.Boolean),
  referenced_tweets: list(open({ id: Schema.String, type: Schema.String })),
  edit_history_tweet_ids: list(Schema.String),
  entities: optional(
    open({
      hashtags: list(open({ tag: Schema.String })),
      cashtags: list(open({ tag: Schema.String })),
      mentions: list(open({ username: Schema.String })),
      urls: list(open({ url: Schema.String, expanded_url: Text, title: Text }))
    })
  ),
  public_metrics: optional(
    open({ like_count: Count, reply_count: Count, retweet_count: Count, quote_count: Count, impression_count: Count })
  )
}).annotations({ identifier: "XPost", description: "A post of the X API v2" })

const User = open({ id: Schema.String, username: Text, name: Text, description: Text, location: Text }).annotations({
  identifier: "XUser"
})

export const xSchema = open({
  data: Post,
  includes: optional(
    open({
      users: list(User),
      tweets: list(Post),
      media: list(open({ media_key: Text, type: Text, url: Text })),
      places: list(open({ id: Text, full_name: Text, country_code: Text }))
    })
  ).annotations({ description: "The accounts, posts, media and places that the post refers to" })
}).annotations({ description: "An X v2 post as the filtered stream delivers it" })
