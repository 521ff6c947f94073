/** Operators of other products that the filtered stream lacks, with the reason and a replacement. */

export interface UnavailableOperator {
  /** In lower case, without the colon. A trailing `*` matches any ending. */
  readonly name: string
  /** A sentence without the final period. */
  readonly reason: string
  /** Advice: a sentence without the final period. */
  readonly instead: string | undefined
  /** The equivalent clause for this value; empty if the clause can be left out. */
  readonly replacement: ((value: string) => string | undefined) | undefined
}

export const unavailableOperators: ReadonlyArray<UnavailableOperator> = [
  webSearch("filter", "Write the matching has: or is: operator", (value) => filters.get(value.toLowerCase())),
  webSearch("exclude", "Write the matching negated operator, such as -is:retweet", (value) =>
    negated(filters.get(value.toLowerCase()))
  ),
  webSearch("include", "Leave it out: retweets and replies are part of the stream"),
  {
    name: "since",
    reason: "The stream delivers posts as they are made, so a rule has no dates",
    instead: "Leave it out",
    replacement: () => ""
  },
  {
    name: "until",
    reason: "The stream delivers posts as they are made, so a rule has no dates",
    instead: "Delete the rule when it is no longer needed",
    replacement: undefined
  },
  webSearch("since_*", "Leave it out: the stream delivers only new posts", () => ""),
  webSearch("until_*", "Delete the rule when it is no longer needed"),
  webSearch("max_id", "Leave it out"),
  webSearch("near", "Write point_radius:[longitude latitude radius], place: or bio_location:"),
  webSearch("within", "Write point_radius:[longitude latitude radius]"),
  webSearch("geocode", "Write point_radius:[longitude latitude radius]"),
  webSearch("list", "Write (from:a OR from:b) with the members of the list"),
  webSearch("min_faves", "Filter by likes after the match: a new post has none yet"),
  webSearch("min_retweets", "Filter by retweets after the match: a new post has none yet"),
  unsupported("min_likes"),
  unsupported("min_replies"),
  unsupported("min_reposts"),
  webSearch("quoted_tweet_id", undefined),
  webSearch("quoted_user_id", undefined),
  webSearch("card_*", undefined),
  powerTrack("contains", "Write the whole word as a keyword, or url_contains: for a part of a link"),
  powerTrack("profile_*", "Write bio_location: for the location in the author's profile"),
  powerTrack("retweets_of_user_id", "Write retweets_of: with the id", (value) => `retweets_of:${value}`),
  powerTrack("time_zone", "Write bio_location:"),
  powerTrack("klout_score", undefined),
  powerTrack("place_contains", "Write place: with the whole name"),
  powerTrack("bio_contains", "Write bio: with whole words"),
  powerTrack("bio_name_contains", "Write bio_name: with a whole word"),
  powerTrack("bio_location_contains", "Write bio_location: with whole words"),
  embedding("embedding"),
  embedding("embedding_threshold"),
  synonym("hashtag", "#"),
  synonym("tag", "#"),
  synonym("mention", "@"),
  synonym("mentions", "@"),
  synonym("cashtag", "$"),
  synonym("symbol", "$"),
  synonym("ticker", "$"),
  synonym("user", "from:"),
  synonym("username", "from:"),
  synonym("author", "from:"),
  synonym("by", "from:"),
  synonym("reply_to", "to:"),
  synonym("replies_to", "to:"),
  synonym("language", "lang:"),
  synonym("domain", "url:"),
  synonym("site", "url:"),
  synonym("link", "url:"),
  synonym("links", "url:"),
  synonym("country", "place_country:"),
  synonym("location", "bio_location:"),
  synonym("conversation", "conversation_id:"),
  synonym("followers", "followers_count:"),
  synonym("following", "following_count:"),
  synonym("text", ""),
  synonym("keyword", ""),
  synonym("phrase", "")
]

