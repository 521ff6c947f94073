/** Help for the Firehose rule language. */

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
import type { Field, FieldSet } from "./fieldSet.ts"
import { firehoseFields, limits } from "./fields.ts"
import { languages, pageCategories, pageCategoryChildren, pageTypeChildren, pageTypes } from "./labels.ts"
import { operators } from "./operators.ts"
import { stopWords } from "./tokens.ts"

const examples: ReadonlyArray<Example> = [
  { rule: "tesla AND recall AND recent:24h", description: "two words on pages of the last 24 hours" },
  { rule: '(tesla OR rivian) AND "product recall"', description: "a phrase about either company" },
  {
    rule: 'title:acme AND page_category:"/News" AND language:en AND recent:7d',
    description: "English news with a brand in the title"
  },
  {
    rule: '(acme OR "acme corp") AND NOT domain:acme.com',
    description: "text about a brand on other sites"
  },
  {
    rule: "domain:techcrunch.com AND title:(ipo OR acquisition OR funding)",
    description: "headlines of one site with any of several words"
  },
  {
    rule: 'page_type:"/Listing/Job" AND title:"software engineer" AND language:en',
    description: "new job offers"
  },
  { rule: 'removed:"free plan" AND domain:example.com', description: "a phrase that a site removes" },
  {
    rule: 'added_anchor:"acme" AND NOT domain:acme.com AND dr:[50 TO *]',
    description: "new links from highly rated sites"
  },
  {
    rule: "vulnerability AND (domain:*.gov OR domain:*.edu)",
    description: "a word on government and university sites"
  },
  { rule: "tesla AND url:/.*\\/blog\\/[0-9]{4}\\/.*/", description: "blog posts with a year in the address" },
  {
    rule: "tesla AND NOT url:*\\/tag\\/* AND NOT url:*\\/page\\/*",
    description: "a word, without tag and list pages"
  },
  {
    rule: "earthquake AND publish_time:[2026-01-01T00\\:00\\:00 TO *]",
    description: "pages published on or after a day"
  },
  { rule: '"merger agreement"~4 AND page_category:"/Finance"', description: "two words near each other, by topic" }
]

const mistakes: ReadonlyArray<Mistake> = [
  { wrong: "tesla recall", right: "tesla AND recall", why: "A space means OR" },
  { wrong: "tesla AND ford OR gm", right: "tesla AND (ford OR gm)", why: "Do not mix AND and OR without parentheses" },
  { wrong: "tesla and recall", right: "tesla AND recall", why: "Operators are upper case" },
  { wrong: "NOT ford", right: "tesla AND NOT ford", why: "NOT alone matches nothing" },
  { wrong: "tesla OR NOT ford", right: "tesla AND NOT ford", why: "NOT excludes, also after OR" },
  { wrong: "'electric vehicle'", right: '"electric vehicle"', why: "Phrases need double quotes" },
  { wrong: "coca-cola", right: '"coca-cola"', why: "Unquoted, either word is enough" },
  { wrong: "tesla recent:24h", right: "tesla AND recent:24h", why: "Join `recent:` with AND, once, at the top level" },
  { wrong: "tesla AND recent:2w", right: "tesla AND recent:14d", why: "Ages are in `h`, `d` or `mo`" },
  { wrong: 'page_types:"/Article"', right: 'page_type:"/Article"', why: "Singular in filters, plural in events" },
  { wrong: 'category:"/News"', right: 'page_category:"/News"', why: "The field is `page_category`" },
  {
    wrong: "page_category:/News",
    right: 'page_category:"/News"',
    why: "An unquoted slash starts a regular expression"
  },
  {
    wrong: 'page_category:"/news"',
    right: 'page_category:"/News"',
    why: "Keyword fields are case-sensitive"
  },
  { wrong: "tesla AND language:EN", right: "tesla AND language:en", why: "Codes are lower case" },
  {
    wrong: "url:https://example.com/blog/*",
    right: "url:https\\:\\/\\/example.com\\/blog\\/*",
    why: "Escape `/` and `:`"
  },
  { wrong: 'url:"https://example.com/*"', right: "url:https\\:\\/\\/example.com\\/*", why: "No wildcards in quotes" },
  { wrong: "url:example.com", right: "domain:example.com", why: "`url` matches the whole address" },
  { wrong: "domain:www.example.com", right: "domain:example.com", why: "`domain` has no `www.`" },
  { wrong: "tesla AND url:/.*\\d+/", right: "tesla AND url:/.*[0-9]+/", why: "Lucene has no `\\d`" },
  { wrong: "tesla AND dr:>50", right: "tesla AND dr:{50 TO *]", why: "Use a range" },
  { wrong: "tesla AND dr:[50 to 90]", right: "tesla AND dr:[50 TO 90]", why: "TO is upper case" },
  {
    wrong: "tesla AND publish_time:2025-06-15",
    right: "tesla AND publish_time:[2025-06-15T00\\:00\\:00 TO 2025-06-15T23\\:59\\:59]",
    why: "A day is a range of times"
  },
  { wrong: "tesla AND quality:true", right: "tesla", why: "`quality` is an option of the rule, not a field" }
]

