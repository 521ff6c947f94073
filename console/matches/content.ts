/** What a reader sees of an event: a post or a page, read from its payload. All of it is text of strangers. */
import { Post } from "../../core/syntax/x/Post.ts"
import { instantOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import type { Match } from "../client.ts"

/** A text of the event. Explanations name it by its field and its index among the values of the field. */
export interface Part {
  /** `link`: an address behind a short link. */
  readonly kind: "text" | "quoted" | "link" | "title" | "added" | "removed"
  readonly field: string
  readonly value: number
  readonly text: string
}

export interface Content {
  readonly kind: "post" | "page"
  /** The display name of an author. */
  readonly name?: string
  /** The handle of an author, or the domain of a page. */
  readonly source?: string
  /** In milliseconds. */
  readonly publishedAt?: number
  /** Only if it leads to the web. */
  readonly link?: string
  readonly parts: ReadonlyArray<Part>
}

/** `undefined` for an event of another form. */
export const contentOf = ({ payload }: Match): Content | undefined => {
  const [post, page] = [objectOf(payload["data"]), objectOf(payload["document"])]
  if (post !== undefined) return postContent(new Post(post, objectOf(payload["includes"]) ?? {}))
  return page === undefined ? undefined : pageContent(page)
}

/** A link of a stranger; `undefined` if it does not lead to the web. */
export const webLink = (text: string | undefined): URL | undefined => {
  if (text === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === "https:" || url.protocol === "http:" ? url : undefined
}

// ---- helpers ----

const postContent = (post: Post): Content => {
  const [name, handle] = [textOf(post.author?.["name"]), textOf(post.author?.["username"])]
  const source = handle === undefined ? textOf(post.data["author_id"]) : `@${handle}`
  const publishedAt = instantOf(post.data["created_at"])
  const id = textOf(post.data["id"]) ?? ""
  const own = post.ownTexts().length
  const links = post.texts.length - post.urls.length
  const parts = post.texts.map((text, value): Part => {
    return { kind: value >= links ? "link" : value < own ? "text" : "quoted", field: "x.text", value, text }
  })
  return {
    kind: "post",
    ...(name !== undefined && { name }),
    ...(source !== undefined && { source }),
    ...(publishedAt !== undefined && { publishedAt }),
    ...(/^\d+$/.test(id) && { link: `https://x.com/i/status/${id}` }),
    parts
  }
}

const pageContent = (page: Readonly<Record<string, unknown>>): Content => {
  const [title, url] = [textOf(page["title"]), webLink(textOf(page["url"]))]
  const publishedAt = instantOf(page["publish_time"])
  const counts = { added: 0, removed: 0 }
  const changes = objectsOf(objectOf(page["diff"])?.["chunks"]).flatMap((chunk): ReadonlyArray<Part> => {
    const text = textOf(chunk["text"])
    if (text === undefined) return []
    const kind = chunk["typ"] === "del" ? "removed" : "added"
    return [{ kind, field: `firehose.${kind}`, value: counts[kind]++, text }]
  })
  const titles: ReadonlyArray<Part> =
    title === undefined ? [] : [{ kind: "title", field: "firehose.title", value: 0, text: title }]
  return {
    kind: "page",
    ...(url !== undefined && { source: url.hostname, link: url.href }),
    ...(publishedAt !== undefined && { publishedAt }),
    parts: [...titles, ...changes]
  }
}
