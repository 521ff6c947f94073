/** Help for Firehose's rule language. */

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
import { type Field, fields, limits } from "./fields.ts"
import { languages, pageCategories, pageCategoryChildren, pageTypeChildren, pageTypes } from "./labels.ts"
import { operators } from "./operators.ts"
import { stopWords } from "./tokens.ts"

const examples: ReadonlyArray<Example> = [
  { rule: "tesla AND recall AND recent:24h", description: "two words on pages of the last day" },
  { rule: '(tesla OR rivian) AND "product recall"', description: "a phrase about either company" },
  {
    rule: 'title:acme AND page_category:"/News" AND language:en AND recent:7d',
    description: "English news with a brand in the title"
  },
  {
    rule: '(acme OR "acme corp") AND NOT domain:acme.com',
    description: "what other sites add about a brand"
  },
  {
    rule: "domain:techcrunch.com AND title:(ipo OR acquisition OR funding)",
    description: "headlines of one site on several words"
  },
  {
    rule: 'page_type:"/Listing/Job" AND title:"software engineer" AND language:en',
    description: "new job offers"
  },
  { rule: 'removed:"free plan" AND domain:example.com', description: "a promise that leaves a site" },
  { rule: 'added_anchor:"acme" AND NOT domain:acme.com AND dr:[50 TO *]', description: "new links from strong sites" },
  { rule: "vulnerability AND (domain:*.gov OR domain:*.edu)", description: "a word on sites with some endings" },
  { rule: "tesla AND url:/.*\\/blog\\/[0-9]{4}\\/.*/", description: "posts of blogs with the year in their address" },
  { rule: "tesla AND NOT url:*\\/tag\\/* AND NOT url:*\\/page\\/*", description: "a word, without index pages" },
  {
    rule: "earthquake AND publish_time:[2026-01-01T00\\:00\\:00 TO *]",
    description: "pages dated from a day on"
  },
  { rule: '"merger agreement"~4 AND page_category:"/Finance"', description: "two words near each other, by topic" }
]

const mistakes: ReadonlyArray<Mistake> = [
  { wrong: "tesla recall", right: "tesla AND recall", why: "Side by side means OR" },
  { wrong: "tesla AND ford OR gm", right: "tesla AND (ford OR gm)", why: "AND and OR never share a level" },
  { wrong: "tesla and recall", right: "tesla AND recall", why: "Operators are in capitals" },
  { wrong: "NOT ford", right: "tesla AND NOT ford", why: "NOT only takes away from something" },
  { wrong: "tesla OR NOT ford", right: "tesla AND NOT ford", why: "After OR, NOT still takes away" },
  { wrong: "'electric vehicle'", right: '"electric vehicle"', why: "Phrases stand in double quotes" },
  { wrong: "coca-cola", right: '"coca-cola"', why: "Unquoted, either word is enough" },
  { wrong: "tesla recent:24h", right: "tesla AND recent:24h", why: "`recent:` is joined with AND, at the top, once" },
  { wrong: "tesla AND recent:2w", right: "tesla AND recent:14d", why: "Ages are in `h`, `d` or `mo`" },
  { wrong: 'page_types:"/Article"', right: 'page_type:"/Article"', why: "Singular in rules, plural in events" },
  { wrong: 'category:"/News"', right: 'page_category:"/News"', why: "The name of the field" },
  { wrong: "page_category:/News", right: 'page_category:"/News"', why: "A bare slash begins a pattern: quote labels" },
  {
    wrong: 'page_category:"/news"',
    right: 'page_category:"/News"',
    why: "Keyword fields are compared with their case"
  },
  { wrong: "tesla AND language:EN", right: "tesla AND language:en", why: "Codes are in lower case" },
  {
    wrong: "url:https://example.com/blog/*",
    right: "url:https\\:\\/\\/example.com\\/blog\\/*",
    why: "Escape `/` and `:`"
  },
  { wrong: 'url:"https://example.com/*"', right: "url:https\\:\\/\\/example.com\\/*", why: "No wildcards in quotes" },
  { wrong: "url:example.com", right: "domain:example.com", why: "`url` is the whole address" },
  { wrong: "domain:www.example.com", right: "domain:example.com", why: "Hosts are held without `www.`" },
  { wrong: "tesla AND url:/.*\\d+/", right: "tesla AND url:/.*[0-9]+/", why: "Lucene's patterns have no `\\d`" },
  { wrong: "tesla AND dr:>50", right: "tesla AND dr:{50 TO *]", why: "Comparisons are ranges" },
  { wrong: "tesla AND dr:[50 to 90]", right: "tesla AND dr:[50 TO 90]", why: "TO is in capitals" },
  {
    wrong: "tesla AND publish_time:2025-06-15",
    right: "tesla AND publish_time:[2025-06-15T00\\:00\\:00 TO 2025-06-15T23\\:59\\:59]",
    why: "A time is a moment: a day is a range"
  },
  { wrong: "tesla AND quality:true", right: "tesla", why: "An option of the rule, not part of it" }
]

