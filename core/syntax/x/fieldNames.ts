/** The fields of an X post's event. */
import type { FieldNames } from "../expression/FieldNames.ts"

export const fieldNames = {
  text: {
    "x.text": "the text of the post",
    "x.url": "a link of the post",
    "x.url_title": "the title of a linked page",
    "x.url_description": "the description of a linked page",
    "x.bio": "the profile of the author",
    "x.bio_name": "the display name of the author",
    "x.bio_location": "the profile location of the author",
    "x.place": "the name of the place of the post"
  },
  keyword: {
    "x.hashtag": { name: "A hashtag of the post" },
    "x.mention": { name: "An account mentioned in the post" },
    "x.cashtag": { name: "A cashtag of the post" },
    "x.from": { name: "The author" },
    "x.to": { name: "The account replied to" },
    "x.retweets_of": { name: "The author of the retweeted post" },
    "x.from_affiliate_of": { name: "An account the author is affiliated with" },
    "x.to_affiliate_of": { name: "An account affiliated with the one replied to" },
    "x.url": { name: "A link of the post" },
    "x.lang": { name: "The language of the post", isCoarse: true },
    "x.source": { name: "The app of the post", isCoarse: true },
    "x.context": { name: "A context annotation of the post" },
    "x.entity": { name: "An entity recognised in the post" },
    "x.conversation_id": { name: "The conversation of the post" },
    "x.place_id": { name: "The place id of the post" },
    "x.place_country": { name: "The country of the place of the post", isCoarse: true },
    "x.in_reply_to_tweet_id": { name: "The post replied to" },
    "x.retweets_of_tweet_id": { name: "The retweeted post" },
    "x.is": {
      name: "The kind of post",
      isCoarse: true,
      isFlag: true,
      equals: (value) => (value === "verified" ? "The author is verified" : `The post is a ${value}`)
    },
    "x.has": {
      name: "A part of the post",
      isCoarse: true,
      isFlag: true,
      equals: (value) => `The post has ${value === "video_link" ? "video" : value}`
    }
  },
  number: {
    "x.followers_count": "The number of the author's followers",
    "x.tweets_count": "The number of the author's posts",
    "x.following_count": "The number of accounts the author follows",
    "x.listed_count": "The number of lists with the author on them"
  }
} satisfies FieldNames

export type TextField = keyof typeof fieldNames.text
export type KeywordField = keyof typeof fieldNames.keyword
export type NumberField = keyof typeof fieldNames.number
