/** Help for filters on wiki changes. */
import { grammarSections, languageLimits, limitNames, operatorsOf } from "../firehose/help.ts"
import {
  bullets,
  type Example,
  eventSection,
  exampleList,
  type LanguageHelp,
  limitList,
  type Mistake,
  mistakeTable,
  section
} from "../help/page.ts"
import { wikimediaFields } from "./fields.ts"

const examples: ReadonlyArray<Example> = [
  { rule: "title:eclipse AND wiki:enwiki", description: "changes of English articles with a word in the title" },
  { rule: "title:(acme OR initech) AND ns:0", description: "articles about either company, in all languages" },
  { rule: 'title:"Acme Corporation" AND delta:[* TO -500]', description: "large removals from one page" },
  {
    rule: "(vandalism OR revert OR reverted) AND bot:false",
    description: "summaries that mention vandalism, by people"
  },
  { rule: "page_type:new AND ns:0 AND language:de AND bot:false", description: "new German articles" },
  { rule: 'log:"delete/delete" AND wiki:enwiki', description: "deletions on the English Wikipedia" },
  { rule: "log:block AND domain:wikipedia.org", description: "blocked users of all Wikipedias" },
  { rule: 'user:"Jimbo Wales"', description: "all changes by one user" },
  {
    rule: "title:tesla AND NOT minor:true AND recent:1h",
    description: "changes that are not minor, sent within an hour"
  },
  { rule: '"copyright violation"~3 OR copyvio', description: "summaries with words near each other, or a short form" }
]

const mistakes: ReadonlyArray<Mistake> = [
  { wrong: "eclipse wiki:enwiki", right: "eclipse AND wiki:enwiki", why: "A space means OR" },
  { wrong: "title:eclipse AND type:edit", right: "title:eclipse AND page_type:edit", why: "The field is `page_type`" },
  { wrong: "title:eclipse AND bot:no", right: "title:eclipse AND bot:false", why: "Flags are `true` or `false`" },
  { wrong: "title:eclipse AND ns:talk", right: "title:eclipse AND ns:1", why: "Namespaces are numbers" },
  { wrong: "log:delete/delete", right: 'log:"delete/delete"', why: "An unquoted slash starts a regular expression" },
  { wrong: "removed:eclipse", right: "title:eclipse AND delta:[* TO -1]", why: "The stream has no text of pages" }
]

export const wikimediaHelp: LanguageHelp = {
  summary:
    'Lucene query syntax for changes of wikis: words and "phrases" search the edit summary, field:value searches the title, the wiki, the user and other fields. Join clauses with AND, OR and NOT in upper case, and group them with parentheses.',
  operators: operatorsOf(wikimediaFields),
  examples,
  mistakes,
  limits: languageLimits,
  page: (all) =>
    [
      "# Filters on Wikimedia",
      "A filter is a Lucene query (classic grammar), as on Firehose. It is tested on every change of the wikis of the Wikimedia Foundation: Wikipedia in all languages, Wikidata, Commons and others. A word without a field is searched in `added`, the summary of the edit: most filters look for a word in `title:`.",
      ...grammarSections(wikimediaFields, "all others that are not numbers"),
      section(
        "Values",
        bullets([
          "`wiki:` takes database names: enwiki, dewiki, frwiktionary, wikidatawiki, commonswiki.",
          "`ns:` and `delta:` are numbers: `ns:0`, `delta:[1000 TO *]`, `delta:[* TO -1000]`.",
          '`log:` takes a kind, `log:block`, or a kind with an action, `log:"delete/delete"`. Quote it: it has a slash.'
        ])
      ),
      section(
        "Not possible here",
        "No search in the text of pages or in what a change adds and removes: the stream has neither. Titles and summaries that are hidden later are not withdrawn from what is stored."
      ),
      section("Limits", limitList(all, limitNames)),
      section("Examples", exampleList(examples)),
      eventSection(exampleEvent, "`meta` and `wiki`"),
      section("Common mistakes", mistakeTable(mistakes))
    ].join("\n\n")
}

// ---- helpers ----

const exampleEvent = {
  meta: {
    id: "0c2f0466-2c31-44d4-afe3-ba76365aa382",
    dt: "2026-11-15T08:30:00Z",
    uri: "https://en.wikipedia.org/wiki/Solar_eclipse"
  },
  type: "edit",
  namespace: 0,
  title: "Solar eclipse",
  title_url: "https://en.wikipedia.org/wiki/Solar_eclipse",
  comment: "/* History */ new eclipse",
  user: "Example",
  bot: false,
  minor: false,
  length: { old: 100, new: 180 },
  server_name: "en.wikipedia.org",
  wiki: "enwiki"
}
