/** Help for X's filter language. */

import {
  bullets,
  code,
  type Example,
  eventSection,
  exampleList,
  type LanguageHelp,
  limitList,
  type Mistake,
  mistakeTable,
  section,
  table
} from "../help/page.ts"
import { type Form, forms, limits, type Operator, operators } from "./operators.ts"
import { unavailableOperators } from "./unavailable.ts"
import { languages, stopWords } from "./vocabulary.ts"

const examples: ReadonlyArray<Example> = [
  { rule: "earthquake (tokyo OR osaka) -is:retweet", description: "a topic in two cities, without retweets" },
  { rule: '"product recall" (tesla OR ford) lang:en', description: "a phrase about either company, in English" },
  { rule: "(@acme OR #acme OR acme) -from:acme -is:retweet", description: "posts by others about a brand" },
  { rule: "from:nasa -is:reply -is:retweet", description: "original posts of one account" },
  { rule: "(from:nasa OR from:esa OR from:spacex) launch", description: "one word from several accounts" },
  { rule: '(outage OR "service down") (github OR gitlab) is:verified', description: "reports by verified accounts" },
  {
    rule: "$TSLA (earnings OR guidance) followers_count:1000",
    description: "a stock, by authors with 1,000 followers or more"
  },
  { rule: 'url:"example.com" -from:example', description: "links to a site, except by the site itself" },
  { rule: "#paris has:images -is:quote sample:10", description: "a 10% sample of posts with photos on a tag" },
  { rule: '"climate change"~4 (lang:de OR lang:fr)', description: "two words near each other, in two languages" },
  { rule: "concert point_radius:[2.355128 48.861118 16km]", description: "posts from central Paris" },
  { rule: "conversation_id:1334987486343299072 -from:nasa", description: "replies in one thread" },
  { rule: 'hiring ("software engineer" OR developer) bio:recruiter has:links', description: "job offers by recruiters" }
]

const mistakes: ReadonlyArray<Mistake> = [
  { wrong: "cat AND dog", right: "cat dog", why: "A space means AND" },
  { wrong: "cat or dog", right: "cat OR dog", why: "`OR` must be upper case; `or` is a word" },
  { wrong: "dog NOT cat", right: "dog -cat", why: "A minus negates; `NOT` is a word" },
  { wrong: "cat || dog", right: "cat OR dog", why: "`||` is not an operator" },
  { wrong: "cat OR -dog", right: "cat -dog", why: "Each OR branch needs a positive clause" },
  { wrong: "dog - cat", right: "dog -cat", why: "No space after the minus" },
  { wrong: "dog -(cat OR bird)", right: "dog -cat -bird", why: "Negate single clauses, not groups" },
  { wrong: "'happy new year'", right: '"happy new year"', why: "Phrases need straight double quotes" },
  { wrong: "coca-cola", right: '"coca-cola"', why: "Quote words with punctuation" },
  { wrong: "from:@nasa", right: "from:nasa", why: "Usernames have no `@` after an operator" },
  { wrong: "from: nasa", right: "from:nasa", why: "No space after the colon" },
  { wrong: "from:(nasa OR esa)", right: "(from:nasa OR from:esa)", why: "An operator takes one value" },
  {
    wrong: "has:images",
    right: "cats has:images",
    why: "`is:`, `has:`, `lang:`, `source:` and `sample:` cannot stand alone"
  },
  { wrong: "the", right: '"the"', why: "An unquoted stop word cannot stand alone" },
  { wrong: "cats lang:he", right: "cats lang:iw", why: "X uses the old codes `iw` and `in`" },
  { wrong: "cats lang:en lang:de", right: "cats (lang:en OR lang:de)", why: "A post has one language and one author" },
  { wrong: "cats since:2025-01-01", right: "cats", why: "The stream delivers new posts only" },
  { wrong: "cats filter:images", right: "cats has:images", why: "`filter:` is for the search box only" },
  { wrong: "cats is:nullcast", right: "cats -is:nullcast", why: "`is:nullcast` can only be excluded" },
  { wrong: "cat OR dog sample:10", right: "(cat OR dog) sample:10", why: "`sample:` applies to the whole filter" },
  {
    wrong: "nasa followers_count:>1000",
    right: "nasa followers_count:1001",
    why: "`n` means n or more, `a..b` a range"
  },
  {
    wrong: "point_radius:[2.35,48.86,16km]",
    right: "point_radius:[2.35 48.86 16km]",
    why: "Spaces, no commas"
  }
]

