/** Tags, mentions and links of one post: from its `entities`, or parsed from its text if it has none. */
import { type JsonObject, objectOf, objectsOf, textOf } from "../../text/json.ts"

/** In the original case. */
export interface Entities {
  readonly hashtags: ReadonlyArray<string>
  readonly cashtags: ReadonlyArray<string>
  readonly mentions: ReadonlyArray<Mention>
  readonly links: ReadonlyArray<Link>
  readonly annotations: ReadonlyArray<string>
}

export interface Mention {
  readonly username: string
  readonly id: string | undefined
}

export interface Link {
  /** As in the text, expanded and unwound. */
  readonly urls: ReadonlyArray<string>
  readonly title: string | undefined
  readonly description: string | undefined
}

/** Calls `text` only if the post has no entities. */
export const entitiesOf = (post: JsonObject, text: () => string): Entities => {
  const own = objectOf(post["entities"])
  const fromNote = objectOf(noteOf(post)?.["entities"])
  return own === undefined && fromNote === undefined ? parseEntities(text()) : decodeEntities([own, fromNote])
}

/** The `text` of a long post is truncated; its note has all of it. */
export const fullText = (post: JsonObject): string => textOf(noteOf(post)?.["text"]) ?? textOf(post["text"]) ?? ""

/** Follows X's own rules for tags, mentions and links in text. */
export const parseEntities = (text: string): Entities => {
  if (!anySign.test(text)) return noEntities
  const links: Array<Link> = []
  const rest = text.replaceAll(link, (found) => {
    const url = trimSentencePunctuation(found)
    links.push({ urls: [url], title: undefined, description: undefined })
    return ` ${found.slice(url.length)}`
  })
  return {
    hashtags: all(rest, hashtag).filter((tag) => /[^\p{N}_]/u.test(tag)),
    cashtags: all(rest, cashtag),
    mentions: all(rest, mention).map((username) => ({ username, id: undefined })),
    links,
    annotations: []
  }
}

// ---- helpers ----

/** A text without one of these has no entities. */
const anySign = /[#@$\uff03\uff20]|:\/\//

const noEntities: Entities = { hashtags: [], cashtags: [], mentions: [], links: [], annotations: [] }

const link = /https?:\/\/[^\s<>"]+/giu
const hashtag = /(?<![\p{L}\p{M}\p{N}_&/])[#\uff03]([\p{L}\p{M}\p{N}_]+)/gu
const cashtag = /(?<![^\s(["'])\$([A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)(?![\p{L}\p{N}_$])/gu
const mention = /(?<![A-Za-z0-9_!#$%&*@\uff20/])[@\uff20]([A-Za-z0-9_]{1,15})(?![A-Za-z0-9_@\uff20])/gu

const all = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(text.matchAll(pattern), (found) => found[1] ?? "")

/** Removes punctuation after a link that belongs to the sentence. */
const trimSentencePunctuation = (url: string): string => {
  let end = url.length
  while (end > 0 && ".,:;!?')]}*_~\u2026\u2019\u201d".includes(url.charAt(end - 1))) {
    end--
  }
  return url.slice(0, end)
}

const noteOf = (post: JsonObject): JsonObject | undefined => objectOf(post["note_tweet"]) ?? objectOf(post["note_post"])

const decodeEntities = (given: ReadonlyArray<JsonObject | undefined>): Entities => {
  const hashtags: Array<string> = []
  const cashtags: Array<string> = []
  const mentions: Array<Mention> = []
  const links: Array<Link> = []
  const annotations: Array<string> = []
  for (const entities of given) {
    if (entities === undefined) continue
    push(hashtags, objectsOf(entities["hashtags"]), "tag")
    push(cashtags, objectsOf(entities["cashtags"]), "tag")
    push(annotations, objectsOf(entities["annotations"]), "normalized_text")
    for (const one of objectsOf(entities["mentions"])) {
      const username = textOf(one["username"])
      if (username !== undefined) {
        mentions.push({ username, id: textOf(one["id"]) })
      }
    }
    for (const one of objectsOf(entities["urls"])) {
      const urls = [textOf(one["url"]), textOf(one["expanded_url"]), textOf(one["unwound_url"])]
      links.push({
        urls: urls.filter((url) => url !== undefined),
        title: textOf(one["title"]),
        description: textOf(one["description"])
      })
    }
  }
  return { hashtags, cashtags, mentions, links, annotations }
}

const push = (found: Array<string>, given: ReadonlyArray<JsonObject>, key: string): void => {
  for (const one of given) {
    const value = textOf(one[key])
    if (value !== undefined) {
      found.push(value)
    }
  }
}
