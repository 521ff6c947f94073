/** What the editor knows of each language. A platform that is not here gets an editor without colors. */
import { blueskySummary } from "../../core/syntax/bluesky/summary.ts"
import type { EventSummary } from "../../core/syntax/expression/eventFields.ts"
import { itemSummary } from "../../core/syntax/feeds/summary.ts"
import { labelsOf, languages as pageLanguages } from "../../core/syntax/firehose/labels.ts"
import { firehoseSummary } from "../../core/syntax/firehose/summary.ts"
import { changeSummary } from "../../core/syntax/wikimedia/summary.ts"
import { xSummary } from "../../core/syntax/x/summary.ts"
import { languages as postLanguages } from "../../core/syntax/x/vocabulary.ts"
import { firehoseTokens, type Token, xTokens } from "./tokens.ts"

export interface KnownValue {
  readonly text: string
  /** What it stands for. */
  readonly meaning?: string
}

export interface EditorLanguage {
  readonly tokens: (text: string) => ReadonlyArray<Token>
  /** Known values of fields, as they are written in a filter. */
  readonly values: Readonly<Record<string, ReadonlyArray<KnownValue>>>
  /** What a filter selects: `posts`. */
  readonly events: string
  /** A filter to start with, simple and with frequent matches. */
  readonly starter: { readonly rule: string; readonly description: string }
  /** An event with this text and nothing else of interest. */
  readonly eventOf: (text: string) => unknown
  readonly summaryOf: (event: unknown) => EventSummary
}

export const languageOf = (platform: string): EditorLanguage => LANGUAGES[platform] ?? UNKNOWN

// ---- helpers ----

const ofPosts = postLanguages.map(({ code, name }): KnownValue => ({ text: code, meaning: name }))
const ofPages = pageLanguages.map((code): KnownValue => ({ text: code }))
const flags: ReadonlyArray<KnownValue> = [{ text: "true" }, { text: "false" }]

const quoted = (label: string): KnownValue => ({ text: `"${label}"` })

/** The fields of Wikimedia are large: they have the help of each field. */
const CHANGE_TYPES = ["edit", "new", "log", "categorize", "external"]

const LANGUAGES: Readonly<Record<string, EditorLanguage>> = {
  x: {
    tokens: xTokens,
    values: { lang: ofPosts },
    events: "posts",
    starter: { rule: "(earthquake OR quake) lang:en", description: "one of two words, in English" },
    eventOf: (text) => ({ data: { id: "1", text } }),
    summaryOf: xSummary
  },
  firehose: {
    tokens: firehoseTokens,
    values: {
      language: ofPages,
      page_category: labelsOf("page_category").map(quoted),
      page_type: labelsOf("page_type").map(quoted)
    },
    events: "pages",
    starter: { rule: "(earthquake OR quake) AND language:en", description: "one of two words, in English" },
    eventOf: (text) => ({ document: { url: "https://example.org/", diff: { chunks: [{ typ: "ins", text }] } } }),
    summaryOf: firehoseSummary
  },
  bluesky: {
    tokens: xTokens,
    values: { lang: ofPosts.filter(({ text }) => /^[a-z]{2}$/.test(text)) },
    events: "posts",
    starter: { rule: "(earthquake OR quake) lang:en", description: "one of two words, in English" },
    eventOf: (text) => ({ did: "did:plc:1", commit: { rkey: "1", record: { text } } }),
    summaryOf: blueskySummary
  },
  wikimedia: {
    tokens: firehoseTokens,
    values: {
      language: ofPages,
      page_type: CHANGE_TYPES.map((text) => ({ text })),
      bot: flags,
      minor: flags
    },
    events: "changes",
    starter: { rule: "earthquake AND domain:wikipedia.org", description: "a word, on all Wikipedias" },
    eventOf: (text) => ({ meta: { id: "1" }, wiki: "enwiki", comment: text }),
    summaryOf: changeSummary
  },
  feeds: {
    tokens: firehoseTokens,
    values: { language: ofPages, has: [{ text: "enclosure" }] },
    events: "items",
    starter: { rule: "earthquake OR quake", description: "one of two words" },
    eventOf: (text) => ({ feed: { url: "https://example.org/feed.xml" }, item: { id: "1", title: text } }),
    summaryOf: itemSummary
  }
}

const UNKNOWN: EditorLanguage = {
  tokens: () => [],
  values: {},
  events: "events",
  starter: { rule: "earthquake", description: "one word" },
  eventOf: (text) => ({ text }),
  summaryOf: () => ({})
}
