/** The fields of a Firehose query, common wrong names for them, and the limits. */
import {
  type Field,
  type FieldSet,
  type Form,
  fieldSet,
  type KeywordFieldInfo,
  type MisnamedField
} from "./fieldSet.ts"

/** The service documents no limits: `maxLength` and `maxClauses` are assumptions about its parser. */
export const limits = {
  maxLength: 8192,
  maxClauses: 1024,
  maxDepth: 50,
  maxSlop: 1000,
  maxWildcards: 64
} as const

export const textForms: ReadonlyArray<Form> = ["term", "phrase", "wildcard", "fuzzy", "regex", "group"]
export const keywordForms: ReadonlyArray<Form> = ["term", "phrase", "wildcard", "fuzzy", "regex", "range", "group"]

export const fields: ReadonlyArray<Field> = [
  {
    kind: "text",
    name: "added",
    target: "firehose.added",
    keepsStopWords: false,
    caseSensitive: false,
    multiValued: true,
    description:
      "Text that a page gained since its last crawl. The default field: a word without a field is searched here. Split into lower-case words, stop words removed",
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
    description: "Text that a page lost since its last crawl. Split into lower-case words, stop words removed",
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
    description: "Link texts that a page gained. Split into lower-case words, stop words removed",
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
    description: "Link texts that a page lost. Split into lower-case words, stop words removed",
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
    description: "Title of the page. Split into lower-case words, stop words kept",
    forms: textForms,
    example: 'title:"breaking news"'
  },
  {
    kind: "keyword",
    name: "url",
    target: "firehose.url",
    format: "url",
    caseSensitive: true,
    multiValued: false,
    description:
      "Full address of the page, including the scheme, as one value. It only filters crawled pages; it does not cause a page to be crawled",
    forms: keywordForms,
    example: "tesla AND NOT url:*\\/tag\\/*"
  },
  {
    kind: "keyword",
    name: "domain",
    target: "firehose.domain",
    format: "domain",
    caseSensitive: true,
    multiValued: true,
    description:
      'Host of the page in lower case without "www.", and each parent down to the registrable domain: a page of blog.example.com has blog.example.com and example.com',
    forms: keywordForms,
    example: "domain:techcrunch.com AND title:IPO"
  },
  {
    kind: "keyword",
    name: "publish_time",
    target: "firehose.publish_time",
    format: "time",
    caseSensitive: true,
    multiValued: false,
    description:
      "Publication time stated by the page: local date and time without a zone, such as 2025-06-15T15:06:40. Compared as text, so ranges follow time order. Pages without a date never match",
    forms: keywordForms,
    example: "tesla AND publish_time:[2025-01-01T00\\:00\\:00 TO 2025-12-31T23\\:59\\:59]"
  },
  {
    kind: "keyword",
    name: "page_category",
    target: "firehose.page_category",
    format: "page_category",
    caseSensitive: true,
    multiValued: true,
    description:
      "Topic labels such as /News/Technology_News; a page also has the parents of its labels. Quote them: they begin with a slash",
    forms: keywordForms,
    example: 'title:tesla AND page_category:"/News"'
  },
  {
    kind: "keyword",
    name: "page_type",
    target: "firehose.page_type",
    format: "page_type",
    caseSensitive: true,
    multiValued: true,
    description:
      "Page type labels such as /Article/How_to; a page also has the parents of its labels. Quote them: they begin with a slash",
    forms: keywordForms,
    example: 'title:tesla AND page_type:"/Article"'
  },
  {
    kind: "keyword",
    name: "language",
    target: "firehose.language",
    format: "language",
    caseSensitive: true,
    multiValued: false,
    description: "Language code of the page in lower case, such as en, fr or zh-cn",
    forms: keywordForms,
    example: "title:tesla AND language:en"
  },
  {
    kind: "number",
    name: "dr",
    target: "firehose.dr",
    range: { name: "Domain Rating", max: 100 },
    caseSensitive: false,
    multiValued: false,
    description: "Domain Rating of the site, 0 to 100",
    forms: ["term", "phrase", "range", "group"],
    example: "tesla AND dr:[50 TO 100]"
  },
  {
    kind: "filter",
    name: "recent",
    caseSensitive: true,
    multiValued: false,
    description:
      "Age limit by publication time: a whole number and h (hours), d (days) or mo (months of 30 days). Once per rule, at the top level, joined with AND. Without it pages of any age match",
    forms: ["term"],
    example: "tesla AND recent:24h"
  }
]

const ruleOption: MisnamedField = {
  isRuleOption: true,
  why: "It is an option of the rule, not part of the query: remove it and set the option when you create the rule"
}

/** Wrong names found in public code. */
const misnamed: ReadonlyMap<string, MisnamedField> = new Map<string, MisnamedField>([
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
  ["quality", ruleOption],
  ["nsfw", ruleOption],
  ["tag", ruleOption],
  ["since", { why: "It is an option of the stream; to limit the age of pages write AND recent:24h" }],
  ["after", { why: "Write a range: publish_time:[2025-01-01T00\\:00\\:00 TO *]" }],
  ["before", { why: "Write a range: publish_time:[* TO 2025-12-31T23\\:59\\:59]" }],
  ["filetype", { why: "Write a pattern for the address: url:/.*\\.pdf/" }],
  ["ext", { why: "Write a pattern for the address: url:/.*\\.pdf/" }],
  ["from", { why: "Pages have no author; use domain: for the site" }],
  ["author", { why: "Pages have no author; use domain: for the site" }],
  ["is", { why: "It is part of the X query language" }],
  ["has", { why: "It is part of the X query language" }]
])

export const firehoseFields: FieldSet = fieldSet({
  all: fields,
  defaultName: "added",
  misnamed,
  noun: { one: "page", many: "pages", event: "crawled page" }
})

/** A field of Firehose for another language. */
export const likeFirehose = (
  name: string,
  change: Partial<Pick<Field, "description" | "example" | "multiValued"> & Pick<KeywordFieldInfo, "format">>
): Field => {
  const field = firehoseFields.of(name)
  if (field === undefined) throw new Error(`Firehose has no field "${name}"`)
  return { ...field, ...change }
}
