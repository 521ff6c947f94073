/** Writes documents of feeds, and those that are no feed. */
import { type JsonObject, objectsOf, textOf, textsOf } from "../../core/text/json.ts"

export const FORMATS = ["rss", "atom", "rdf", "json"] as const
export type Format = (typeof FORMATS)[number]

export interface Document {
  readonly contentType: string
  readonly text: string
}

/** An item as the event format has it, with the id that the feed shows. */
export interface ShownItem {
  readonly id: string
  readonly item: JsonObject
}

/** The newest item comes first. */
export const documentOf = (format: Format, title: string, items: ReadonlyArray<ShownItem>): Document => {
  const write = writers[format]
  return { contentType: contentTypes[format], text: write(title, items) }
}

/** A few hundred bytes that mean a gigabyte. JSON has no entities: there it is nested too deep. */
export const bombOf = (format: Format): Document => {
  const contentType = contentTypes[format]
  if (format === "json") return { contentType, text: `{"version":"${JSON_VERSION}","items":${"[".repeat(100_000)}` }
  const names = "abcdefghij"
  const entities = [...names].map((name, index) => {
    const value = index === 0 ? "boom" : `&${names.charAt(index - 1)};`.repeat(10)
    return `<!ENTITY ${name} "${value}">`
  })
  const item = "<item><guid>bomb</guid><title>&j;</title></item>"
  return {
    contentType,
    text: `${PROLOG}<!DOCTYPE rss [${entities.join("")}]><rss version="2.0"><channel><title>&j;</title>${item}</channel></rss>`
  }
}

/** What a site shows in place of a feed that it no longer has. */
export const webPage: Document = {
  contentType: "text/html; charset=utf-8",
  text: "<!doctype html><html><head><title>Welcome</title></head><body><p>Our feed has moved</p></body></html>"
}

// ---- helpers ----

const JSON_VERSION = "https://jsonfeed.org/version/1.1"

const PROLOG = '<?xml version="1.0" encoding="utf-8"?>'

const SITE = "https://feeds.example.org/"

const contentTypes: Readonly<Record<Format, string>> = {
  rss: "application/rss+xml; charset=utf-8",
  atom: "application/atom+xml; charset=utf-8",
  rdf: "application/rdf+xml; charset=utf-8",
  json: "application/feed+json; charset=utf-8"
}

const writers: Readonly<Record<Format, (title: string, items: ReadonlyArray<ShownItem>) => string>> = {
  rss: (title, items) => {
    const body = items.map(({ id, item }) =>
      element("item", [
        `<guid isPermaLink="false">${escaped(id)}</guid>`,
        texts("title", item["title"]),
        texts("link", item["url"]),
        texts("description", item["summary"]),
        texts("category", item["categories"]),
        texts("dc:creator", item["authors"]),
        dated("pubDate", item, (at) => at.toUTCString()),
        ...objectsOf(item["enclosures"]).map(
          ({ url, type }) =>
            `<enclosure url="${escaped(textOf(url) ?? "")}" type="${escaped(textOf(type) ?? "")}" length="0"/>`
        )
      ])
    )
    const channel = element("channel", [texts("title", title), texts("link", SITE), ...body])
    return `${PROLOG}<rss version="2.0" xmlns:dc="${DC}">${channel}</rss>`
  },
  atom: (title, items) => {
    const body = items.map(({ id, item }) =>
      element("entry", [
        texts("id", id),
        texts("title", item["title"]),
        ...textsOf([item["url"]]).map((url) => `<link rel="alternate" href="${escaped(url)}"/>`),
        texts("summary", item["summary"]),
        ...textsOf(item["categories"]).map((term) => `<category term="${escaped(term)}"/>`),
        ...textsOf(item["authors"]).map((name) => element("author", [texts("name", name)])),
        dated("published", item, (at) => at.toISOString())
      ])
    )
    const head = [texts("id", SITE), texts("title", title)]
    return `${PROLOG}<feed xmlns="http://www.w3.org/2005/Atom">${[...head, ...body].join("")}</feed>`
  },
  rdf: (title, items) => {
    const body = items.map(
      ({ id, item }) =>
        `<item rdf:about="${escaped(id)}">${[
          texts("title", item["title"]),
          texts("link", item["url"]),
          texts("description", item["summary"]),
          texts("dc:subject", item["categories"]),
          texts("dc:creator", item["authors"]),
          dated("dc:date", item, (at) => at.toISOString())
        ].join("")}</item>`
    )
    const channel = `<channel rdf:about="${SITE}">${texts("title", title)}${texts("link", SITE)}</channel>`
    const names = `xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="${DC}"`
    return `${PROLOG}<rdf:RDF ${names}>${channel}${body.join("")}</rdf:RDF>`
  },
  json: (title, items) =>
    JSON.stringify({
      version: JSON_VERSION,
      title,
      home_page_url: SITE,
      items: items.map(({ id, item }) => ({
        id,
        url: item["url"],
        title: item["title"],
        content_text: item["summary"],
        tags: item["categories"],
        authors: textsOf(item["authors"]).map((name) => ({ name })),
        date_published: item["published"]
      }))
    })
}

const DC = "http://purl.org/dc/elements/1.1/"

const element = (name: string, parts: ReadonlyArray<string>): string => `<${name}>${parts.join("")}</${name}>`

/** One element for each text. */
const texts = (name: string, value: unknown): string =>
  textsOf(typeof value === "string" ? [value] : value)
    .map((text) => element(name, [escaped(text)]))
    .join("")

const dated = (name: string, item: JsonObject, write: (at: Date) => string): string => {
  const at = new Date(textOf(item["published"]) ?? "")
  return Number.isNaN(at.getTime()) ? "" : element(name, [write(at)])
}

const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;")