/** Of all languages with this syntax. */
export const languageLimits = {
  rule_length: limits.maxLength,
  clauses: limits.maxClauses,
  nesting: limits.maxDepth,
  phrase_slop: limits.maxSlop
}

export const firehoseHelp: LanguageHelp = {
  summary:
    'Lucene query syntax for page changes: words and "phrases" search the added text of a page, field:value searches other fields. Join clauses with AND, OR and NOT in upper case, and group them with parentheses.',
  operators: operatorsOf(firehoseFields),
  examples,
  mistakes,
  limits: languageLimits,
  page: (all) =>
    [
      "# Filters on Firehose",
      "A filter is a Lucene query (classic grammar). It is tested on every crawled page that has changed. A word without a field is searched in `added`, the text that was added to the page.",
      ...grammarSections(firehoseFields, "`url`, `domain`, labels, `language`, `publish_time`"),
      section(
        "Values",
        bullets([
          `\`language:\` takes ${languages.join(" ")}.`,
          `\`page_type:\` starts with ${pageTypes.map((label) => code(label)).join(", ")}; for example ${pageTypeChildren
            .slice(0, 6)
            .map((label) => code(label))
            .join(", ")}.`,
          `\`page_category:\` starts with ${pageCategories.map((label) => code(label)).join(", ")}; for example ${pageCategoryChildren
            .slice(0, 4)
            .map((label) => code(label))
            .join(", ")}. A label includes its children.`,
          "`dr:` is a number from 0 to 100, `publish_time:` a local time such as 2025-06-15T15:06:40, `recent:` an age such as `24h`, `7d` or `3mo`."
        ])
      ),
      section(
        "Not possible here",
        "No authors, accounts or tags (use `domain:`). No search in unchanged text: only added and removed text is searched. A filter does not cause a page to be crawled. No dashboard filters (`$name`). `quality` and `nsfw` are options of the rule, not part of its text."
      ),
      section("Limits", limitList(all, limitNames)),
      section("Examples", exampleList(examples)),
      eventSection(exampleEvent, "`document` and its `url`"),
      section("Common mistakes", mistakeTable(mistakes))
    ].join("\n\n")
}

