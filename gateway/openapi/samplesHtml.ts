/** Examples on the page `/docs`, to copy. */
import { type Content, type Html, html, json } from "./html.ts"
import type { Contents, Entry } from "./parts.ts"

export const JSON_TYPE = "application/json"

/** Instead of a scope: no key of an account suffices. */
export const OPERATOR = "operator"

/** The script writes the address of the server in its place. */
export const ORIGIN = "http://127.0.0.1:8787"

/** The examples of a body. */
export const samples = (content: Contents = {}, label: string): Content =>
  Object.entries(content).flatMap(([type, { example, examples = {} }]) =>
    [["", { value: example }] as const, ...Object.entries(examples)]
      .filter(([, { value }]) => value !== undefined)
      .map(([name, { value }]) => {
        const kind = type !== JSON_TYPE && html` <code>${type}</code>`
        return figure(html`<span>${label} ${name}${kind}</span>`, typeof value === "string" ? value : json(value))
      })
  )

/** A long one scrolls, for which it can get the focus. */
export const figure = (label: Content, code: Content): Html => {
  const text = html`<code>${code}</code>`
  const isLong = text.text.split("\n").length > 22
  return html`<figure><figcaption>${label}<button type="button" class="copy">Copy</button></figcaption><pre${isLong && html` tabindex="0"`}>${text}</pre></figure>`
}

export const curl = ({ method, path, scope, operation }: Entry): Content => {
  const { parameters = [], requestBody, responses } = operation
  const query = parameters.flatMap(({ name, example }) =>
    example === undefined ? [] : [`${name}=${encodeURIComponent(String(example))}`]
  )
  const contents = Object.entries(requestBody?.content ?? {})
  const [type, media] = contents.find(([name]) => name === JSON_TYPE) ?? contents[0] ?? []
  const short = JSON.stringify(media?.example)
  const sent = short === undefined || short.length < 72 ? short : JSON.stringify(media?.example, undefined, 2)
  const quote = query.length > 0 && '"'
  return [
    html`curl -s${STREAM in (responses["200"]?.content ?? {}) && "N"} ${quote}<span data-origin>${ORIGIN}</span>${path}${query.length > 0 && `?${query.join("&")}`}${quote}`,
    `-H "Authorization: Bearer $${scope === OPERATOR ? "OPERATOR_KEY" : "KEY"}"`,
    ...(type === undefined ? [] : [`-H "Content-Type: ${type}"`]),
    ...(sent === undefined ? (method === "POST" ? ["-d '{}'"] : []) : [`-d '${sent.replaceAll("'", "'\\''")}'`])
  ].map((part, index) => [index > 0 && " \\\n  ", part])
}

// ---- helpers ----

const STREAM = "text/event-stream"
