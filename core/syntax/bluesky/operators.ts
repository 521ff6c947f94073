/** The operators that a Bluesky post can answer: most of X's, and some of its own. The others are refused with a reason. */
import type { Dialect } from "../x/Dialect.ts"
import { byNames, type Choice, type Operator, type OwnValue, operatorNamed as ofX } from "../x/operators.ts"
import {
  findByName,
  type UnavailableChoice,
  type UnavailableOperator,
  unavailableOperators as unavailableOnX
} from "../x/unavailable.ts"
import { languageCode, POSTS, postUri } from "./Post.ts"

/** Of a filter. Our limit, not Bluesky's, which takes no filters. */
export const MAX_LENGTH = 2_048

const NO_PROFILE = "The stream has no profiles of authors"

const ownMeanings: Readonly<Record<string, string>> = {
  reply: "Replies",
  links: "At least one link",
  media: "An image or video",
  images: "An image",
  video_link: "A video"
}

const AVAILABILITY = "Always"

/** Names for operators that both languages have, and dates. */
const sharedNames: ReadonlySet<string> = new Set(
  "since until hashtag tag mention cashtag symbol ticker user username author by reply_to replies_to language site link links conversation text keyword phrase".split(
    " "
  )
)

const account: OwnValue = {
  canonical: (value) => {
    const name = value.trim().toLowerCase()
    return isDid(name) || isHost(name) ? name : undefined
  },
  takes: "takes a handle, which is a domain name, or a DID",
  example: "nasa.gov"
}

const post: OwnValue = {
  canonical: (value) => uriOf(value),
  takes: "takes the at:// URI or the bsky.app link of a post, with the DID of its author and not the handle",
  example: `at://did:plc:z72i7hdynmk6r22z27h6tvur/${POSTS}/3l6oveex3ii2l`
}

export const operators: ReadonlyArray<Operator> = [
  own("from", account, {
    field: "x.from",
    single: true,
    matches: "Posts by this account, by handle or DID",
    examples: ["from:nasa.gov", "from:did:plc:z72i7hdynmk6r22z27h6tvur"]
  }),
  own("to", account, {
    field: "x.to",
    single: true,
    matches: "Replies to this account, by handle or DID",
    examples: ["to:nasa.gov"]
  }),
  own("mentions", account, {
    field: "x.mention",
    matches: "Posts that mention this account, by handle or DID. For a handle the same as `@handle`",
    examples: ["mentions:nasa.gov"]
  }),
  like("url", { matches: "Words of a link in the post. Quote anything with punctuation" }),
  like("url_contains", {
    matches: "Links that contain this exact text anywhere. Quote anything with punctuation"
  }),
  own(
    "domain",
    {
      canonical: (value) => {
        const host = value
          .trim()
          .toLowerCase()
          .replace(/^www\./, "")
        return isHost(host) ? host : undefined
      },
      takes: "takes the name of a host, without a path",
      example: "example.com"
    },
    {
      field: "bluesky.domain",
      matches: "Links to this host, or to one below it",
      examples: ["domain:example.com", "climate domain:nature.com"]
    }
  ),
  like("url_title", {}),
  like("url_description", {}),
  own("conversation_id", post, {
    field: "x.conversation_id",
    single: true,
    matches: "Posts in the thread that this post started, and that post",
    examples: [`conversation_id:${post.example}`]
  }),
  own("in_reply_to", post, {
    field: "x.in_reply_to_tweet_id",
    aliases: ["in_reply_to_tweet_id"],
    single: true,
    matches: "Direct replies to this post",
    examples: [`in_reply_to:${post.example}`]
  }),
  own(
    "quotes",
    {
      canonical: (value) => uriOf(value) ?? account.canonical(value),
      takes: "takes the at:// URI or the bsky.app link of a post, or the handle or DID of an account",
      example: "nasa.gov"
    },
    {
      field: "bluesky.quotes",
      single: true,
      matches: "Quotes of this post, or of posts by this account",
      examples: ["quotes:nasa.gov", `quotes:${post.example}`]
    }
  ),
  {
    ...like("url_title", {}),
    name: "alt",
    aliases: [],
    form: 'alt:"words"',
    target: { test: "phrase", field: "bluesky.alt" },
    matches: "Words in the description of an image or video",
    examples: ['alt:"bar chart"', "alt:comet"]
  },
  {
    ...own(
      "label",
      {
        canonical: (value) => (/^!?[a-z][a-z-]{0,63}$/i.test(value.trim()) ? value.trim().toLowerCase() : undefined),
        takes: "takes a label that authors give their posts, such as porn or graphic-media",
        example: "graphic-media"
      },
      {
        field: "bluesky.label",
        matches: "Posts to which the author gave this label",
        examples: ["news label:graphic-media"]
      }
    ),
    use: "conjunction-required"
  },
  like("is", { choices: choicesOf("is", ["reply", "quote"]), matches: "Kinds of post" }),
  like("has", {
    choices: [
      ...choicesOf("has", ["hashtags", "cashtags", "links", "mentions", "media", "images", "video_link"]),
      {
        value: "alt",
        aliases: [],
        negation: "allowed",
        matches: "An image or video with a description",
        examples: ["comet has:alt"]
      }
    ]
  }),
  {
    ...own(
      "lang",
      {
        canonical: (value) => (/^[a-z]{2,3}([-_][a-z0-9-]+)?$/i.test(value) ? languageCode(value) : undefined),
        takes: "takes the code of a language such as en, ja or pt",
        example: "en"
      },
      {
        field: "x.lang",
        matches: "Posts whose author says that they are in this language. A post may have several, or none",
        examples: ["recommend #paris lang:en", "skiing (lang:de OR lang:fr)"]
      }
    ),
    use: "conjunction-required"
  },
  like("sample", {})
]

