/** The fields of a filter on feed items, their names in explanations, and common wrong names. */
import type { FieldNames } from "../expression/FieldNames.ts"
import { type FieldSet, fieldSet, type MisnamedField, misnamedAs, withoutField } from "../firehose/fieldSet.ts"
import { keywordForms, likeFirehose } from "../firehose/fields.ts"

const keyword = { kind: "keyword", caseSensitive: true, multiValued: true, forms: keywordForms } as const

export const feedFields: FieldSet = fieldSet({
  defaultName: "added",
  noun: { one: "item", many: "items" },
  all: [
    likeFirehose("added", {
      description:
        "Title and text of the item without HTML. The default field: a word without a field is searched here. Split into lower-case words, stop words removed",
      example: 'added:"electric vehicle"'
    }),
    likeFirehose("added_anchor", {
      description: "Link texts of the item. Split into lower-case words, stop words removed",
      example: "added_anchor:download"
    }),
    likeFirehose("title", {
      description: "Title of the item. Split into lower-case words, stop words kept",
      example: 'title:"breaking news"'
    }),
    likeFirehose("url", {
      description: "Full address that the item links to, as one value",
      example: "tesla AND NOT url:*\\/tag\\/*"
    }),
    likeFirehose("domain", {
      description: "Host of that address in lower case without www., and its parents",
      example: "tesla AND domain:example.com"
    }),
    likeFirehose("publish_time", {
      description:
        "Publication time that the feed states, in UTC, such as 2025-06-15T15:06:40. Compared as text. Items without a date never match, and feeds may state any date",
      example: "tesla AND publish_time:[2026-01-01T00\\:00\\:00 TO *]"
    }),
    {
      ...keyword,
      name: "page_category",
      target: "firehose.page_category",
      description: "Categories or tags of the item, as the feed writes them",
      example: 'page_category:"Politics"'
    },
    {
      ...keyword,
      name: "page_type",
      target: "firehose.page_type",
      description: "Format of the feed, rss, atom, rdf or json, and the types of the files that the item has",
      example: 'page_type:"audio/mpeg"'
    },
    likeFirehose("language", {
      format: "code",
      multiValued: true,
      description: "Language code of the item, or else of its feed, in lower case, and without its region",
      example: "title:tesla AND language:en"
    }),
    {
      ...keyword,
      name: "feed",
      target: "feeds.feed",
      description: "Address or title of the feed, as one value",
      example: "tesla AND feed:*nasa*"
    },
    {
      ...keyword,
      name: "author",
      target: "feeds.author",
      description: "Names of the authors",
      example: 'author:"Ada Lovelace"'
    },
    {
      ...keyword,
      name: "has",
      target: "feeds.has",
      values: ["enclosure"],
      description: "enclosure: the item has a file, such as an episode of a podcast",
      example: "tesla AND has:enclosure"
    },
    likeFirehose("recent", {
      description:
        "Age limit by publication time: a whole number and h (hours), d (days) or mo (months of 30 days). Once per rule, at the top level, joined with AND",
      example: "tesla AND recent:24h"
    })
  ],
  misnamed: new Map<string, MisnamedField>([
    ...misnamedAs("added", "text content body summary description diff"),
    ...misnamedAs("title", "headline intitle name"),
    ...misnamedAs("url", "link uri inurl"),
    ...misnamedAs("domain", "site host"),
    ...misnamedAs("page_category", "category categories tag tags topic subject"),
    ...misnamedAs("page_type", "type format page_types enclosure"),
    ...misnamedAs("language", "lang"),
    ...misnamedAs("feed", "source channel"),
    ...misnamedAs("author", "from by creator user"),
    ...misnamedAs("publish_time", "date published pubdate updated"),
    ...withoutField("Feeds do not say what was removed", "removed removed_anchor"),
    ...withoutField("Feeds have no Domain Rating", "dr domain_rating"),
    ...withoutField("It is part of the X query language", "is")
  ])
})

export const fieldNames = {
  text: {
    "firehose.added": "the text of the item",
    "firehose.added_anchor": "a link text of the item",
    "firehose.title": "the title of the item"
  },
  keyword: {
    "firehose.url": { name: "The address of the item" },
    "firehose.domain": { name: "The domain of the item" },
    "firehose.publish_time": { name: "The publication time of the item" },
    "firehose.page_category": { name: "A category of the item" },
    "firehose.page_type": { name: "A type of the item", isCoarse: true },
    "firehose.language": { name: "The language of the item", isCoarse: true },
    "feeds.feed": { name: "The feed" },
    "feeds.author": { name: "An author of the item" },
    "feeds.has": { name: "What the item has", isCoarse: true }
  },
  number: {}
} satisfies FieldNames
