/** Help for filters on feed items. */
import { grammarSections, languageLimits, limitNames, operatorsOf } from "../firehose/help.ts"
import {
  type Example,
  eventSection,
  exampleList,
  type LanguageHelp,
  limitList,
  type Mistake,
  mistakeTable,
  section
} from "../help/page.ts"
import { feedFields } from "./fields.ts"

const examples: ReadonlyArray<Example> = [
  { rule: "earthquake AND language:en", description: "English items about earthquakes" },
  { rule: "title:(acme OR initech)", description: "items with either company in the title" },
  { rule: '"security advisory" AND NOT domain:example.com', description: "a phrase, on other sites" },
  { rule: "feed:*nasa* AND (launch OR landing)", description: "words in the feeds of one publisher" },
  { rule: 'page_category:"Politics" AND recent:24h', description: "items of a category, published within a day" },
  { rule: "interview AND has:enclosure", description: "episodes with a file" }
]

const mistakes: ReadonlyArray<Mistake> = [
  { wrong: "tesla recall", right: "tesla AND recall", why: "A space means OR" },
  { wrong: "category:Politics", right: "page_category:Politics", why: "The field is `page_category`" },
  {
    wrong: "page_type:audio/mpeg",
    right: 'page_type:"audio/mpeg"',
    why: "An unquoted slash starts a regular expression"
  },
  { wrong: "url:example.com", right: "domain:example.com", why: "`url` matches the whole address" },
  { wrong: "dr:[50 TO *]", right: "domain:example.com", why: "Feeds have no Domain Rating" }
]

export const feedsHelp: LanguageHelp = {
  summary:
    'Lucene query syntax for items of feeds: words and "phrases" search the title and text of an item, field:value searches other fields. Join clauses with AND, OR and NOT in upper case, and group them with parentheses.',
  operators: operatorsOf(feedFields),
  examples,
  mistakes,
  limits: languageLimits,
  page: (all) =>
    [
      "# Filters on feeds",
      "A filter is a Lucene query (classic grammar), as on Firehose. It is tested on every item that appears in a feed which this deployment reads. A word without a field is searched in `added`: the title and the text of the item.",
      ...grammarSections(feedFields, "all others"),
      section(
        "Not possible here",
        "Only the first 10,000 characters of an item are read. An item that the publisher changes is not matched again. The items that a feed has when it is read for the first time match nothing."
      ),
      section("Limits", limitList(all, limitNames)),
      section("Examples", exampleList(examples)),
      eventSection(exampleEvent, "`feed` with its `url`, and `item`"),
      section("Common mistakes", mistakeTable(mistakes))
    ].join("\n\n")
}

// ---- helpers ----

const exampleEvent = {
  feed: { url: "https://example.org/feed.xml", title: "Example News", format: "rss", language: "en" },
  item: {
    id: "https://example.org/comet",
    url: "https://example.org/comet",
    title: "A comet tonight",
    summary: "The comet is visible tonight",
    categories: ["Science"],
    published: "2026-11-15T08:30:00Z"
  }
}
