/** The text of HTML, in time linear in its length. */

/** Without tags, scripts and styles; entities become characters. */
export const textOfHtml = (html: string): string =>
  (/[<&]/.test(html) ? withEntities(html.replace(IGNORED, " ").replace(/<[^<>]*>/g, " ")) : html)
    .replace(/\s+/g, " ")
    .trim()

/** The texts of the links. */
export const linkTextsOf = (html: string): ReadonlyArray<string> =>
  html
    .split(/<a\b/i)
    .slice(1, MAX_LINKS)
    .flatMap((part) => {
      const start = part.indexOf(">")
      const end = part.search(/<\/a\b/i)
      const text = start === -1 || end < start ? "" : textOfHtml(part.slice(start + 1, end))
      return text === "" ? [] : [text]
    })

// ---- helpers ----

const MAX_LINKS = 200

/** Their text is not for readers. An unclosed one goes up to the end. */
const IGNORED = /<(?:script|style)\b[\s\S]*?(?:<\/(?:script|style)\s*>|$)/gi

const withEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}\d?));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return named.get(name) ?? entity
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : " "
  })

const named = new Map(
  Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: " ",
    hellip: "…",
    mdash: "—",
    ndash: "–",
    lsquo: "‘",
    rsquo: "’",
    ldquo: "“",
    rdquo: "”",
    laquo: "«",
    raquo: "»",
    euro: "€",
    copy: "©",
    reg: "®",
    trade: "™",
    auml: "ä",
    ouml: "ö",
    uuml: "ü",
    Auml: "Ä",
    Ouml: "Ö",
    Uuml: "Ü",
    szlig: "ß",
    eacute: "é",
    egrave: "è",
    agrave: "à",
    ccedil: "ç",
    ntilde: "ñ",
    oacute: "ó",
    aacute: "á",
    iacute: "í"
  })
)
