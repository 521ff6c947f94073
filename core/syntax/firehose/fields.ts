/** The fields a Firehose query can name, what each holds and accepts, the names people write by mistake, and the limits. */
import type { KeywordField, NumberField, TextField } from "../expression/expression.ts"

export type FieldName =
  | "added"
  | "removed"
  | "added_anchor"
  | "removed_anchor"
  | "title"
  | "url"
  | "domain"
  | "publish_time"
  | "page_category"
  | "page_type"
  | "language"
  | "dr"
  | "recent"

/** The ways a value can be written after a field. */
export type Form = "term" | "phrase" | "wildcard" | "fuzzy" | "regex" | "range" | "group"

interface FieldFacts {
  readonly name: FieldName
  readonly caseSensitive: boolean
  /** The page can carry several values; one that fits is enough. */
  readonly multiValued: boolean
  readonly holds: string
  readonly forms: ReadonlyArray<Form>
  /** A whole rule that passes the checker. */
  readonly example: string
}

export interface TextFieldFacts extends FieldFacts {
  readonly kind: "text"
  readonly target: TextField
  /** The analysis keeps stop words in `title` and takes them out everywhere else. */
  readonly keepsStopWords: boolean
}

export interface KeywordFieldFacts extends FieldFacts {
  readonly kind: "keyword"
  readonly target: KeywordField
}

export interface NumberFieldFacts extends FieldFacts {
  readonly kind: "number"
  readonly target: NumberField
}

export interface FilterFieldFacts extends FieldFacts {
  readonly kind: "filter"
}

export type Field = TextFieldFacts | KeywordFieldFacts | NumberFieldFacts | FilterFieldFacts

/** The service documents no length; the length and the count of clauses are what its parser is assumed to take. */
export const limits = {
  maxLength: 8192,
  maxClauses: 1024,
  maxDepth: 50,
  maxSlop: 1000,
  maxWildcards: 64,
  /** States of the automaton that a pattern unfolds to. */
  maxRegexSize: 10_000,
  maxRegexDepth: 50
} as const

const textForms: ReadonlyArray<Form> = ["term", "phrase", "wildcard", "fuzzy", "regex", "group"]
const keywordForms: ReadonlyArray<Form> = ["term", "phrase", "wildcard", "fuzzy", "regex", "range", "group"]

export const fields: ReadonlyArray<Field> = [
  {
    kind: "text",
    name: "added",
    target: "firehose.added",
    keepsStopWords: false,
    caseSensitive: false,
    multiValued: true,
    holds:
      "Text that a page gained since its last crawl. The default field: a word without a field is looked up here. Split into lower-case words, stop words removed",
    forms: textForms,
    example: 'added:"electric vehicle"'
  },
  {
    kind: "text",
    name: "removed",
    target: "firehose.removed",
    keepsStopWords: false,
    caseSensitive: false,
    multiValued: true,
    holds: "Text that a page lost since its last crawl. Split into lower-case words, stop words removed",
    forms: textForms,
    example: 'removed:"old feature"'
  },
  {
    kind: "text",
    name: "added_anchor",
    target: "firehose.added_anchor",
    keepsStopWords: false,
    caseSensitive: false,
    multiValued: true,
    holds: "Link texts that a page gained. Split into lower-case words, stop words removed",
    forms: textForms,
    example: "added_anchor:buy"
  },
  {
    kind: "text",
    name: "removed_anchor",
    target: "firehose.removed_anchor",
    keepsStopWords: false,
    caseSensitive: false,
    multiValued: true,
    holds: "Link texts that a page lost. Split into lower-case words, stop words removed",
    forms: textForms,
    example: "removed_anchor:buy"
  },
  {
    kind: "text",
    name: "title",
    target: "firehose.title",
    keepsStopWords: true,
    caseSensitive: false,
    multiValued: false,
    holds: "Title of the page. Split into lower-case words, stop words kept",
    forms: textForms,
    example: 'title:"breaking news"'
  },
  {
    kind: "keyword",
    name: "url",
    target: "firehose.url",
    caseSensitive: true,
    multiValued: false,
    holds:
      "Whole address of the page, scheme included, as one value. It narrows what the other clauses find; it never makes a page be crawled",
    forms: keywordForms,
    example: "tesla AND NOT url:*\\/tag\\/*"
  },
  {
    kind: "keyword",
    name: "domain",
    target: "firehose.domain",
    caseSensitive: true,
    multiValued: true,
    holds:
      'Host of the page in lower case without "www.", and each parent of it down to the registrable domain: a page of blog.example.com has blog.example.com and example.com',
    forms: keywordForms,
    example: "domain:techcrunch.com AND title:IPO"
  },
  {
    kind: "keyword",
    name: "publish_time",
    target: "firehose.publish_time",
    caseSensitive: true,
    multiValued: false,
    holds:
      "When the page says it was published: local date and time without a zone, as 2025-06-15T15:06:40. Compared as text, so ranges run in time order. Pages without a date never match",
    forms: keywordForms,
    example: "tesla AND publish_time:[2025-01-01T00\\:00\\:00 TO 2025-12-31T23\\:59\\:59]"
  },
  {
    kind: "keyword",
    name: "page_category",
    target: "firehose.page_category",
    caseSensitive: true,
    multiValued: true,
    holds:
      "Topic labels such as /News/Technology_News; a page carries the parents of its labels too. Quote them: they begin with a slash",
    forms: keywordForms,
    example: 'title:tesla AND page_category:"/News"'
  },
  {
    kind: "keyword",
    name: "page_type",
    target: "firehose.page_type",
    caseSensitive: true,
    multiValued: true,
    holds:
      "Labels of the kind of page such as /Article/How_to; a page carries the parents of its labels too. Quote them: they begin with a slash",
    forms: keywordForms,
    example: 'title:tesla AND page_type:"/Article"'
  },
  {
    kind: "keyword",
    name: "language",
    target: "firehose.language",
    caseSensitive: true,
    multiValued: false,
    holds: "Language code of the page in lower case, as en, fr or zh-cn",
    forms: keywordForms,
    example: "title:tesla AND language:en"
  },
  {
    kind: "number",
    name: "dr",
    target: "firehose.dr",
    caseSensitive: false,
    multiValued: false,
    holds: "Domain Rating of the site, 0 to 100",
    forms: ["term", "phrase", "range", "group"],
    example: "tesla AND dr:[50 TO 100]"
  },
  {
    kind: "filter",
    name: "recent",
    caseSensitive: true,
    multiValued: false,
    holds:
      "Age limit by the time of publication: a whole number and h (hours), d (days) or mo (months of 30 days). Once per rule, at the top level, joined with AND. Without it pages of any age match",
    forms: ["term"],
    example: "tesla AND recent:24h"
  }
]

