/** The operators of X's rule language: the one table for the parser, checker, lowering and help. */
import type { Field } from "../expression/expression.ts"
import type { KeywordField, NumberField, TextField } from "./fieldNames.ts"

/** Syntax of the text after the colon. */
export type ValueKind =
  | "username"
  | "text"
  | "substring"
  | "id"
  | "context"
  | "country"
  | "language"
  | "choice"
  | "range"
  | "count"
  | "percent"
  | "radius"
  | "box"
  | "own"

/** A form of value that the operators of a dialect define. It needs no quotes around a colon. */
export interface OwnValue {
  /** Undefined if the value is none. Equal values have one canonical form, which is a value too. */
  readonly canonical: (value: string) => string | undefined
  /** A sentence without the final period, after `"name:" `: `takes a host name`. */
  readonly takes: string
  readonly example: string
}

/** The expression that an operator lowers to. */
export type Target =
  | { readonly test: "phrase"; readonly field: Field }
  | { readonly test: "equals"; readonly field: Field }
  | { readonly test: "contains"; readonly field: Field }
  | { readonly test: "pattern"; readonly field: Field }
  | { readonly test: "place" }
  | { readonly test: "number"; readonly field: Field }
  | { readonly test: "radius" }
  | { readonly test: "box" }
  | { readonly test: "sample" }

export interface Operator {
  /** Canonical name, without the colon. */
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  /** With a placeholder for the value: `from:username`. */
  readonly form: string
  readonly value: ValueKind
  /** For `own`. */
  readonly own?: OwnValue
  /** `conjunction-required`: cannot be the only positive clause of a rule or of an OR branch. */
  readonly use: "standalone" | "conjunction-required"
  readonly negation: "allowed" | "never" | "always"
  /** A post has at most one such value, so two different ones joined by AND never match. */
  readonly single: boolean
  readonly matches: string
  /** Complete, valid filters. */
  readonly examples: ReadonlyArray<string>
  /** Plans of the X API. */
  readonly availability: string
  readonly target: Target
  /** The values of `is:` and `has:`. */
  readonly choices: ReadonlyArray<Choice>
}

export interface Choice {
  readonly value: string
  readonly aliases: ReadonlyArray<string>
  readonly negation: "allowed" | "always"
  readonly matches: string
  readonly examples: ReadonlyArray<string>
}

/** Syntax without a name and a colon: words, phrases, tags and the signs that join clauses. */
export interface Form {
  readonly name: string
  readonly form: string
  readonly matches: string
  readonly examples: ReadonlyArray<string>
}

/** Lengths are in UTF-16 code units, as in X's own error positions. */
export const limits = {
  /** Pay-per-use and Pro. */
  maxLength: 1024,
  maxLengthEnterprise: 2048,
  /** Our limit, not X's; never reached by a rule that fits the length. */
  maxTokens: 20_000,
  maxDepth: 100,
  proximity: { min: 1, max: 6 },
  sample: { min: 1, max: 100 },
  /** Exclusive limit for the radius of a point and the side of a box. */
  geoMiles: 25,
  kilometresPerMile: 1.609344,
  idDigits: 19,
  usernameLength: 15
} as const

