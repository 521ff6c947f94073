/** The fields of a Bluesky post. Those that X's posts have, too, have the same names, so filters on both are comparable. */
import type { FieldNames } from "../expression/FieldNames.ts"
import { fieldNames as ofX } from "../x/fieldNames.ts"

export const fieldNames = {
  text: {
    "x.text": ofX.text["x.text"],
    "x.url": ofX.text["x.url"],
    "x.url_title": ofX.text["x.url_title"],
    "x.url_description": ofX.text["x.url_description"],
    "bluesky.alt": "the description of an image or video"
  },
  keyword: {
    "x.hashtag": ofX.keyword["x.hashtag"],
    "x.mention": ofX.keyword["x.mention"],
    "x.cashtag": ofX.keyword["x.cashtag"],
    "x.from": ofX.keyword["x.from"],
    "x.to": ofX.keyword["x.to"],
    "x.url": ofX.keyword["x.url"],
    "x.lang": { name: "A language of the post", isCoarse: true },
    "x.conversation_id": ofX.keyword["x.conversation_id"],
    "x.in_reply_to_tweet_id": ofX.keyword["x.in_reply_to_tweet_id"],
    "x.is": ofX.keyword["x.is"],
    "x.has": {
      ...ofX.keyword["x.has"],
      equals: (value: string) =>
        value === "alt" ? "An image or video is described" : ofX.keyword["x.has"].equals(value)
    },
    "bluesky.domain": { name: "The host of a link" },
    "bluesky.quotes": { name: "The quoted post" },
    "bluesky.label": { name: "A label of the post", isCoarse: true }
  },
  number: {}
} satisfies FieldNames