/** Words without a field are looked up here. */
export const defaultField: FieldName = "added"

export const fieldOf = (name: string): Field | undefined => byName.get(name)

/** A name that is no field: `use` is the field that was meant, `why` what to do when there is none. */
export interface FalseField {
  readonly use?: FieldName
  readonly why?: string
}

export const falseFieldOf = (name: string): FalseField | undefined => falseFields.get(name.toLowerCase())

/** Names that users and other tools write, as they come up in public code. */
export const falseFields: ReadonlyMap<string, FalseField> = new Map<string, FalseField>([
  ["page_types", { use: "page_type" }],
  ["pagetype", { use: "page_type" }],
  ["type", { use: "page_type" }],
  ["types", { use: "page_type" }],
  ["category", { use: "page_category" }],
  ["categories", { use: "page_category" }],
  ["page_categories", { use: "page_category" }],
  ["topic", { use: "page_category" }],
  ["lang", { use: "language" }],
  ["site", { use: "domain" }],
  ["host", { use: "domain" }],
  ["hostname", { use: "domain" }],
  ["link", { use: "url" }],
  ["inurl", { use: "url" }],
  ["uri", { use: "url" }],
  ["intitle", { use: "title" }],
  ["headline", { use: "title" }],
  ["text", { use: "added" }],
  ["content", { use: "added" }],
  ["body", { use: "added" }],
  ["intext", { use: "added" }],
  ["markdown", { use: "added" }],
  ["diff", { use: "added" }],
  ["inserted", { use: "added" }],
  ["ins", { use: "added" }],
  ["deleted", { use: "removed" }],
  ["del", { use: "removed" }],
  ["anchor", { use: "added_anchor" }],
  ["inanchor", { use: "added_anchor" }],
  ["date", { use: "publish_time" }],
  ["published", { use: "publish_time" }],
  ["published_at", { use: "publish_time" }],
  ["publish_date", { use: "publish_time" }],
  ["published_time", { use: "publish_time" }],
  ["domain_rating", { use: "dr" }],
  ["rating", { use: "dr" }],
  ["newer_than", { use: "recent" }],
  ["within", { use: "recent" }],
  [
    "quality",
    { why: "It is an option of the rule, not part of the query: leave it out and set the option when the rule is made" }
  ],
  [
    "nsfw",
    { why: "It is an option of the rule, not part of the query: leave it out and set the option when the rule is made" }
  ],
  [
    "tag",
    { why: "It is an option of the rule, not part of the query: leave it out and set the option when the rule is made" }
  ],
  ["since", { why: "It is an option of the stream; to limit the age of pages write AND recent:24h" }],
  ["after", { why: "Write a range: publish_time:[2025-01-01T00\\:00\\:00 TO *]" }],
  ["before", { why: "Write a range: publish_time:[* TO 2025-12-31T23\\:59\\:59]" }],
  ["filetype", { why: "Write a pattern for the address: url:/.*\\.pdf/" }],
  ["ext", { why: "Write a pattern for the address: url:/.*\\.pdf/" }],
  ["from", { why: "Pages have no author here; use domain: for the site" }],
  ["author", { why: "Pages have no author here; use domain: for the site" }],
  ["is", { why: "It belongs to the query language of X" }],
  ["has", { why: "It belongs to the query language of X" }]
])

/** Options of the rule object that people put in the query. */
export const isRuleOption = (name: string): boolean => name === "quality" || name === "nsfw" || name === "tag"

// ---- helpers ----

const byName = new Map<string, Field>(fields.map((field) => [field.name, field]))
