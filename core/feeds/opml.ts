/** Reads lists of feeds, in OPML or with one address per line, and writes OPML. */
import { Either } from "effect"

export interface Outline {
  readonly url: string
  readonly title?: string | undefined
}

/**
 * Not empty. Lines with `#` are comments; commas separate addresses in a line. Left: why the text is not a list of feeds.
 * Single entries may be wrong.
 */
export const addressesIn = (list: string): Either.Either<ReadonlyArray<string>, string> => {
  const isOpml = /<opml\b/i.test(list)
  // A file that was cut off would look complete.
  if (isOpml && !/<\/opml\s*>/i.test(list)) return Either.left("The OPML is cut off: its end </opml> is missing")
  const found = isOpml
    ? Array.from(list.matchAll(/\bxmlUrl\s*=\s*(?:"([^"]*)"|'([^']*)')/gi), ([, one, other]) =>
        unescaped(one ?? other ?? "")
      )
    : list.split(/[,\r\n]/)
  const urls = [...new Set(found.map((url) => url.trim()))].filter((url) => /^[^#]/.test(url))
  if (urls.length === 0) return Either.left("There is no address of a feed in the list")
  const isPlain = !list.trimStart().startsWith("<") && urls.some((url) => /^https?:\/\//i.test(url))
  return isOpml || isPlain
    ? Either.right(urls)
    : Either.left(
        "It is not a list of feeds: expected OPML, or one address per line, such as https://example.org/feed.xml"
      )
}

export const opmlOf = (feeds: ReadonlyArray<Outline>): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<opml version="2.0">',
    "  <head><title>Feeds of Earshot</title></head>",
    "  <body>",
    ...feeds.map(
      ({ url, title = url }) => `    <outline type="rss" text="${escaped(title)}" xmlUrl="${escaped(url)}"/>`
    ),
    "  </body>",
    "</opml>"
  ].join("\n")

// ---- helpers ----

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#38": "&",
  "#x26": "&"
}

/** Control characters are not allowed in XML. */
const escaped = (text: string): string =>
  text.replace(/\p{Cc}/gu, " ").replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)

const unescaped = (text: string): string =>
  text.replace(/&(#?\w+);/g, (entity, name: string) => NAMED[name.toLowerCase()] ?? entity)
