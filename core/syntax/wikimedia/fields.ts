/** The fields of a filter on wiki changes, their names in explanations, and common wrong names. */
import type { FieldNames } from "../expression/FieldNames.ts"
import { type FieldSet, fieldSet, type MisnamedField, misnamedAs, withoutField } from "../firehose/fieldSet.ts"
import { keywordForms, likeFirehose } from "../firehose/fields.ts"

export const changeTypes = ["edit", "new", "log", "categorize", "external"] as const

const keyword = {
  kind: "keyword",
  caseSensitive: true,
  multiValued: false,
  forms: keywordForms
} as const

const number = {
  kind: "number",
  caseSensitive: false,
  multiValued: false,
  forms: ["term", "phrase", "range", "group"]
} as const

export const wikimediaFields: FieldSet = fieldSet({
  defaultName: "added",
  noun: { one: "change", many: "changes" },
  all: [
    likeFirehose("added", {
      description:
        "The summary that the editor gave, without its markup, and the comment of a log entry. The default field: a word without a field is searched here. The stream has neither the text of the page nor what changed in it",
      example: 'added:"copyright violation"'
    }),
    likeFirehose("title", {
      description: "Title of the page with its namespace, such as Talk:Berlin. Stop words kept",
      example: 'title:"solar eclipse"'
    }),
    likeFirehose("url", {
      description: "Full address of the page, as one value",
      example: "title:eclipse AND NOT url:*\\/User\\:*"
    }),
    likeFirehose("domain", {
      description: "Host of the wiki and its parents: de.wikipedia.org and wikipedia.org",
      example: "title:eclipse AND domain:wikipedia.org"
    }),
    likeFirehose("publish_time", {
      description: "When the change happened, in UTC, such as 2025-06-15T15:06:40. Compared as text",
      example: "title:eclipse AND publish_time:[2026-01-01T00\\:00\\:00 TO *]"
    }),
    {
      ...keyword,
      name: "page_type",
      target: "firehose.page_type",
      values: changeTypes,
      description: `Kind of the change: ${changeTypes.join(", ")}`,
      example: "title:eclipse AND page_type:new"
    },
    likeFirehose("language", {
      format: "code",
      multiValued: true,
      description: "Language of a Wikipedia, Wiktionary or sister project. Wikidata, Commons and Meta have none",
      example: "title:eclipse AND language:de"
    }),
    {
      ...keyword,
      name: "wiki",
      target: "wikimedia.wiki",
      description: "Database name of the wiki, such as enwiki, dewiktionary, wikidatawiki or commonswiki",
      example: "title:eclipse AND wiki:enwiki"
    },
    {
      ...keyword,
      name: "user",
      target: "wikimedia.user",
      description:
        "Name of the user, or the address or temporary name of one without an account. Absent if it is hidden",
      example: 'user:"Jimbo Wales"'
    },
    {
      ...keyword,
      name: "bot",
      target: "wikimedia.bot",
      values: ["true", "false"],
      description: "Whether the user is marked as a bot: true or false. About half of all changes are by bots",
      example: "title:eclipse AND bot:false"
    },
    {
      ...keyword,
      name: "minor",
      target: "wikimedia.minor",
      values: ["true", "false"],
      description: "Whether the editor called the edit minor: true or false. Only edits have it",
      example: "title:eclipse AND minor:false"
    },
    {
      ...number,
      name: "ns",
      target: "wikimedia.ns",
      description:
        "Number of the namespace: 0 articles, 1 their talk pages, 2 users, 6 files, 10 templates, 14 categories",
      example: "eclipse AND ns:0"
    },
    {
      ...number,
      name: "delta",
      target: "wikimedia.delta",
      description: "Bytes that the page gained; negative if it lost some",
      example: "title:eclipse AND delta:[* TO -1000]"
    },
    {
      ...keyword,
      name: "log",
      target: "wikimedia.log",
      multiValued: true,
      description: "Kind of a log entry with its action, such as delete/delete or block/reblock, and the kind alone",
      example: 'log:"delete/delete" AND wiki:enwiki'
    },
    likeFirehose("recent", {
      description:
        "Maximum age of the change: a whole number and h (hours), d (days) or mo (months of 30 days). Once per rule, at the top level, joined with AND. It matters for changes that are sent late",
      example: "title:eclipse AND recent:1h"
    })
  ],
  misnamed: new Map<string, MisnamedField>([
    ...misnamedAs("added", "comment summary text content body message diff"),
    ...misnamedAs("title", "page name article intitle headline"),
    ...misnamedAs("url", "link uri inurl"),
    ...misnamedAs("domain", "site host server server_name"),
    ...misnamedAs("page_type", "type page_types kind"),
    ...misnamedAs("language", "lang"),
    ...misnamedAs("wiki", "db database project"),
    ...misnamedAs("user", "from author editor username by"),
    ...misnamedAs("ns", "namespace"),
    ...misnamedAs("delta", "size length bytes change"),
    ...misnamedAs("log", "log_type log_action"),
    ...misnamedAs("publish_time", "date time timestamp dt published"),
    ...withoutField("The stream does not say what a change removes", "removed removed_anchor"),
    ...withoutField("The stream does not have the links of a change", "added_anchor anchor"),
    ...withoutField("Wikis have no Domain Rating", "dr domain_rating"),
    ...withoutField(
      "The stream does not have the categories of a page; page_type:categorize finds changes of them",
      "page_category category categories"
    ),
    ...withoutField("It is part of the X query language", "is has")
  ])
})

export const fieldNames = {
  text: { "firehose.added": "the summary of the change", "firehose.title": "the title of the page" },
  keyword: {
    "firehose.url": { name: "The address of the page" },
    "firehose.domain": { name: "The domain of the wiki" },
    "firehose.publish_time": { name: "The time of the change" },
    "firehose.page_type": { name: "The kind of the change", isCoarse: true },
    "firehose.language": { name: "The language of the wiki", isCoarse: true },
    "wikimedia.wiki": { name: "The wiki", isCoarse: true },
    "wikimedia.user": { name: "The user" },
    "wikimedia.bot": {
      name: "By a bot",
      isCoarse: true,
      equals: (value) => `The user is ${value === "true" ? "" : "not "}a bot`
    },
    "wikimedia.minor": {
      name: "Minor",
      isCoarse: true,
      equals: (value) => `The edit is ${value === "true" ? "" : "not "}minor`
    },
    "wikimedia.log": { name: "The kind of log entry", isCoarse: true }
  },
  number: { "wikimedia.ns": "The namespace", "wikimedia.delta": "The number of bytes that the page gained" }
} satisfies FieldNames
