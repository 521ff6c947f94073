/** Reads RSS, RDF, Atom and JSON feeds into one form. A value of the wrong type counts as absent. */
import { Either } from "effect"
import { parseFeed as parseAny } from "feedsmith"
import { MAX_URL_LENGTH } from "../../core/model/webUrl.ts"
import { type JsonObject, numberOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { linkTextsOf, textOfHtml } from "./html.ts"

/** As in the payload of a match. */
export interface FeedItem {
  readonly id: string
  readonly url?: string
  readonly title?: string
  readonly summary?: string
  readonly link_texts: ReadonlyArray<string>
  readonly authors: ReadonlyArray<string>
  readonly categories: ReadonlyArray<string>
  /** RFC 3339. */
  readonly published?: string
  readonly language?: string
  readonly enclosures: ReadonlyArray<{ readonly url: string; readonly type?: string }>
}

export interface ParsedFeed {
  readonly format: string
  readonly title?: string
  readonly language?: string
  /** For how long the publisher wants it to be cached. */
  readonly ttlMinutes?: number
  /** In the order of the feed, with distinct ids. */
  readonly items: ReadonlyArray<FeedItem>
}

/** `baseUrl` resolves relative links. `maxItems`: the first ones of the feed. Left: why it is not a feed. */
export const parseFeed = (
  text: string,
  {
    baseUrl,
    maxItems = MAX_ITEMS,
    digest
  }: { readonly baseUrl: string; readonly maxItems?: number; readonly digest: (text: string) => string }
): Either.Either<ParsedFeed, string> => {
  if (/^\s*(?:<!--[^>]*>\s*)*<(?:!doctype\s+html|html)\b/i.test(text.slice(0, 2_000))) {
    return Either.left("it is a web page, not a feed: look for the address of its feed")
  }
  return Either.map(
    Either.try({
      try: () => parseAny(text),
      catch: () => "it is not a feed that can be read: not RSS, Atom, RDF or a JSON feed, or it is cut off"
    }),
    ({ format, feed }) => {
      const channel: JsonObject = objectOf(feed) ?? {}
      // They are in the payload of every item.
      const stated = plain(channel["title"])
      const title = stated === undefined ? undefined : short(stated)
      const language = languageOf(textOf(channel["language"]) ?? textOf(objectOf(channel["dc"])?.["language"]))
      const ttlMinutes = numberOf(channel["ttl"])
      const found = objectsOf(channel["items"] ?? channel["entries"]).slice(0, maxItems)
      return {
        format,
        ...(title !== undefined && { title }),
        ...(language !== undefined && { language }),
        ...(ttlMinutes !== undefined && { ttlMinutes }),
        items: withFewEntries(withDistinctIds(found.map((item) => toItem(item, { baseUrl, digest }))))
      }
    }
  )
}

// ---- helpers ----

const MAX_ITEMS = 2_000

/** Of the text that is kept of an item. */
const MAX_TEXT = 10_000

/** Of the title of a feed, and of each link text, author and category. */
const MAX_NAME = 300

const MAX_LINKS = 200

/** Of links, authors, categories and files of all items. To take over more from the thread takes too much time at once. */
const MAX_ENTRIES = 100_000

/** A longer id becomes its digest. */
const MAX_ID = 2_000

/** Codes of languages are much shorter. */
const MAX_LANGUAGE = 100

/** Authors, categories and files of an item. */
const MAX_LIST = 100

const toItem = (
  item: JsonObject,
  { baseUrl, digest }: { readonly baseUrl: string; readonly digest: (text: string) => string }
): FeedItem => {
  const dc = objectOf(item["dc"]) ?? {}
  const html = htmlOf(item)
  const url = absolute(linkOf(item), baseUrl)
  const title = plain(item["title"])
  const texts = [...new Set(html.map(textOfHtml))].filter((text) => text !== "")
  // The content often begins with the description.
  const summary = texts
    .filter((text, index) => !texts.some((other, at) => at !== index && other.startsWith(text)))
    .join("\n")
  const published = dateOf(item)
  const language = languageOf(textOf(item["language"]) ?? firstOf(dc["languages"]))
  const stated = idOf(item)
  const id =
    (stated !== undefined && stated.length > MAX_ID ? digest(stated) : stated) ??
    url ??
    digest(`${title ?? ""}\n${summary}`)
  return {
    id,
    ...(url !== undefined && { url }),
    ...(title !== undefined && { title }),
    ...(summary !== "" && { summary: summary.slice(0, MAX_TEXT).toWellFormed() }),
    link_texts: html.flatMap(linkTextsOf).slice(0, MAX_LINKS).map(short),
    authors: authorsOf(item).slice(0, MAX_LIST).map(short),
    categories: categoriesOf(item).slice(0, MAX_LIST).map(short),
    ...(published !== undefined && { published }),
    ...(language !== undefined && { language }),
    enclosures: enclosuresOf(item).slice(0, MAX_LIST)
  }
}

/** Text, or an object with its text, such as an Atom title. */
const rawOf = (value: unknown): string | undefined => textOf(value) ?? textOf(objectOf(value)?.["value"])

const plain = (value: unknown): string | undefined => {
  const text = textOfHtml(rawOf(value) ?? "").slice(0, MAX_TEXT)
  return text === "" ? undefined : text.toWellFormed()
}

const languageOf = (code: string | undefined): string | undefined =>
  code !== undefined && code.length <= MAX_LANGUAGE ? code : undefined

const short = (text: string): string => text.slice(0, MAX_NAME).toWellFormed()

const firstOf = (value: unknown): string | undefined => (Array.isArray(value) ? rawOf(value[0]) : rawOf(value))

const idOf = (item: JsonObject): string | undefined =>
  rawOf(item["guid"]) ?? rawOf(item["id"]) ?? textOf(objectOf(item["rdf"])?.["about"])

const linkOf = (item: JsonObject): string | undefined => {
  const links = objectsOf(item["links"])
  const alternate = links.find(({ rel }) => rel === undefined || rel === "alternate") ?? links[0]
  return textOf(item["link"]) ?? textOf(item["url"]) ?? textOf(item["external_url"]) ?? textOf(alternate?.["href"])
}

/** A relative link can be much shorter than the address of the feed, and escapes make it longer. */
const absolute = (link: string | undefined, base: string): string | undefined => {
  if (link === undefined || !URL.canParse(link.trim(), base)) return undefined
  const { href } = new URL(link.trim(), base)
  return href.length <= MAX_URL_LENGTH ? href : undefined
}

const htmlOf = (item: JsonObject): ReadonlyArray<string> =>
  [
    item["description"],
    item["summary"],
    objectOf(item["content"])?.["encoded"] ?? item["content"],
    item["content_html"],
    item["content_text"]
  ].flatMap((value) => rawOf(value) ?? [])

/** Dates as publishers write them: RFC 822 with zones such as EDT, without seconds, or ISO 8601. */
const dateOf = (item: JsonObject): string | undefined => {
  const stated =
    rawOf(item["pubDate"]) ??
    rawOf(item["published"]) ??
    rawOf(item["date_published"]) ??
    rawOf(item["updated"]) ??
    firstOf(objectOf(item["dc"])?.["dates"])
  const at = Date.parse(stated ?? "")
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

const authorsOf = (item: JsonObject): ReadonlyArray<string> => {
  const people = [...listed(item["authors"]), ...listed(objectOf(item["dc"])?.["creators"])]
  return distinct(people.flatMap((one) => rawOf(one) ?? textOf(objectOf(one)?.["name"]) ?? []))
}

const categoriesOf = (item: JsonObject): ReadonlyArray<string> => {
  const all = [...listed(item["categories"]), ...listed(item["tags"]), ...listed(objectOf(item["dc"])?.["subjects"])]
  return distinct(
    all.flatMap((one) => rawOf(one) ?? textOf(objectOf(one)?.["name"]) ?? textOf(objectOf(one)?.["term"]) ?? [])
  )
}

const enclosuresOf = (item: JsonObject): FeedItem["enclosures"] => {
  const linked = objectsOf(item["links"]).filter(({ rel }) => rel === "enclosure")
  return [...objectsOf(item["enclosures"]), ...objectsOf(item["attachments"]), ...linked].flatMap((one) => {
    const url = textOf(one["url"]) ?? textOf(one["href"])
    const type = textOf(one["type"]) ?? textOf(one["mime_type"])
    if (url === undefined || url.length > MAX_URL_LENGTH) return []
    return [{ url, ...(type !== undefined && { type: short(type) }) }]
  })
}

const listed = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const distinct = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)]

/** Some feeds have one id for several items: the first keeps it. */
const withDistinctIds = (items: ReadonlyArray<FeedItem>): ReadonlyArray<FeedItem> => {
  const seen = new Set<string>()
  return items.flatMap((item) => {
    const id = seen.has(item.id) ? `${item.id} ${item.url ?? item.title ?? ""}` : item.id
    if (seen.has(id)) return []
    seen.add(id)
    return [{ ...item, id }]
  })
}

/** The items after the limit have none. */
const withFewEntries = (items: ReadonlyArray<FeedItem>): ReadonlyArray<FeedItem> => {
  let left = MAX_ENTRIES
  return items.map((item) => {
    left -= item.link_texts.length + item.authors.length + item.categories.length + item.enclosures.length
    return left >= 0 ? item : { ...item, link_texts: [], authors: [], categories: [], enclosures: [] }
  })
}