/** What all languages with this syntax have in common. */
export const grammarSections = (set: FieldSet, keywords: string): ReadonlyArray<string> => {
  const { all } = set
  return [
    section(
      "How clauses combine",
      bullets(
        [
          "`a AND b`: both. `a OR b`: either. `a AND NOT b`: a but not b. Operators are upper case.",
          "**There is no precedence.** AND makes its two neighbours required, OR leaves its clause optional, and an optional clause next to a required one has no effect: `a AND b OR c` means `a AND b`. Use parentheses: `(a AND b) OR c`, `a AND (b OR c)`.",
          "`a b` means `a OR b`. Always write the operator.",
          "NOT only excludes: a filter or group with only excluded clauses matches no page. `(*:* AND NOT a)` matches every page without a.",
          "Use `recent:` once, at the top level, joined with AND: `(a OR b) AND recent:24h`."
        ].map((text) => named(text, set))
      )
    ),
    section("Operators", table(["Form", "Meaning", "Example"], operatorRows(set))),
    section(
      "Fields",
      "Text fields match single words, keyword fields the whole value. An absent field never matches. If a field has several values, one match is enough.",
      table(["Field", "Kind", "Holds", "Example"], all.map(fieldRow))
    ),
    section(
      "How text is compared",
      bullets([
        "Text fields: whole words, any case, no stemming. List all forms, `(recall OR recalls)`, or use a wildcard, `recall*`. Accents count.",
        `Stop words are removed from text fields, except \`title\`: ${stopWords.join(" ")}. In a phrase, any word matches in their place.`,
        "Punctuation splits words, except a dot, an apostrophe or an underscore between letters: `node.js` and `o'neil` are one word. Symbols such as `#` and `@` are dropped. Each Chinese or Japanese character is a word: quote them.",
        `Keyword fields (${keywords}): the whole value, case-sensitive. A wildcard or regular expression must match the whole value.`,
        'Outside quotes, put a backslash before a literal `+ - ! ( ) : ^ [ ] " { } ~ * ? \\ /`; inside quotes only before `"` and `\\`. In JSON, write each backslash twice.'
      ])
    )
  ]
}

/** The operators and fields, with the words of a language. */
export function operatorsOf(set: FieldSet): LanguageHelp["operators"] {
  return [
    ...operators.map(({ form, meaning, example }) => ({
      name: form,
      description: named(meaning, set),
      example: withFieldsOf(example, set)
    })),
    ...set.all.map(({ name, description, example }) => ({ name: `${name}:`, description, example }))
  ]
}

// ---- helpers ----

const exampleEvent = {
  document: {
    url: "https://example.org/comet",
    title: "A comet tonight",
    language: "en",
    publish_time: "2026-11-15T08:30:00",
    page_category: ["/Science"],
    diff: {
      chunks: [
        { typ: "ins", text: "The comet is visible tonight" },
        { typ: "del", text: "No comet is expected" }
      ]
    }
  }
}

/** "How clauses combine" shows these. */
const combining = new Set(["and", "or", "not", "side by side", "every page"])

const operatorRows = (set: FieldSet): ReadonlyArray<ReadonlyArray<string>> =>
  operators
    .filter(({ name }) => !combining.has(name))
    // In Markdown a backslash outside of a code span escapes.
    .map(({ form, meaning, example }) => [
      code(form),
      named(meaning, set).replace(/\\[a-z/]/g, "`$&`"),
      code(withFieldsOf(example, set))
    ])

/** With the events of another language. */
function named(text: string, { noun }: FieldSet): string {
  return text.replace(/\bpages\b/g, noun.many).replace(/\bpage\b/g, noun.one)
}

/** Without Domain Rating, dates show the ranges. */
function withFieldsOf(example: string, { of }: FieldSet): string {
  return of("dr") !== undefined
    ? example
    : example.replace(
        /\bdr:([[{])\d+ TO (\d+|\*)/,
        (_, open, to) => `publish_time:${open}2025 TO ${to === "*" ? to : "2026"}`
      )
}

function fieldRow({ name, kind, description, example }: Field): ReadonlyArray<string> {
  return [code(name), kind, description, code(example)]
}

export const limitNames: Readonly<Record<string, string>> = {
  rules_per_account: "Rules per account",
  rule_length: "Characters per filter",
  clauses: "Clauses per filter",
  nesting: "Levels of parentheses",
  phrase_slop: 'Largest n in `"a b"~n`'
}
