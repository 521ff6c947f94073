/** HTML from templates that escape every value. */

/** Text that needs no escaping. Only `html` makes it. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | false | undefined | ReadonlyArray<Content>

export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<Content>): Html =>
  new Html(String.raw({ raw: strings }, ...values.map(textOf)))

/** Paragraphs with `code` and [links](https://…). Code that names an operation, such as `POST /rules`, links to it. */
export const prose = (text: string | undefined, links: ReadonlyMap<string, string>): Content =>
  text?.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph, links)}</p>`)

/** JSON in colors, not for attributes: names in <b>, texts in <i>. Quotes stay as they are, because there are many. */
export const json = (value: unknown): Html =>
  new Html(
    JSON.stringify(value, undefined, 2)
      .split(/("(?:[^"\\]|\\.)*":?)/)
      .map((part, index) => (index % 2 === 0 ? part : colored(part.replace(/[&<>]/g, entityOf))))
      .join("")
  )

// ---- helpers ----

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const textOf = (content: Content): string => {
  if (content instanceof Html) return content.text
  if (Array.isArray(content)) return content.map(textOf).join("")
  return content === undefined || content === false ? "" : String(content).replace(/[&<>"']/g, entityOf)
}

const entityOf = (character: string): string => ENTITIES[character] ?? ""

const colored = (text: string): string => (text.endsWith(":") ? `<b>${text}</b>` : `<i>${text}</i>`)

const inline = (text: string, links: ReadonlyMap<string, string>): Content =>
  text.split(/(`[^`]+`|\[[^\]]+\]\((?:https?:\/\/|[/#])[^)\s]*\))/).map((part, index) => {
    if (index % 2 === 0) return part
    const [, label = "", address = ""] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? []
    if (address !== "") return html`<a href="${address}">${label}</a>`
    const code = part.slice(1, -1)
    const id = links.get(code)
    return id === undefined ? html`<code>${code}</code>` : html`<a href="#${id}"><code>${code}</code></a>`
  })
