/** Values that were written with `/` and `:` as on the web: where they end, and how to write them instead. */
import type { FieldRef } from "./ast.ts"
import type { Field } from "./fields.ts"
import { isSpace } from "./lexer.ts"
import { escapeTerm, quotePhrase } from "./printer.ts"

export interface LooseEdit {
  readonly message: string
  readonly text: string
  /** It replaces the field too, not the value alone. */
  readonly wholeClause?: boolean
}

/** End of what a person sees as one word: up to a space, a quote or a closing parenthesis. */
export const looseEnd = (text: string, from: number): number => {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isSpace(code) || code === 0x29 || code === 0x22) {
      break
    }
    at += code === 0x5c ? 2 : 1
  }
  return Math.min(at, text.length)
}

/** How the author of an unescaped value most likely wants it. */
export const looseEdit = (ref: FieldRef | undefined, field: Field | undefined, raw: string): LooseEdit => {
  const plain = unwrapped(raw)
  if (ref?.name === "domain") {
    const match = /^(?:[a-z]+:\/\/)?(?:www\.)?([^/:?#\s]+)(?::\d+)?(\/.*)?$/i.exec(plain)
    const host = match?.[1]?.toLowerCase()
    const path = match?.[2] ?? ""
    if (host !== undefined && !host.includes("*")) {
      return path === "" || path === "/"
        ? { message: "Keep the host alone", text: escapeTerm(host) }
        : {
            message: "Look the path up in url",
            text: `url:*${escapeTerm(host + path.replace(/\*+$/, ""))}*`,
            wholeClause: true
          }
    }
  }
  if (field?.kind === "keyword" && plain.includes("*")) {
    return { message: 'Put a backslash before each "/" and ":"', text: plain.split("*").map(escapePart).join("*") }
  }
  return { message: "Put the value in double quotes", text: quotePhrase(plain) }
}

/** The value that was meant: without backslashes, those that JSON doubled too, and without quotes that it escaped. */
export const unwrapped = (raw: string): string =>
  raw
    .replace(/\\+([/:"])/g, "$1")
    .replace(/\\(.)/g, "$1")
    .replace(/^"(.*)"$/, "$1")

// ---- helpers ----

const escapePart = (text: string): string => (text === "" ? "" : escapeTerm(text))
