/** Reads the fields of a feed item, `{feed, item, seen_at}`. */
import { Either } from "effect"
import { instantOf, type JsonObject, objectOf, objectsOf, textOf, textsOf } from "../../text/json.ts"
import type { Pace, Turns } from "../../work/turns.ts"
import { type FieldReader, LazyFields, type PlatformEvent } from "../expression/eventFields.ts"
import type { Field } from "../expression/expression.ts"
import { domainsOf } from "../firehose/domains.ts"
import { analyse, analyseInTurns } from "../firehose/tokens.ts"
import { writeWords } from "../firehose/writeWords.ts"
import type { Tokens } from "../words/tokens.ts"

/** `now`, in milliseconds, replaces a missing `seen_at`. */
export const itemEvent = (record: unknown, now: number): Either.Either<PlatformEvent, string> =>
  Either.map(partsOf(record), (parts) => new LazyFields(new ItemReader(parts, itemTime(record) ?? now)))

/** Ids of items are unique in their feed only. */
export const itemId = (record: unknown, digest: (text: string) => string): Either.Either<string, string> =>
  Either.map(partsOf(record), ({ feed, item }) => {
    const id = `${textOf(feed["url"]) ?? ""} ${textOf(item["id"]) ?? textOf(item["url"]) ?? JSON.stringify(item["title"])}`
    return id.length <= MAX_ID ? id : digest(id)
  })

/** The first poll that showed the item, in milliseconds: feeds state any date. */
export const itemTime = (record: unknown): number | undefined => instantOf(objectOf(record)?.["seen_at"])

// ---- helpers ----

const MAX_ID = 512

interface Parts {
  readonly feed: JsonObject
  readonly item: JsonObject
}

const partsOf = (record: unknown): Either.Either<Parts, string> => {
  const item = objectOf(objectOf(record)?.["item"])
  const feed = objectOf(objectOf(record)?.["feed"])
  if (item === undefined || feed === undefined) {
    return Either.left('Not a feed item: it needs "feed", an object with a "url", and "item", an object with an "id"')
  }
  return textOf(feed["url"]) === undefined
    ? Either.left('Not a feed item: "feed" needs a "url", a text that is not empty')
    : Either.right({ feed, item })
}

class ItemReader implements FieldReader {
  private readonly feed: JsonObject
  private readonly item: JsonObject
  private readonly seenAt: number

  constructor({ feed, item }: Parts, seenAt: number) {
    this.feed = feed
    this.item = item
    this.seenAt = seenAt
  }

  id(): string {
    return `${textOf(this.feed["url"]) ?? ""} ${textOf(this.item["id"]) ?? ""}`
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
        return textsOf([this.item["title"], this.item["summary"]])
      case "firehose.added_anchor":
        return textsOf(this.item["link_texts"])
      case "firehose.title":
        return textsOf([this.item["title"]])
      default:
        return []
    }
  }

  values(field: Field): ReadonlyArray<string> {
    const { feed, item } = this
    switch (field) {
      case "firehose.url":
        return textsOf([item["url"]])
      case "firehose.domain":
        return domainsOf(textOf(item["url"]) ?? "")
      case "firehose.publish_time":
        return this.published === undefined ? [] : [new Date(this.published).toISOString().slice(0, 19)]
      case "firehose.page_category":
        return textsOf(item["categories"])
      case "firehose.page_type":
        return textsOf([feed["format"], ...this.enclosures.map(({ type }) => type)])
      case "firehose.language": {
        const code = (textOf(item["language"]) ?? textOf(feed["language"]))?.toLowerCase()
        return code === undefined ? [] : [code, ...(code.includes("-") ? textsOf([code.split("-")[0]]) : [])]
      }
      case "feeds.feed":
        return textsOf([feed["url"], feed["title"]])
      case "feeds.author":
        return textsOf(item["authors"])
      case "feeds.has":
        return this.enclosures.length > 0 ? ["enclosure"] : []
      default:
        return []
    }
  }

  number(): undefined {
    return undefined
  }

  places() {
    return []
  }

  ageHours(): number | undefined {
    return this.published === undefined ? undefined : (this.seenAt - this.published) / 3_600_000
  }

  private get published(): number | undefined {
    return instantOf(this.item["published"])
  }

  private get enclosures(): ReadonlyArray<JsonObject> {
    return objectsOf(this.item["enclosures"])
  }
}