export interface UnavailableChoice {
  readonly reason: string
  readonly replacement: string | undefined
  /** No event has it: a clause that excludes it can be left out. */
  readonly neverHolds?: boolean
}

/** Values of `is:` and `has:` in other products. */
export const unavailableChoices: ReadonlyMap<string, UnavailableChoice> = new Map<string, UnavailableChoice>([
  ["has:symbols", { reason: "this is its name in PowerTrack", replacement: "has:cashtags" }],
  ["has:polls", { reason: "the filtered stream has no such operator", replacement: undefined }],
  ["has:lang", { reason: "it exists in PowerTrack only", replacement: undefined }],
  ["has:profile_geo", { reason: "it exists in PowerTrack only", replacement: undefined }],
  ["has:photos", { reason: "photos are called images", replacement: "has:images" }],
  ["has:urls", { reason: "they are called links", replacement: "has:links" }],
  ["has:gifs", { reason: "there is no operator for GIFs alone", replacement: "has:media" }],
  ["has:location", { reason: "it is called geo", replacement: "has:geo" }],
  ["is:rt", { reason: "it is called retweet", replacement: "is:retweet" }],
  ["is:repost", { reason: "it is called retweet", replacement: "is:retweet" }],
  ["is:quoted", { reason: "it is called quote", replacement: "is:quote" }],
  ["is:blue_verified", { reason: "there is one operator for verified accounts", replacement: "is:verified" }]
])

/** `name` must be in lower case. */
export const unavailableOperator = (name: string): UnavailableOperator | undefined =>
  findByName(unavailableOperators, name)

export const findByName = (
  entries: ReadonlyArray<UnavailableOperator>,
  name: string
): UnavailableOperator | undefined =>
  entries.find((entry) => (entry.name.endsWith("*") ? name.startsWith(entry.name.slice(0, -1)) : entry.name === name))

// ---- helpers ----

const filters: ReadonlyMap<string, string> = new Map([
  ["links", "has:links"],
  ["media", "has:media"],
  ["images", "has:images"],
  ["twimg", "has:images"],
  ["videos", "has:video_link"],
  ["native_video", "has:video_link"],
  ["hashtags", "has:hashtags"],
  ["mentions", "has:mentions"],
  ["replies", "is:reply"],
  ["retweets", "is:retweet"],
  ["nativeretweets", "is:retweet"],
  ["quote", "is:quote"],
  ["verified", "is:verified"],
  ["blue_verified", "is:verified"]
])

function negated(clause: string | undefined): string | undefined {
  return clause === undefined ? undefined : `-${clause}`
}

function webSearch(
  name: string,
  instead: string | undefined,
  replacement?: (value: string) => string | undefined
): UnavailableOperator {
  return { name, reason: "It works only in the search box of the website", instead, replacement }
}

function powerTrack(
  name: string,
  instead: string | undefined,
  replacement?: (value: string) => string | undefined
): UnavailableOperator {
  return { name, reason: "It exists in PowerTrack only", instead, replacement }
}

function unsupported(name: string): UnavailableOperator {
  const instead = "Filter by the counts after the match: a new post has none yet"
  return { name, reason: "It is not an operator of the filtered stream", instead, replacement: undefined }
}

function embedding(name: string): UnavailableOperator {
  const reason = "It needs an Enterprise plan with the embedding tier"
  return { name, reason, instead: "Write the words to look for", replacement: undefined }
}

function synonym(name: string, sign: string): UnavailableOperator {
  const written = sign === "" ? "the words themselves" : `${sign}${/\w/.test(sign) ? "value" : "name"}`
  return {
    name,
    reason: "There is no operator with this name",
    instead: `Write ${written}`,
    replacement: (value) => {
      const bare = value.replace(/^[#@$]/, "")
      if (/^[\p{L}\p{N}\p{M}_.-]+$/u.test(bare) && !(sign === "" && /[_.-]/.test(bare))) {
        return sign + bare
      }
      return /^[#@$]/.test(sign) ? undefined : `${sign}"${value}"`
    }
  }
}