export const xHelp: LanguageHelp = {
  summary:
    'A space between clauses means AND, OR in upper case means either, a minus excludes. A clause is a word, a "phrase", a #hashtag, an @mention, a $cashtag or an operator such as from:nasa.',
  operators: operatorList(forms, operators),
  examples,
  mistakes,
  limits: {
    rule_length: limits.maxLength,
    phrase_distance: limits.proximity.max,
    radius_miles: limits.geoMiles,
    nesting: limits.maxDepth
  },
  page: (all) =>
    [
      "# Filters on X",
      "A filter is one line of clauses. It is tested on every new post, including retweets, replies and quotes.",
      ...clauseSections(forms),
      section(
        "Operators",
        HOW_TO_WRITE,
        ...families.map(([title, isMember]) => familyTable(title, operators.filter(isMember)))
      ),
      comparisonSection(
        "The text of a post includes the words of its links, a quoted post and the original of a retweet."
      ),
      section(
        "Values",
        bullets([
          `\`lang:\` takes ${languages.map(({ code: language }) => language).join(" ")}. Hebrew is \`iw\`, Indonesian \`in\`.`,
          "Counts are plain digits: `1000` is 1000 or more, `1000..5000` includes both ends.",
          "A point is longitude, latitude, radius with unit: `[2.355128 48.861118 16km]`. A box is west, south, east, north.",
          "Accounts are usernames without `@` or numeric ids. Post ids are digits."
        ])
      ),
      section(
        "Not possible here",
        `No dates, no counts of likes or replies, no lists, no search by part of a word. These operators of other products are rejected: ${unavailableNames}.`
      ),
      section("Limits", limitList(all, limitNames)),
      section("Examples", exampleList(examples)),
      eventSection(exampleEvent, "`id` and `text`"),
      section("Common mistakes", mistakeTable(mistakes))
    ].join("\n\n")
}

/** The operators with their forms, of any dialect. */
export function operatorList(
  forms: ReadonlyArray<Form>,
  operators: ReadonlyArray<Operator>
): LanguageHelp["operators"] {
  return [
    ...forms.map(({ form, matches, examples: [example = ""] }) => ({ name: form, description: matches, example })),
    ...operators.flatMap((operator) =>
      operator.choices.length > 0
        ? operator.choices.map(({ value, matches, examples: [example = ""] }) => ({
            name: `${operator.name}:${value}`,
            description: matches,
            example
          }))
        : [{ name: operator.form, description: describe(operator), example: exampleOf(operator) }]
    )
  ]
}

export function clauseSections(forms: ReadonlyArray<Form>): ReadonlyArray<string> {
  return [
    section(
      "How clauses combine",
      bullets([
        "`a b`: both. A space means AND; the word `AND` is rejected.",
        "`a OR b`: either. `OR` is upper case, with spaces around it.",
        "`-a`: not. No space after the minus. Negate single clauses, not groups.",
        "`(a b)`: a group. AND binds tighter than OR: `cat OR dog bird` means `cat OR (dog bird)`. Write the parentheses.",
        "Each OR branch needs a clause that can stand alone: `cat OR -dog` and `cat OR lang:en` are rejected, `cat OR (dog -puppy)` is valid."
      ])
    ),
    section("Words, phrases and tags", formTable(forms))
  ]
}

export const HOW_TO_WRITE =
  "Write name, colon and value without a space. Quote a value with spaces or punctuation. Case does not matter. Operators marked † cannot stand alone: add a word, phrase, tag or account."

