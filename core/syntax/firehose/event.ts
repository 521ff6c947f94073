/** An update of Firehose's stream, `{document, matched_at}`, as a rule sees it. */
import { Either } from "effect"
import { type EventFields, lazyFields } from "../eventFields.ts"
import { instantOf, type JsonObject, numberOf, objectOf, objectsOf, textOf, textsOf } from "../json.ts"
import { domainsOf } from "./domains.ts"
import { anchorsOf } from "./markdown.ts"
import { analyse } from "./tokens.ts"

/** `now`, in milliseconds, stands in for the time of the match where the record has none. Left is a sentence on what the record lacks. */
export const firehoseEvent = (record: unknown, options: { readonly now: number }): Either.Either<EventFields, string> =>
  Either.map(documentOf(record), (document) => fieldsOf(document, firehoseEventTime(record) ?? options.now))

/** Updates have no id of their own: the same content is the same event. `digest` makes a short name of the content. */
export const firehoseEventId = (record: unknown, digest: (text: string) => string): Either.Either<string, string> =>
  Either.flatMap(documentOf(record), (document) => {
    const written = writtenOf(document)
    return written === undefined
      ? Either.left('Is no Firehose update: "document" is nested too deep')
      : Either.right(digest(written))
  })

/** When the update matched, in milliseconds. */
export const firehoseEventTime = (record: unknown): number | undefined => instantOf(objectOf(record)?.["matched_at"])

// ---- helpers ----

/** A text that is nested deeper than the stack can be read and yet not be written. */
const writtenOf = (document: JsonObject): string | undefined => {
  try {
    return JSON.stringify(document)
  } catch {
    return undefined
  }
}

const documentOf = (record: unknown): Either.Either<JsonObject, string> => {
  const document = objectOf(objectOf(record)?.["document"])
  if (document === undefined) {
    return Either.left('Is no Firehose update: it has no "document", an object with the "url" of the page')
  }
  return textOf(document["url"]) === undefined
    ? Either.left('Is no Firehose update: "document" has no "url"')
    : Either.right(document)
}

const fieldsOf = (document: JsonObject, matchedAt: number): EventFields => {
  const url = textOf(document["url"]) ?? ""
  const chunks = (typ: "ins" | "del") =>
    objectsOf(objectOf(document["diff"])?.["chunks"]).flatMap((chunk) =>
      chunk["typ"] === typ ? (textOf(chunk["text"]) ?? []) : []
    )
  const single = (key: string) => () => {
    const value = textOf(document[key])
    return value === undefined ? [] : [value]
  }
  const published = instantOf(document["publish_time"])
  return lazyFields({
    id: () => writtenOf(document) ?? url,
    analyse: (text, field) => analyse(text, field === "firehose.title"),
    text: {
      "firehose.added": () => chunks("ins"),
      "firehose.removed": () => chunks("del"),
      "firehose.added_anchor": () => chunks("ins").flatMap(anchorsOf),
      "firehose.removed_anchor": () => chunks("del").flatMap(anchorsOf),
      "firehose.title": single("title")
    },
    keywords: {
      "firehose.url": () => [url],
      "firehose.domain": () => domainsOf(url),
      "firehose.publish_time": single("publish_time"),
      "firehose.page_category": () => textsOf(document["page_category"]).flatMap(withParents),
      "firehose.page_type": () => textsOf(document["page_types"]).flatMap(withParents),
      "firehose.language": single("language")
    },
    number: { "firehose.dr": () => numberOf(document["domain_rating"]) },
    places: () => [],
    ageHours: published === undefined ? undefined : (matchedAt - published) / 3_600_000
  })
}

/** `/News/Technology_News` brings `/News` along. Labels are short; a longer text is taken as it is. */
const withParents = (label: string): ReadonlyArray<string> => {
  const found = [label]
  if (label.length <= 200) {
    for (let slash = label.lastIndexOf("/"); slash > 0; slash = label.lastIndexOf("/", slash - 1)) {
      found.push(label.slice(0, slash))
    }
  }
  return found
}
