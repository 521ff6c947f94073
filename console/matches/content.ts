/** What a reader sees of an event: a post, a page, a wiki change or a feed item. All of it is text of strangers. */
import { authorOf, Post as BlueskyPost } from "../../core/syntax/bluesky/Post.ts"
import { blueskySummary } from "../../core/syntax/bluesky/summary.ts"
import { itemSummary } from "../../core/syntax/feeds/summary.ts"
import { changeSummary, commentsOf, separated } from "../../core/syntax/wikimedia/summary.ts"
import { Post } from "../../core/syntax/x/Post.ts"
import { counted } from "../../core/text/counted.ts"
import { instantOf, type JsonObject, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../core/text/json.ts"
import type { Match } from "../client.ts"

/** A value of a field, as explanations name it. */
interface FieldValue {
  readonly field: string
  /** Its index among the different values of the field. */
  readonly value: number
}

/** A text of the event. */
export interface Part extends FieldValue {
  /** `link`: an address, or what describes the page there. `card`: the title of that page. `alt`: describes an image. */
  readonly kind: "text" | "quoted" | "link" | "card" | "alt" | "title" | "added" | "removed"
  readonly text: string
  /** Another field that has the same text. */
  readonly also?: FieldValue
}

export interface Content {
  readonly kind: "post" | "page" | "change" | "item"
  /** The display name of an author. */
  readonly name?: string
  /** The handle of an author, the domain of a page or wiki, or the title of a feed. */
  readonly source?: string
  /** What else a reader wants to know: `reply to @ann`, `+80 bytes`. */
  readonly facts?: ReadonlyArray<string>
  /** In milliseconds. */
  readonly publishedAt?: number
  /** Only if it leads to the web. */
  readonly link?: string
  readonly parts: ReadonlyArray<Part>
}

/** `undefined` for an event of another form. */
export const contentOf = ({ platform, payload }: Match): Content | undefined => READERS[platform]?.(payload)

/** The others are shown if a word in them matched. */
export const isAlwaysShown = ({ kind }: Part): boolean => kind !== "link" && kind !== "alt"

/** A link of a stranger; `undefined` if it does not lead to the web. */
export const webLink = (text: string | undefined): URL | undefined => {
  if (text === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === "https:" || url.protocol === "http:" ? url : undefined
}

// ---- helpers ----

const READERS: Readonly<Record<string, (payload: JsonObject) => Content | undefined>> = {
  x: (payload) => {
    const post = objectOf(payload["data"])
    return post && postContent(new Post(post, objectOf(payload["includes"]) ?? {}))
  },
  firehose: (payload) => {
    const page = objectOf(payload["document"])
    return page && pageContent(page)
  },
  bluesky: (payload) => {
    const post = BlueskyPost.of(payload)
    return typeof post === "string" ? undefined : blueskyContent(post, payload)
  },
  wikimedia: (payload) => (objectOf(payload["meta"]) === undefined ? undefined : changeContent(payload)),
  feeds: (payload) => {
    const [feed, item] = [objectOf(payload["feed"]), objectOf(payload["item"])]
    return feed && item && itemContent(feed, item, payload)
  }
}

/** The values of a field as explanations count them. */
const partsOf = (kind: Part["kind"], field: string, texts: ReadonlyArray<string | undefined>): ReadonlyArray<Part> =>
  [...new Set(texts)].filter((text) => text !== undefined).map((text, value) => ({ kind, field, value, text }))

const blueskyContent = (post: BlueskyPost, payload: JsonObject): Content => {
  const { author, link } = blueskySummary(payload)
  const [micros, created] = [numberOf(payload["time_us"]), instantOf(post.record["createdAt"])]
  const [title, description] = [textOf(post.external?.["title"]), textOf(post.external?.["description"])]
  const about = (relation: string, uri: string | undefined) => {
    if (uri === undefined) return []
    const [, handle] = post.account(authorOf(uri))
    return [handle === undefined ? `${relation} another post` : `${relation} @${handle}`]
  }
  return {
    kind: "post",
    ...(author !== undefined && { source: author }),
    facts: [
      ...about("reply to", post.repliedTo),
      ...about("quotes", post.quoted),
      ...(post.images.length === 0 ? [] : [counted(post.images.length, "image")]),
      ...(post.hasVideo ? ["video"] : [])
    ],
    ...published(micros === undefined ? created : micros / 1_000),
    ...(link !== undefined && { link }),
    parts: [
      ...partsOf("text", "x.text", [textOf(post.text)]),
      ...partsOf("card", "x.url_title", [title]),
      ...partsOf("link", "x.url_description", [description]),
      ...partsOf("link", "x.url", post.links),
      ...partsOf("alt", "bluesky.alt", post.alts)
    ]
  }
}

const changeContent = (change: JsonObject): Content => {
  const { author, link } = changeSummary(change)
  const meta = objectOf(change["meta"])
  const wiki = textOf(change["server_name"]) ?? textOf(meta?.["domain"]) ?? textOf(change["wiki"])
  const url = webLink(link)
  const title = textOf(change["title"])
  const edited = numberOf(change["timestamp"])
  return {
    kind: "change",
    ...(author !== undefined && { name: author }),
    ...(wiki !== undefined && { source: wiki }),
    facts: [
      ...changeKind(change),
      ...sizeChange(change),
      ...(change["minor"] === true ? ["minor"] : []),
      ...(change["bot"] === true ? ["bot"] : [])
    ],
    ...published(instantOf(meta?.["dt"]) ?? (edited === undefined ? undefined : edited * 1_000)),
    ...(url !== undefined && { link: url.href }),
    parts: [
      ...partsOf("title", "firehose.title", [title && separated(title)]),
      ...partsOf("text", "firehose.added", commentsOf(change))
    ]
  }
}

const changeKind = (change: JsonObject): ReadonlyArray<string> => {
  const type = textOf(change["type"])
  if (type === undefined) return []
  if (type !== "log") return [CHANGES[type] ?? type]
  const entry = textsOf([change["log_type"], change["log_action"]])
  return [entry.length === 0 ? type : `log: ${entry.join("/")}`]
}

const CHANGES: Readonly<Record<string, string>> = { new: "new page", categorize: "category" }

const sizeChange = ({ length }: JsonObject): ReadonlyArray<string> => {
  const size = numberOf(objectOf(length)?.["new"])
  if (size === undefined) return []
  const difference = size - (numberOf(objectOf(length)?.["old"]) ?? 0)
  return [`${bytes.format(difference)} ${Math.abs(difference) === 1 ? "byte" : "bytes"}`]
}

const bytes = new Intl.NumberFormat(undefined, { signDisplay: "exceptZero" })

const itemContent = (feed: JsonObject, item: JsonObject, payload: JsonObject): Content => {
  const url = webLink(itemSummary(payload).link)
  const name = textsOf(item["authors"]).join(", ")
  const source = textOf(feed["title"]) ?? webLink(textOf(feed["url"]))?.hostname
  const title = textOf(item["title"])
  // The text that words without a field are searched in. The title is a field of its own, too.
  const texts = partsOf("text", "firehose.added", [title, textOf(item["summary"])])
  const files = objectsOf(item["enclosures"]).length
  return {
    kind: "item",
    ...(name !== "" && { name }),
    ...(source !== undefined && { source }),
    facts: files === 0 ? [] : [counted(files, "file")],
    ...published(instantOf(item["published"])),
    ...(url !== undefined && { link: url.href }),
    parts: [
      ...texts.map((part) =>
        part.text === title ? { ...part, kind: "title" as const, also: { field: "firehose.title", value: 0 } } : part
      ),
      ...partsOf("link", "firehose.added_anchor", textsOf(item["link_texts"]))
    ]
  }
}

/** Nothing for a time that no calendar has: strangers may send any number. */
const published = (at: number | undefined): { readonly publishedAt?: number } =>
  at === undefined || Number.isNaN(new Date(at).getTime()) ? {} : { publishedAt: Math.floor(at) }

const postContent = (post: Post): Content => {
  const [name, handle] = [textOf(post.author?.["name"]), textOf(post.author?.["username"])]
  const source = handle === undefined ? textOf(post.data["author_id"]) : `@${handle}`
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
    ...published(instantOf(post.data["created_at"])),
    ...(/^\d+$/.test(id) && { link: `https://x.com/i/status/${id}` }),
    parts
  }
}

const pageContent = (page: JsonObject): Content => {
  const [title, url] = [textOf(page["title"]), webLink(textOf(page["url"]))]
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
    ...published(instantOf(page["publish_time"])),
    parts: [...titles, ...changes]
  }
}
