/** Reads lists of feeds, in OPML or with one address per line, and writes OPML. */

export interface Outline {
  readonly url: string
  readonly title?: string | undefined
}

/** Reads any text. Lines with `#` are comments; commas separate addresses in a line. */
export const addressesIn = (list: string): ReadonlyArray<string> => {
  const found = /<opml\b/i.test(list)
    ? Array.from(list.matchAll(/\bxmlUrl\s*=\s*(?:"([^"]*)"|'([^']*)')/gi), ([, one, other]) =>
        unescaped(one ?? other ?? "")
      )
    : list.split(/[,\r\n]/)
  return [...new Set(found.map((url) => url.trim()))].filter((url) => /^[^#]/.test(url))
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
