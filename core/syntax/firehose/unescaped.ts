/** Values with unescaped `/` or `:`, such as addresses: finds their end and suggests a fix. */
import { isSpace } from "./lexer.ts"
import { escapeTerm, escapeWildcard, quotePhrase } from "./printer.ts"

export interface Edit {
  readonly message: string
  readonly text: string
  /** The edit replaces the field too, not only the value. */
  readonly wholeClause?: boolean
}

/** End of the word as a user sees it: at a space, a quote or a closing parenthesis. */
export const unescapedEnd = (text: string, from: number): number => {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isSpace(code) || code === 0x29 || code === 0x22) break
    at += code === 0x5c ? 2 : 1
  }
  return Math.min(at, text.length)
}

/** The most likely intended spelling of an unescaped value. */
export const unescapedEdit = (
  raw: string,
  { hasDomainField = false, isKeyword = false }: { readonly hasDomainField?: boolean; readonly isKeyword?: boolean }
): Edit => {
  const plain = unwrapped(raw)
  if (hasDomainField) {
    const match = /^(?:[a-z]+:\/\/)?(?:www\.)?([^/:?#\s]+)(?::\d+)?(\/.*)?$/i.exec(plain)
    const host = match?.[1]?.toLowerCase()
    const path = match?.[2] ?? ""
    if (host !== undefined && !host.includes("*")) {
      return path === "" || path === "/"
        ? { message: "Keep only the host", text: escapeTerm(host) }
        : {
            message: "Search for the path in url",
            text: `url:*${escapeTerm(host + path.replace(/\*+$/, ""))}*`,
            wholeClause: true
          }
    }
  }
  if (isKeyword && plain.includes("*")) {
    return { message: 'Put a backslash before each "/" and ":"', text: escapeWildcard(plain) }
  }
  return { message: "Put the value in double quotes", text: quotePhrase(plain) }
}

// ---- helpers ----

/** The intended value: without backslashes, doubled or not, and without escaped quotes around it. */
const unwrapped = (raw: string): string =>
  raw
    .replace(/\\+([/:"])/g, "$1")
    .replace(/\\(.)/g, "$1")
    .replace(/^"(.*)"$/, "$1")
