/** Help for the filter language of Bluesky, which is X's with other operators. */
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
  section
} from "../help/page.ts"
import { clauseSections, comparisonSection, familyTable, HOW_TO_WRITE, limitNames, operatorList } from "../x/help.ts"
import { type Form, forms as formsOfX, limits } from "../x/operators.ts"
import { MAX_LENGTH, operators, unavailableOperators } from "./operators.ts"

const changes: Readonly<Record<string, Partial<Form>>> = {
  keyword: {
    matches:
      "A whole word of the text, in any case. No stemming and no parts of words: `snow` does not match `snowing`. Accents count. Quote a word with punctuation"
  },
  hashtag: {
    matches: "Posts with exactly this hashtag, in any case: `#thanku` does not match `#thankunext`",
    examples: ["#marathon", "#caturday -is:reply"]
  },
  mention: { form: "@handle", matches: "Posts that mention this account", examples: ["@nasa.gov", "@nasa.gov moon"] },
  cashtag: { matches: "Posts with this cashtag in the text" }
}

const forms: ReadonlyArray<Form> = formsOfX.map((form) => ({ ...form, ...changes[form.name] }))

const examples: ReadonlyArray<Example> = [
  { rule: "earthquake (tokyo OR osaka) -is:reply", description: "a topic in two cities, without replies" },
  { rule: '"product recall" (tesla OR ford) lang:en', description: "a phrase about either company, in English" },
  { rule: "(@acme.com OR #acme OR acme) -from:acme.com", description: "posts by others about a brand" },
  { rule: "from:nasa.gov -is:reply", description: "original posts of one account" },
  { rule: "(from:nasa.gov OR from:esa.int) launch", description: "one word from several accounts" },
  { rule: "domain:example.com -from:example.com", description: "links to a site, except by the site itself" },
  { rule: "quotes:nasa.gov (wrong OR misleading)", description: "quotes of an account with one of two words" },
  { rule: "#paris has:images -is:quote sample:10", description: "a 10% sample of posts with photos on a tag" },
  { rule: '"climate change"~4 (lang:de OR lang:fr)', description: "two words near each other, in two languages" },
  { rule: "comet has:alt -label:graphic-media", description: "described images on a topic" }
]

const mistakes: ReadonlyArray<Mistake> = [
  { wrong: "cat AND dog", right: "cat dog", why: "A space means AND" },
  { wrong: "cat or dog", right: "cat OR dog", why: "`OR` must be upper case; `or` is a word" },
  { wrong: "cat OR -dog", right: "cat -dog", why: "Each OR branch needs a positive clause" },
  { wrong: "from:@nasa.gov", right: "from:nasa.gov", why: "Handles have no `@` after an operator" },
  { wrong: "from:nasa", right: "from:nasa.gov", why: "A handle is a whole domain name" },
  { wrong: "from:me", right: "from:nasa.gov", why: "A filter belongs to no Bluesky account" },
  { wrong: "cats since:2025-01-01", right: "cats", why: "The stream delivers new posts only" },
  { wrong: "nasa is:retweet", right: "nasa is:quote", why: "Reposts are not read" },
  {
    wrong: "has:images",
    right: "cats has:images",
    why: "`is:`, `has:`, `lang:`, `label:` and `sample:` cannot stand alone"
  },
  { wrong: "teacher bio:math", right: "teacher", why: "The stream has no profiles of authors" }
]

export const blueskyHelp: LanguageHelp = {
  summary:
    'A space between clauses means AND, OR in upper case means either, a minus excludes. A clause is a word, a "phrase", a #hashtag, a @handle, a $cashtag or an operator such as from:nasa.gov.',
  operators: operatorList(forms, operators),
  examples,
  mistakes,
  limits: { rule_length: MAX_LENGTH, phrase_distance: limits.proximity.max, nesting: limits.maxDepth },
  page: (all) =>
    [
      "# Filters on Bluesky",
      "A filter is one line of clauses, written as for X. It is tested on every new post, including replies and quotes, but not on reposts.",
      ...clauseSections(forms),
      section(
        "Operators",
        HOW_TO_WRITE,
        ...families.map(([title, names]) =>
          familyTable(
            title,
            operators.filter(({ name }) => names.includes(name))
          )
        )
      ),
      comparisonSection("Words of links, of a quoted post and of image descriptions are not part of the text."),
      section(
        "Values",
        bullets([
          "Accounts are handles such as `nasa.gov`, or DIDs such as `did:plc:z72i7hdynmk6r22z27h6tvur`. A handle is looked up when the rule is created: a rule for a handle that nobody has is refused.",
          "Posts are at:// URIs, or bsky.app links with the DID of the author.",
          "`lang:` compares the code before the hyphen, so `pt` finds `pt-BR`. Authors often give no language, or a wrong one."
        ])
      ),
      section(
        "Not possible here",
        `No dates, no counts of likes or followers, no lists, no search by part of a word. These operators of X are rejected: ${refused}.`
      ),
      section("Limits", limitList(all, limitNames)),
      section("Examples", exampleList(examples)),
      eventSection(exampleEvent, "`did`, `rkey` and `record`"),
      section("Common mistakes", mistakeTable(mistakes))
    ].join("\n\n")
}

// ---- helpers ----

const exampleEvent = {
  did: "did:plc:z72i7hdynmk6r22z27h6tvur",
  commit: { rkey: "3l6oveex3ii2l", record: { text: "A comet", tags: ["astronomy"], langs: ["en"] } },
  handles: { "did:plc:z72i7hdynmk6r22z27h6tvur": "nasa.gov" }
}

const families: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ["Accounts", ["from", "to", "mentions"]],
  ["Kinds and parts of posts", ["is", "has", "alt", "label"]],
  ["Links", ["url", "url_contains", "domain", "url_title", "url_description"]],
  ["Threads", ["conversation_id", "in_reply_to", "quotes"]],
  ["Language and share", ["lang", "sample"]]
]

const refused = unavailableOperators
  .filter(({ reason }) => !reason.startsWith("There is no operator"))
  .map(({ name }) => code(`${name}:`))
  .join(", ")
