/** Help for X's rule language. */

import {
  bullets,
  code,
  type Example,
  exampleList,
  type LanguageHelp,
  limitList,
  type Mistake,
  mistakeTable,
  section,
  table
} from "../helpPage.ts"
import { forms, limits, type Operator, operators } from "./operators.ts"
import { unavailableOperators } from "./unavailable.ts"
import { languages, stopWords } from "./vocabulary.ts"

const examples: ReadonlyArray<Example> = [
  { rule: "earthquake (tokyo OR osaka) -is:retweet", description: "a topic in two places, each post once" },
  { rule: '"product recall" (tesla OR ford) lang:en', description: "a phrase about either company, in English" },
  { rule: "(@acme OR #acme OR acme) -from:acme -is:retweet", description: "what others say about a brand" },
  { rule: "from:nasa -is:reply -is:retweet", description: "what one account posts itself" },
  { rule: "(from:nasa OR from:esa OR from:spacex) launch", description: "one word from several accounts" },
  { rule: '(outage OR "service down") (github OR gitlab) is:verified', description: "reports by verified accounts" },
  { rule: "$TSLA (earnings OR guidance) followers_count:1000", description: "a stock, by authors with some reach" },
  { rule: 'url:"example.com" -from:example', description: "links to a site by anyone but the site" },
  { rule: "#paris has:images -is:quote sample:10", description: "a tenth of the posts with pictures on a tag" },
  { rule: '"climate change"~4 (lang:de OR lang:fr)', description: "two words near each other, in two languages" },
  { rule: "concert point_radius:[2.355128 48.861118 16km]", description: "posts from around the centre of Paris" },
  { rule: "conversation_id:1334987486343299072 -from:nasa", description: "answers in one thread" },
  { rule: 'hiring ("software engineer" OR developer) bio:recruiter has:links', description: "job offers by recruiters" }
]

const mistakes: ReadonlyArray<Mistake> = [
  { wrong: "cat AND dog", right: "cat dog", why: "A space is the AND" },
  { wrong: "cat or dog", right: "cat OR dog", why: "OR is in capitals; `or` is a word" },
  { wrong: "dog NOT cat", right: "dog -cat", why: "A minus negates; `NOT` is a word" },
  { wrong: "cat || dog", right: "cat OR dog", why: "Signs of other languages mean nothing here" },
  { wrong: "cat OR -dog", right: "cat -dog", why: "Every side of OR asks for something" },
  { wrong: "dog - cat", right: "dog -cat", why: "The minus touches its clause" },
  { wrong: "dog -(cat OR bird)", right: "dog -cat -bird", why: "Negate clauses rather than groups" },
  { wrong: "'happy new year'", right: '"happy new year"', why: "Phrases stand in straight double quotes" },
  { wrong: "coca-cola", right: '"coca-cola"', why: "Punctuation belongs in quotes" },
  { wrong: "from:@nasa", right: "from:nasa", why: "Usernames have no `@` after an operator" },
  { wrong: "from: nasa", right: "from:nasa", why: "No space after the colon" },
  { wrong: "from:(nasa OR esa)", right: "(from:nasa OR from:esa)", why: "An operator takes one value" },
  {
    wrong: "has:images",
    right: "cats has:images",
    why: "`is:`, `has:`, `lang:`, `source:` and `sample:` need company"
  },
  { wrong: "the", right: '"the"', why: "A stop word cannot be all there is" },
  { wrong: "cats lang:he", right: "cats lang:iw", why: "X keeps the old codes `iw` and `in`" },
  { wrong: "cats lang:en lang:de", right: "cats (lang:en OR lang:de)", why: "A post has one language and one author" },
  { wrong: "cats since:2025-01-01", right: "cats", why: "The stream delivers what is posted from now on" },
  { wrong: "cats filter:images", right: "cats has:images", why: "`filter:` belongs to the search box" },
  { wrong: "cats is:nullcast", right: "cats -is:nullcast", why: "It can only be excluded" },
  { wrong: "cat OR dog sample:10", right: "(cat OR dog) sample:10", why: "`sample:` counts for the whole rule" },
  {
    wrong: "nasa followers_count:>1000",
    right: "nasa followers_count:1001",
    why: "`n` means n or more, `a..b` a range"
  },
  {
    wrong: "point_radius:[2.35,48.86,16km]",
    right: "point_radius:[2.35 48.86 16km]",
    why: "Spaces, longitude first, a unit"
  }
]