export const forms: ReadonlyArray<Form> = [
  {
    name: "keyword",
    form: "word",
    matches:
      "A whole word of the text or of a link, in any case. No stemming and no parts of words: `snow` does not match `snowing`. Accents count. Quote a word with punctuation",
    examples: ["earthquake", "snow skiing"]
  },
  {
    name: "emoji",
    form: "emoji",
    matches: "An emoji is a word. Quote older symbols and emoji with a variation selector",
    examples: ["🍕 OR pizza", '"☕" morning']
  },
  {
    name: "phrase",
    form: '"words in order"',
    matches:
      'These words next to each other in this order. Punctuation counts as white space, so `"coca cola"` also matches `coca-cola`. Write `\\"` for a quote inside',
    examples: ['"social data"', '"coca-cola" OR pepsi']
  },
  {
    name: "proximity",
    form: '"words nearby"~N',
    matches: "The words at most N positions apart, N from 1 to 6. In reverse order: at most N-2 positions apart",
    examples: ['"happy birthday"~3']
  },
  {
    name: "hashtag",
    form: "#tag",
    matches: "Posts with exactly this hashtag, in any case: `#thanku` does not match `#thankunext`",
    examples: ["#marathon", "#caturday -is:retweet"]
  },
  { name: "mention", form: "@username", matches: "Posts that mention this account", examples: ["@nasa", "@nasa moon"] },
  {
    name: "cashtag",
    form: "$SYMBOL",
    matches: "Posts with this cashtag",
    examples: ["$TSLA", "$BRK.A OR berkshire"]
  },
  {
    name: "and",
    form: "a b",
    matches: "Both clauses: a space means AND. The word AND is rejected unless quoted",
    examples: ["snow skiing lang:en"]
  },
  {
    name: "or",
    form: "a OR b",
    matches: "Either clause. Upper case, with spaces around it. AND binds tighter: `a OR b c` means `a OR (b c)`",
    examples: ["apple OR iphone ipad", "(apple OR iphone) ipad"]
  },
  {
    name: "not",
    form: "-a",
    matches:
      "Not this clause. No space after the minus. Each OR branch still needs a positive clause. Negate single clauses, not groups",
    examples: ["skiing -snow -day", "cat OR (dog -puppy)"]
  },
  { name: "group", form: "(a b)", matches: "Groups clauses", examples: ["(cat OR dog) has:images"] }
]

