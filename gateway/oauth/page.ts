/** The page for a request that must not be answered with a redirect. */
import { NO_STORE, type Reply } from "../http/route.ts"

export interface Page {
  readonly status: number
  readonly title: string
  readonly message: string
  /** Where the reader may go on, by a decision of their own. */
  readonly link?: { readonly href: string; readonly text: string }
}

/** No other site can show it in a frame, and it can load and run nothing. */
export const SAFE_HEADERS = {
  ...NO_STORE,
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer"
}

export const page = ({ status, title, message, link }: Page): Reply => ({
  status,
  headers: { ...SAFE_HEADERS, "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>${escaped(message)}</p>
${link === undefined ? "" : `<p><a rel="noreferrer" href="${escaped(link.href)}">${escaped(link.text)}</a></p>\n`}</html>
`
})

// ---- helpers ----

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
