/** Reads the fields of a Firehose update, `{document, matched_at}`. */
import { Either } from "effect"
import { instantOf, type JsonObject, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../text/json.ts"
import type { Pace, Turns } from "../../work/turns.ts"
import { type FieldReader, LazyFields, type PlatformEvent } from "../expression/eventFields.ts"
import type { Field } from "../expression/expression.ts"
import type { Tokens } from "../words/tokens.ts"
import { domainsOf } from "./domains.ts"
import { anchorsOf } from "./markdown.ts"
import { analyse, analyseInTurns } from "./tokens.ts"
import { writeWords } from "./writeWords.ts"

/** `now`, in milliseconds, replaces a missing `matched_at`. Left is a message. */
export const firehoseEvent = (
  record: unknown,
  options: { readonly now: number }
): Either.Either<PlatformEvent, string> =>
  Either.map(
    documentOf(record),
    (document) => new LazyFields(new PageReader(document, objectOf(record)?.["matched_at"], options.now))
  )

/** The digest of the document: updates have no id. */
export const firehoseEventId = (record: unknown, digest: (text: string) => string): Either.Either<string, string> =>
  Either.flatMap(documentOf(record), (document) => {
    const text = serialize(document)
    return text === undefined
      ? Either.left('Not a Firehose update: "document" is nested too deep')
      : Either.right(digest(text))
  })

/** `matched_at` in milliseconds. */
export const firehoseEventTime = (record: unknown): number | undefined => instantOf(objectOf(record)?.["matched_at"])

// ---- helpers ----

/** `undefined` if the document is nested too deep: `JSON.stringify` overflows the stack, `JSON.parse` does not. */
const serialize = (document: JsonObject): string | undefined => {
  try {
    return JSON.stringify(document)
  } catch {
    return undefined
  }
}

const documentOf = (record: unknown): Either.Either<JsonObject, string> => {
  const document = objectOf(objectOf(record)?.["document"])
  if (document === undefined) {
    return Either.left('Not a Firehose update: it has no "document", an object with the "url" of the page')
  }
  return textOf(document["url"]) === undefined
    ? Either.left('Not a Firehose update: "document" needs a "url", a text that is not empty')
    : Either.right(document)
}

class PageReader implements FieldReader {
  private readonly document: JsonObject
  private readonly matchedAt: unknown
  private readonly now: number

  constructor(document: JsonObject, matchedAt: unknown, now: number) {
    this.document = document
    this.matchedAt = matchedAt
    this.now = now
  }

  id(): string {
    return serialize(this.document) ?? this.url
  }

  analyse(text: string, field: Field): Tokens {
    return analyse(text, field === "firehose.title")
  }

  analyseInTurns(text: string, field: Field, pace: Pace): Turns<Tokens> {
    return analyseInTurns(text, field === "firehose.title", pace)
  }

  writeWords(text: string, field: Field): number {
    return writeWords(text, field === "firehose.title")
  }

  texts(field: Field): ReadonlyArray<string> {
    switch (field) {
      case "firehose.added":
        return this.chunks("ins")
      case "firehose.removed":
        return this.chunks("del")
      case "firehose.added_anchor":
        return this.chunks("ins").flatMap(anchorsOf)
      case "firehose.removed_anchor":
        return this.chunks("del").flatMap(anchorsOf)
      case "firehose.title":
        return this.single("title")
      default:
        return []
    }
  }

  values(field: Field): ReadonlyArray<string> {
    switch (field) {
      case "firehose.url":
        return [this.url]
      case "firehose.domain":
        return domainsOf(this.url)
      case "firehose.publish_time":
        return this.single("publish_time")
      case "firehose.page_category":
        return textsOf(this.document["page_category"]).flatMap(withParents)
      case "firehose.page_type":
        return textsOf(this.document["page_types"]).flatMap(withParents)
      case "firehose.language":
        return this.single("language")
      default:
        return []
    }
  }

  number(field: Field): number | undefined {
    return field === "firehose.dr" ? numberOf(this.document["domain_rating"]) : undefined
  }

  places() {
    return []
  }

  ageHours(): number | undefined {
    const published = instantOf(this.document["publish_time"])
    if (published === undefined) return undefined
    return ((instantOf(this.matchedAt) ?? this.now) - published) / 3_600_000
  }

  private get url(): string {
    return textOf(this.document["url"]) ?? ""
  }

  private single(key: string): ReadonlyArray<string> {
    const value = textOf(this.document[key])
    return value === undefined ? [] : [value]
  }

  private chunks(typ: "ins" | "del"): ReadonlyArray<string> {
    return objectsOf(objectOf(this.document["diff"])?.["chunks"]).flatMap((chunk) =>
      chunk["typ"] === typ ? (textOf(chunk["text"]) ?? []) : []
    )
  }
}

/** A label with its parents: `/News/Technology_News` and `/News`. A long text is not a label and stays as it is. */
const withParents = (label: string): ReadonlyArray<string> => {
  const found = [label]
  if (label.length <= 200) {
    for (let slash = label.lastIndexOf("/"); slash > 0; slash = label.lastIndexOf("/", slash - 1)) {
      found.push(label.slice(0, slash))
    }
  }
  return found
}
