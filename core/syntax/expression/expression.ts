/**
 * The meaning of a rule, independent of its language: a Boolean tree over the fields of an event. The parsers lower to
 * it; the translator, the explainer and the engine read nothing else.
 */
import type { Span } from "../issue.ts"

/** Free text, compared token by token after the platform's analysis. */
export const TEXT_FIELDS = [
  "x.text",
  "x.url",
  "x.url_title",
  "x.url_description",
  "x.bio",
  "x.bio_name",
  "x.bio_location",
  "x.place",
  "firehose.added",
  "firehose.removed",
  "firehose.added_anchor",
  "firehose.removed_anchor",
  "firehose.title"
] as const
export type TextField = (typeof TEXT_FIELDS)[number]

/** Values compared whole: case-insensitive on `x`, case-sensitive on `firehose`. A field may have several values. */
export const KEYWORD_FIELDS = [
  "x.hashtag",
  "x.mention",
  "x.cashtag",
  "x.from",
  "x.to",
  "x.retweets_of",
  "x.from_affiliate_of",
  "x.to_affiliate_of",
  "x.url",
  "x.lang",
  "x.source",
  "x.context",
  "x.entity",
  "x.conversation_id",
  "x.place_id",
  "x.place_country",
  "x.in_reply_to_tweet_id",
  "x.retweets_of_tweet_id",
  "x.is",
  "x.has",
  "firehose.url",
  "firehose.domain",
  "firehose.publish_time",
  "firehose.page_category",
  "firehose.page_type",
  "firehose.language"
] as const
export type KeywordField = (typeof KEYWORD_FIELDS)[number]

export type NumberField =
  | "x.followers_count"
  | "x.tweets_count"
  | "x.following_count"
  | "x.listed_count"
  | "firehose.dr"

/** One end of a range. */
export interface Bound<A> {
  readonly value: A
  readonly inclusive: boolean
}

/** A test on one event. `span`: its range in the rule's text. */
export type Predicate =
  /** The words in this order, within `slop` position moves. A single word is a phrase too. */
  | {
      readonly _tag: "Phrase"
      readonly field: TextField
      readonly words: ReadonlyArray<string>
      /** Position of each word relative to the first, if stop words left gaps. Default: 0, 1, 2 and so on. */
      readonly offsets?: ReadonlyArray<number>
      readonly slop: number
      readonly span: Span
    }
  /** A token, or a whole keyword value, matches a pattern of literals, `?` (one character) and `*` (any string). */
  | {
      readonly _tag: "Wildcard"
      readonly field: TextField | KeywordField
      readonly parts: ReadonlyArray<string | WildcardSign>
      readonly span: Span
    }
  /** A token, or a whole keyword value, within `distance` edits of the word. */
  | {
      readonly _tag: "Fuzzy"
      readonly field: TextField | KeywordField
      readonly word: string
      readonly distance: 0 | 1 | 2
      readonly span: Span
    }
  /** A token or keyword value matches the whole pattern, in Lucene's regular-expression dialect. */
  | {
      readonly _tag: "Regex"
      readonly field: TextField | KeywordField
      readonly pattern: string
      readonly span: Span
    }
  | { readonly _tag: "Equals"; readonly field: KeywordField; readonly value: string; readonly span: Span }
  /** A keyword value contains the text. */
  | { readonly _tag: "Contains"; readonly field: KeywordField; readonly text: string; readonly span: Span }
  | {
      readonly _tag: "NumberRange"
      readonly field: NumberField
      readonly from: Bound<number> | undefined
      readonly to: Bound<number> | undefined
      readonly span: Span
    }
  /** Keywords are ordered by UTF-16 code units. */
  | {
      readonly _tag: "KeywordRange"
      readonly field: KeywordField
      readonly from: Bound<string> | undefined
      readonly to: Bound<string> | undefined
      readonly span: Span
    }
  | {
      readonly _tag: "Radius"
      readonly longitude: number
      readonly latitude: number
      readonly kilometres: number
      readonly span: Span
    }
  | {
      readonly _tag: "Box"
      readonly west: number
      readonly south: number
      readonly east: number
      readonly north: number
      readonly span: Span
    }
  /** A stable share of all events, by a hash of the event's id. */
  | { readonly _tag: "Sample"; readonly percent: number; readonly span: Span }
  /** Published at most `hours` before it was matched. */
  | { readonly _tag: "Recent"; readonly hours: number; readonly span: Span }

export interface WildcardSign {
  readonly sign: "?" | "*"
}

export type Expression =
  | Predicate
  | { readonly _tag: "And"; readonly clauses: ReadonlyArray<Expression>; readonly span: Span }
  | { readonly _tag: "Or"; readonly clauses: ReadonlyArray<Expression>; readonly span: Span }
  | { readonly _tag: "Not"; readonly clause: Expression; readonly span: Span }
  /** Constants: an empty conjunction, and an empty disjunction. */
  | { readonly _tag: "Everything"; readonly span: Span }
  | { readonly _tag: "Nothing"; readonly span: Span }

/** Text fields are tested word by word, other fields by whole value. `x.url` counts as a keyword field here. */
export const isTextField = (field: TextField | KeywordField): field is Exclude<TextField, "x.url"> =>
  field !== "x.url" && textFields.has(field)

// ---- helpers ----

const textFields: ReadonlySet<TextField | KeywordField> = new Set(TEXT_FIELDS)