/** `included`: what the text of a post consists of. */
export function comparisonSection(included: string): string {
  return section(
    "How text is compared",
    bullets([
      "Case is ignored. Only whole words match: no stemming, no parts of words, no wildcards. List all forms: `(recall OR recalls OR recalled)`.",
      "Accents count: `café` and `cafe` are two words. Write both.",
      'Punctuation ends a word, so `"coca-cola"` is a phrase of two words and also matches `coca cola`. Underscores end words in text, not in tags and usernames.',
      "Letters without a space between them are one word, also in Chinese, Japanese and Thai: `東京` does not match `東京タワー`.",
      `An emoji is a word. ${included}`,
      `Unquoted stop words cannot stand alone: ${[...stopWords].join(" ")}.`
    ])
  )
}

export function familyTable(title: string, members: ReadonlyArray<Operator>): string {
  const rows = members.flatMap((operator) => {
    const mark = operator.use === "standalone" ? "" : " †"
    if (operator.choices.length > 0) {
      return operator.choices.map(({ value, aliases, matches, examples: [example = ""] }) => {
        const also =
          aliases.length === 0 ? "" : `, also ${aliases.map((alias) => code(`${operator.name}:${alias}`)).join(", ")}`
        return [`${code(`${operator.name}:${value}`)}${mark}`, matches + also, code(example)]
      })
    }
    const also =
      operator.aliases.length === 0 ? "" : `, also ${operator.aliases.map((name) => code(`${name}:`)).join(", ")}`
    return [[`${code(operator.form)}${mark}`, meaningOf(operator) + also, code(exampleOf(operator))]]
  })
  return `### ${title}\n\n${table(["Operator", "Matches", "Example"], rows)}`
}

export const limitNames: Readonly<Record<string, string>> = {
  rules_per_account: "Rules per account",
  rule_length: "Characters per rule",
  phrase_distance: 'Largest N in `"a b"~N`',
  radius_miles: "Miles (exclusive) of a radius or the side of a box",
  nesting: "Levels of parentheses"
}

// ---- helpers ----

const exampleEvent = {
  data: { id: "1", text: "A comet #astronomy", lang: "en", author_id: "2" },
  includes: { users: [{ id: "2", username: "nasa" }] }
}

function describe({ matches, aliases, use }: Operator): string {
  const alias = aliases.length === 0 ? "" : `. Also written ${aliases.map((name) => `\`${name}:\``).join(", ")}`
  return matches + alias + (use === "standalone" ? "" : ". Cannot stand alone")
}

function exampleOf({ examples: [example = ""] }: Operator): string {
  return example
}

/** "How clauses combine" shows these. */
const combining = new Set(["and", "or", "not", "group"])

function formTable(forms: ReadonlyArray<Form>): string {
  return table(
    ["Form", "Matches", "Example"],
    forms
      .filter(({ name }) => !combining.has(name))
      .map(({ form, matches, examples: [example = ""] }) => [code(form), matches, code(example)])
  )
}

const families: ReadonlyArray<readonly [string, (operator: Operator) => boolean]> = [
  ["Accounts", ({ value }) => value === "username"],
  ["Kinds and parts of posts", ({ value }) => value === "choice"],
  ["Links", ({ name }) => name.startsWith("url")],
  ["Authors", ({ name, value }) => name.startsWith("bio") || value === "range" || value === "count"],
  ["Places", ({ name, value }) => name.startsWith("place") || value === "radius" || value === "box"],
  ["Threads and topics", ({ value, name }) => value === "id" || value === "context" || name === "entity"],
  ["Language, app and share", ({ name }) => name === "lang" || name === "source" || name === "sample"]
]

/** "Values" explains the ranges once for all counters. */
function meaningOf({ matches, value }: Operator): string {
  return value === "range" ? matches.replace(/:.*$/, "") : matches
}

/** Without synonyms of supported operators: the checker's fix replaces those. */
const unavailableNames = unavailableOperators
  .filter(({ reason }) => !reason.startsWith("There is no operator"))
  .map(({ name }) => code(`${name}:`))
  .join(", ")