export const operators: ReadonlyArray<Operator> = [
  account("from", [], "x.from", "Posts by this account, by username or numeric id", ["from:nasa", "from:11348282"]),
  account("to", [], "x.to", "Replies to this account, by username or numeric id", ["to:nasa -is:retweet"]),
  account("retweets_of", ["retweets_of_user"], "x.retweets_of", "Native retweets of posts by this account", [
    "retweets_of:nasa"
  ]),
  {
    ...account("from_affiliate_of", [], "x.from_affiliate_of", "Posts by an affiliate of this account", [
      "from_affiliate_of:nasa"
    ]),
    single: false
  },
  {
    ...account("to_affiliate_of", [], "x.to_affiliate_of", "Replies to an affiliate of this account", [
      "to_affiliate_of:nasa"
    ]),
    single: false
  },
  text("url", [], "x.url", "Words of a link in the post, short or expanded. Quote anything with punctuation", [
    'url:"https://example.com/news"',
    "url:wikipedia"
  ]),
  text("url_title", ["within_url_title"], "x.url_title", "Words in the title of a linked page", [
    'url_title:"press release"'
  ]),
  text(
    "url_description",
    ["within_url_description"],
    "x.url_description",
    "Words in the description of a linked page",
    ["url_description:weather"]
  ),
  {
    ...standalone("url_contains", [], "url_contains:text", "substring", { test: "contains", field: "x.url" }),
    matches: "Links, short or expanded, that contain this exact text anywhere. Quote anything with punctuation",
    examples: ['url_contains:"/releases/"', "url_contains:photos"]
  },
  {
    ...standalone("context", [], "context:domain.entity", "context", { test: "pattern", field: "x.context" }),
    matches: "Posts annotated with this domain and entity id; `*` stands for any domain or any entity",
    examples: ["context:10.799022225751871488", "context:47.*", "context:*.799022225751871488"]
  },
  {
    ...standalone("entity", [], 'entity:"name"', "text", { test: "equals", field: "x.entity" }),
    matches: "Posts annotated with the entity of this name",
    examples: ['entity:"Michael Jordan"', "entity:Barcelona"]
  },
  {
    ...id("conversation_id", [], "x.conversation_id", "Posts in the conversation that this post started"),
    examples: ["conversation_id:1334987486343299072"]
  },
  {
    ...id("in_reply_to_tweet_id", ["in_reply_to_status_id"], "x.in_reply_to_tweet_id", "Direct replies to this post"),
    examples: ["in_reply_to_tweet_id:1539382664746020864"]
  },
  {
    ...id(
      "retweets_of_tweet_id",
      ["retweets_of_status_id"],
      "x.retweets_of_tweet_id",
      "Native retweets of this post, by the id of the original"
    ),
    examples: ["retweets_of_tweet_id:1539382664746020864"]
  },
  text("bio", ["user_bio"], "x.bio", "Words in the author's profile description", [
    'bio:"software engineer"',
    "bio:teacher"
  ]),
  text("bio_name", [], "x.bio_name", "A word of the author's display name", ["bio_name:phd"]),
  text("bio_location", ["user_bio_location"], "x.bio_location", "Words in the location of the author's profile", [
    'bio_location:"big apple"'
  ]),
  {
    ...standalone("place", [], 'place:"name"', "text", { test: "place" }),
    matches: "Posts tagged with this place, by name or place id. Never matches retweets",
    examples: ['place:"new york city"', "place:fd70c22040963ac7"]
  },
  {
    ...standalone("place_country", [], "place_country:CC", "country", { test: "equals", field: "x.place_country" }),
    single: true,
    matches: "Posts tagged with a place in this country, as a two-letter ISO 3166 code. Never matches retweets",
    examples: ["place_country:US", "skiing place_country:CH"]
  },
  {
    ...standalone("point_radius", [], "point_radius:[longitude latitude radius]", "radius", { test: "radius" }),
    matches:
      "Posts located wholly inside the circle. Longitude comes first; the radius ends in `km` or `mi` and is under 25 miles (40.23 km)",
    examples: ["point_radius:[2.355128 48.861118 16km]"]
  },
  {
    ...standalone("bounding_box", ["geo_bounding_box"], "bounding_box:[west south east north]", "box", { test: "box" }),
    matches: "Posts located wholly inside the box, whose sides are under 25 miles (40.23 km)",
    examples: ["bounding_box:[-105.301758 39.964069 -105.178505 40.09455]"]
  },
  family("is", "is:kind", "x.is", "Kinds of post and author", [
    choice("retweet", [], "Native retweets. Quotes are not retweets", ["nasa -is:retweet"]),
    choice("reply", [], "Replies, and quotes or retweets of replies", ["from:nasa is:reply"]),
    choice("quote", [], "Quotes of another post", ['"sentiment analysis" is:quote']),
    choice("verified", [], "Posts by a verified account", ["#nowplaying is:verified"]),
    {
      ...choice("nullcast", [], "Ads-only posts. Can only be excluded: `-is:nullcast`", ["#mobile -is:nullcast"]),
      negation: "always"
    }
  ]),
  family("has", "has:part", "x.has", "Contents of a post", [
    choice("hashtags", [], "At least one hashtag", ["from:nasa -has:hashtags"]),
    choice("cashtags", [], "At least one cashtag", ["stocks has:cashtags"]),
    choice("links", [], "At least one link, including links to its own media", ["from:nasa has:links"]),
    choice("mentions", [], "At least one mention of an account", ["#nowplaying has:mentions"]),
    choice("media", ["media_link"], "A photo, GIF or video", ["(kittens OR puppies) has:media"]),
    choice("images", [], "A photo", ["#meme has:images"]),
    choice("video_link", ["videos"], "A video made on X", ["#icymi has:video_link"]),
    choice("geo", [], "A location set by the author", ["recommend #paris has:geo -bakery"])
  ]),
  {
    ...standalone("lang", [], "lang:code", "language", { test: "equals", field: "x.lang" }),
    use: "conjunction-required",
    single: true,
    matches: "Posts that X classified as written in this language. A post has one language",
    examples: ["recommend #paris lang:en", "skiing (lang:de OR lang:fr)"]
  },
  {
    ...standalone("source", [], 'source:"app name"', "text", { test: "equals", field: "x.source" }),
    use: "conjunction-required",
    single: true,
    matches: "Posts made with the app of this name or address",
    examples: ['nasa source:"Twitter for iPhone"']
  },
  {
    ...standalone("sample", [], "sample:percent", "percent", { test: "sample" }),
    use: "conjunction-required",
    negation: "never",
    matches:
      "A random sample of all posts, 1 to 100 percent, taken before the rest of the rule is applied. It applies to the whole rule: put each OR next to it in parentheses",
    examples: ["(nasa OR esa) sample:10"]
  },
  counter("followers_count", [], "x.followers_count", "Authors with this many followers"),
  counter("tweets_count", ["statuses_count"], "x.tweets_count", "Authors with this many posts"),
  counter("following_count", ["friends_count"], "x.following_count", "Authors who follow this many accounts"),
  counter("listed_count", ["user_in_lists_count"], "x.listed_count", "Authors who are on this many lists"),
  {
    ...standalone("min_followers", [], "min_followers:n", "count", { test: "number", field: "x.followers_count" }),
    matches: "Authors with at least this many followers",
    examples: ["nasa min_followers:1000"]
  }
]