export const xHelp: LanguageHelp = {
  summary:
    'Clauses separated by spaces must all hold, OR in capitals gives alternatives, a minus excludes. A clause is a word, a "phrase", a #hashtag, an @mention, a $cashtag or an operator such as from:nasa. A post matches when the rule holds for it.',
  operators: [
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
  ],
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
      "# Rules on X",
      "A rule is one line of clauses. It is tested on every new post; retweets, replies and quotes are posts too.",
      section(
        "How clauses combine",
        bullets([
          "`a b`: both. A space is the AND; the word `AND` is refused.",
          "`a OR b`: either. `OR` in capitals with spaces around it.",
          "`-a`: not. The minus touches its clause, and excludes single clauses rather than groups.",
          "`(a b)`: together. AND binds tighter than OR: `cat OR dog bird` means `cat OR (dog bird)`. Write the parentheses.",
          "Every alternative must ask for something that can stand alone: `cat OR -dog` and `cat OR lang:en` are refused, `cat OR (dog -puppy)` is fine."
        ])
      ),
      section("Words, phrases and tags", formTable),
      section(
        "Operators",
        "Name, colon and value without a space. Quote a value with spaces or punctuation. Names and values in any case. Operators marked † cannot stand alone: they need a word, phrase, tag or account beside them.",
        ...families.map(([title, belongs]) => familyTable(title, operators.filter(belongs)))
      ),
      section(
        "How text is compared",
        bullets([
          "In any case, whole words only: no stemming, no parts of words, no wildcards. Write the forms out: `(recall OR recalls OR recalled)`.",
          "Accents count: `café` and `cafe` are two words. Write both.",
          'Punctuation ends a word, so `"coca-cola"` is a phrase of two words and also finds `coca cola`. Underscores end words in text, not in tags and usernames.',
          "A run of letters without spaces is one word, also in Chinese, Japanese and Thai: `東京` does not find `東京タワー`.",
          "An emoji is a word. Words of links count as words of the post. A quoted post and the original of a retweet count as its text.",
          `Stop words cannot be all that an alternative asks for, unless quoted: ${[...stopWords].join(" ")}.`
        ])
      ),
      section(
        "Values",
        bullets([
          `\`lang:\` takes ${languages.map(({ code: language }) => language).join(" ")}. Hebrew is \`iw\`, Indonesian \`in\`.`,
          "Counts are plain digits: `1000` is 1000 or more, `1000..5000` includes both ends.",
          "Points are longitude, latitude, radius: `[2.355128 48.861118 16km]`; boxes west, south, east, north; spaces between, no commas.",
          "Usernames without `@`, or numeric ids. Post ids are digits."
        ])
      ),
      section(
        "Not possible here",
        `No dates, no counts of likes or replies, no lists, no search by part of a word. These operators of other products are refused: ${unavailableNames}.`
      ),
      section("Limits", limitList(all, limitNames)),
      section("Examples", exampleList(examples)),
      section("Common mistakes", mistakeTable(mistakes))
    ].join("\n\n")
}

// ---- helpers ----

function describe({ matches, aliases, use }: Operator): string {
  const alias = aliases.length === 0 ? "" : `. Also written ${aliases.map((name) => `\`${name}:\``).join(", ")}`
  return matches + alias + (use === "standalone" ? "" : ". Needs another clause beside it")
}

function exampleOf({ examples: [example = ""] }: Operator): string {
  return example
}

const joining = new Set(["and", "or", "not", "group"])

const formTable = table(
  ["Form", "Matches", "Example"],
  forms
    .filter(({ name }) => !joining.has(name))
    .map(({ form, matches, examples: [example = ""] }) => [code(form), matches, code(example)])
)

/** What each operator tests decides where it is shown; the last family takes what is left. */
const families: ReadonlyArray<readonly [string, (operator: Operator) => boolean]> = [
  ["Accounts", ({ value }) => value === "username"],
  ["Kinds and parts of posts", ({ value }) => value === "choice"],
  ["Links", ({ name }) => name.startsWith("url")],
  ["Authors", ({ name, value }) => name.startsWith("bio") || value === "range" || value === "count"],
  ["Places", ({ name, value }) => name.startsWith("place") || value === "radius" || value === "box"],
  ["Threads and topics", ({ value, name }) => value === "id" || value === "context" || name === "entity"],
  ["Language, app and share", ({ name }) => name === "lang" || name === "source" || name === "sample"]
]

function familyTable(title: string, members: ReadonlyArray<Operator>): string {
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

/** The values of counters are explained once for all of them. */
function meaningOf({ matches, value }: Operator): string {
  return value === "range" ? matches.replace(/:.*$/, "") : matches
}

/** Names of other products; those that are only another word for an operator of this one mend themselves. */
const unavailableNames = unavailableOperators
  .filter(({ reason }) => !reason.startsWith("There is no operator"))
  .map(({ name }) => code(`${name}:`))
  .join(", ")

const limitNames: Readonly<Record<string, string>> = {
  rules_per_account: "Rules of one account",
  rule_length: "Characters in a rule",
  phrase_distance: 'Largest N in `"a b"~N`',
  radius_miles: "Miles that a radius, or the side of a box, stays below",
  nesting: "Levels of parentheses"
}