export const unavailableOperators: ReadonlyArray<UnavailableOperator> = [
  ...["retweets_of", "retweets_of_user", "retweets_of_tweet_id", "retweets_of_status_id"].map((name) =>
    missing(name, "Reposts are not part of the stream that Earshot reads", "Write quotes: for quotes of an account")
  ),
  ...["bio", "user_bio", "bio_name", "bio_location", "user_bio_location"].map((name) => missing(name, NO_PROFILE)),
  ...["followers_count", "tweets_count", "statuses_count", "following_count", "friends_count", "listed_count"].map(
    (name) => missing(name, NO_PROFILE)
  ),
  ...["user_in_lists_count", "min_followers"].map((name) => missing(name, NO_PROFILE)),
  ...["place", "place_country", "point_radius", "bounding_box", "geo_bounding_box", "geo", "location", "country"].map(
    (name) => missing(name, "Posts have no location")
  ),
  ...["context", "entity"].map((name) => missing(name, "Posts have no annotations", "Write the words to look for")),
  missing("source", "Posts do not name the app that made them"),
  ...["from_affiliate_of", "to_affiliate_of"].map((name) => missing(name, "Accounts have no affiliates")),
  ...unavailableOnX.filter(({ name }) => sharedNames.has(name))
]

const byName = byNames(operators)

export const blueskyDialect: Dialect = {
  name: "Bluesky",
  maxLength: MAX_LENGTH,
  operatorNamed: (name) => byName.get(name),
  operatorNames: () => [...byName.keys()],
  unavailableOperator: (name) => findByName(unavailableOperators, name),
  unavailableChoices: new Map<string, UnavailableChoice>([
    ["is:retweet", never("reposts are not part of the stream that Earshot reads")],
    ["is:repost", never("reposts are not part of the stream that Earshot reads")],
    ["is:verified", noChoice("the stream has no profiles of authors")],
    ["is:nullcast", never("there are no posts for ads only")],
    ["is:quoted", { reason: "it is called quote", replacement: "is:quote" }],
    ["has:geo", never("posts have no location")],
    ["has:photos", { reason: "photos are called images", replacement: "has:images" }],
    ["has:video", { reason: "it is called video_link", replacement: "has:video_link" }],
    ["has:urls", { reason: "they are called links", replacement: "has:links" }]
  ]),
  account
}

// ---- helpers ----

function isDid(text: string): boolean {
  return /^did:[a-z]+:[a-z0-9._:%-]+$/.test(text)
}

function isHost(text: string): boolean {
  return text.length <= 253 && /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(text)
}

/** Handles in links are not resolved: an account can change them. */
function uriOf(value: string): string | undefined {
  const found =
    /^at:\/\/([^/\s]+)\/app\.bsky\.feed\.post\/([\w.~:-]+)$/i.exec(value.trim()) ??
    /^https:\/\/bsky\.app\/profile\/([^/\s]+)\/post\/([\w.~:-]+)$/i.exec(value.trim())
  const [, did = "", rkey = ""] = found ?? []
  return isDid(did.toLowerCase()) ? postUri(did, rkey).toLowerCase() : undefined
}

function like(name: string, changes: Partial<Operator>): Operator {
  const operator = ofX(name)
  if (operator === undefined) throw new Error(`X has no operator "${name}"`)
  const choices = changes.choices ?? operator.choices
  const examples = choices.length > 0 ? choices.flatMap((choice) => choice.examples) : operator.examples
  return { ...operator, examples, availability: AVAILABILITY, ...changes }
}

function choicesOf(name: string, values: ReadonlyArray<string>): ReadonlyArray<Choice> {
  return like(name, {}).choices.flatMap((choice) =>
    values.includes(choice.value)
      ? [
          {
            ...choice,
            examples: [`nasa ${name}:${choice.value}`],
            matches: ownMeanings[choice.value] ?? choice.matches
          }
        ]
      : []
  )
}

function own(
  name: string,
  value: OwnValue,
  {
    field,
    aliases = [],
    ...rest
  }: Pick<Operator, "matches" | "examples"> & { readonly field: string } & Partial<Pick<Operator, "aliases" | "single">>
): Operator {
  return {
    name,
    aliases,
    form: `${name}:${value.example}`,
    value: "own",
    own: value,
    use: "standalone",
    negation: "allowed",
    single: false,
    availability: AVAILABILITY,
    target: { test: "equals", field },
    choices: [],
    ...rest
  }
}

function missing(name: string, reason: string, instead?: string): UnavailableOperator {
  return { name, reason, instead, replacement: undefined }
}

function never(reason: string): UnavailableChoice {
  return { ...noChoice(reason), neverHolds: true }
}

function noChoice(reason: string): UnavailableChoice {
  return { reason, replacement: undefined }
}