/** `name` is a name or alias in lower case. */
export const operatorNamed = (name: string): Operator | undefined => byName.get(name)

export const byNames = (operators: ReadonlyArray<Operator>): ReadonlyMap<string, Operator> =>
  new Map(
    operators.flatMap((operator) => [operator.name, ...operator.aliases].map((name) => [name, operator] as const))
  )

/** `value` is a value or alias in lower case. */
export const choiceOf = (choices: ReadonlyArray<Choice>, value: string): Choice | undefined =>
  choices.find((choice) => choice.value === value || choice.aliases.includes(value))

export const operatorNames = (): ReadonlyArray<string> => [...byName.keys()]

// ---- helpers ----

const byName = byNames(operators)

function standalone(
  name: string,
  aliases: ReadonlyArray<string>,
  form: string,
  value: ValueKind,
  target: Target
): Omit<Operator, "matches" | "examples"> {
  return {
    name,
    aliases,
    form,
    value,
    use: "standalone",
    negation: "allowed",
    single: false,
    availability: "Pay-per-use, Pro and Enterprise",
    target,
    choices: []
  }
}

function account(
  name: string,
  aliases: ReadonlyArray<string>,
  field: KeywordField,
  matches: string,
  examples: ReadonlyArray<string>
): Operator {
  const base = standalone(name, aliases, `${name}:username`, "username", { test: "equals", field })
  return { ...base, single: true, matches, examples }
}

function text(
  name: string,
  aliases: ReadonlyArray<string>,
  field: TextField,
  matches: string,
  examples: ReadonlyArray<string>
): Operator {
  return { ...standalone(name, aliases, `${name}:"words"`, "text", { test: "phrase", field }), matches, examples }
}

function id(name: string, aliases: ReadonlyArray<string>, field: KeywordField, matches: string) {
  return { ...standalone(name, aliases, `${name}:id`, "id", { test: "equals", field }), single: true, matches }
}

function counter(name: string, aliases: ReadonlyArray<string>, field: NumberField, matches: string): Operator {
  return {
    ...standalone(name, aliases, `${name}:min..max`, "range", { test: "number", field }),
    matches: `${matches}: \`n\` means n or more, \`min..max\` includes both ends`,
    examples: [`nasa ${name}:1000`, `nasa ${name}:1000..10000`]
  }
}

function choice(
  value: string,
  aliases: ReadonlyArray<string>,
  matches: string,
  examples: ReadonlyArray<string>
): Choice {
  return { value, aliases, negation: "allowed", matches, examples }
}

function family(
  name: string,
  form: string,
  field: KeywordField,
  matches: string,
  choices: ReadonlyArray<Choice>
): Operator {
  return {
    ...standalone(name, [], form, "choice", { test: "equals", field }),
    use: "conjunction-required",
    matches,
    examples: choices.flatMap((one) => one.examples),
    choices
  }
}