export const firehoseHelp: LanguageHelp = {
  summary:
    'Lucene\'s query syntax over page changes: words and "phrases" in the text that a page gained, field:value for everything else, joined with AND, OR and NOT in capitals and parentheses. A rule matches when a crawled page changed in a way that it describes.',
  operators: [
    ...operators.map(({ form, meaning, example }) => ({ name: form, description: meaning, example })),
    ...fields.map(({ name, description, example }) => ({ name: `${name}:`, description, example }))
  ],
  examples,
  mistakes,
  limits: {
    rule_length: limits.maxLength,
    clauses: limits.maxClauses,
    nesting: limits.maxDepth,
    phrase_slop: limits.maxSlop
  },
  page: (all) =>
    [
      "# Rules on Firehose",
      "A rule is a Lucene query (classic grammar). It is tested on every page that is crawled and found changed; a word without a field is looked up in `added`, the text that the page gained.",
      section(
        "How clauses combine",
        bullets([
          "`a AND b`: both. `a OR b`: either. `a AND NOT b`: the first without the second. Capitals only.",
          "**There is no precedence.** AND makes its two neighbours required, OR leaves its clause optional, and an optional clause beside a required one has no effect: `a AND b OR c` means `a AND b`. Put every mix in parentheses: `(a AND b) OR c`, `a AND (b OR c)`.",
          "`a b` means `a OR b`. Always write the operator.",
          "NOT only takes away: a rule or a group of nothing else matches no page. `(*:* AND NOT a)` is everything without a.",
          "`recent:` stands once, at the top level, joined with AND: `(a OR b) AND recent:24h`."
        ])
      ),
      section("Signs and words", table(["Form", "Meaning", "Example"], signRows)),
      section(
        "Fields",
        "Text fields are searched word by word, keyword fields compared whole. Absent fields never match; of several values one is enough.",
        table(["Field", "Kind", "Holds", "Example"], fields.map(fieldRow))
      ),
      section(
        "How text is compared",
        bullets([
          "Text fields: in any case, whole words, no stemming. Write the forms out, `(recall OR recalls)`, or a wildcard, `recall*`. Accents count.",
          `Stop words are left out of text fields, save \`title\`: ${stopWords.join(" ")}. In a phrase any word fits in their place.`,
          "Punctuation parts words, but a dot, an apostrophe or an underscore between letters does not: `node.js` and `o'neil` are one word. Signs such as `#` and `@` are dropped. Chinese and Japanese characters are words one by one: quote them.",
          "Keyword fields (`url`, `domain`, labels, `language`, `publish_time`): the whole value with its case, or a wildcard or pattern for the whole of it.",
          'Outside quotes put a backslash before `+ - ! ( ) : ^ [ ] " { } ~ * ? \\ /` to mean the sign, in quotes only before `"` and `\\`. In JSON every backslash is doubled.'
        ])
      ),
      section(
        "Values",
        bullets([
          `\`language:\` takes ${languages.join(" ")}.`,
          `\`page_type:\` begins with ${pageTypes.map((label) => code(label)).join(", ")}; for example ${pageTypeChildren
            .slice(0, 6)
            .map((label) => code(label))
            .join(", ")}.`,
          `\`page_category:\` begins with ${pageCategories.map((label) => code(label)).join(", ")}; for example ${pageCategoryChildren
            .slice(0, 4)
            .map((label) => code(label))
            .join(", ")}. A label includes those below it.`,
          "`dr:` is a number from 0 to 100, `publish_time:` local as 2025-06-15T15:06:40, `recent:` as `24h`, `7d` or `3mo`."
        ])
      ),
      section(
        "Not possible here",
        "Authors, accounts and tags (use `domain:`), the text that a page had all along (only what it gained or lost is searched), making a page be crawled, filters of the dashboard (`$name`), and the options `quality` and `nsfw`, which belong to the rule and not to its text."
      ),
      section("Limits", limitList(all, limitNames)),
      section("Examples", exampleList(examples)),
      section("Common mistakes", mistakeTable(mistakes))
    ].join("\n\n")
}

// ---- helpers ----

/** Forms that the list of how clauses combine shows already, and other spellings of them. */
const shownAbove = new Set(["and", "or", "not", "side by side", "every page"])

const signRows = operators
  .filter(({ name }) => !shownAbove.has(name))
  // Markdown takes a bare backslash before a sign for its own.
  .map(({ form, meaning, example }) => [code(form), meaning.replace(/\\[a-z/]/g, "`$&`"), code(example)])

function fieldRow({ name, kind, description, example }: Field): ReadonlyArray<string> {
  return [code(name), kind, description, code(example)]
}

const limitNames: Readonly<Record<string, string>> = {
  rules_per_account: "Rules of one account",
  rule_length: "Characters in a rule",
  clauses: "Clauses in a rule",
  nesting: "Levels of parentheses",
  phrase_slop: 'Largest n in `"a b"~n`'
}
