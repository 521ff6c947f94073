/** Tags, accounts and links of one post: from its `entities` where it has them, read off its text where it has none. */
import { type JsonObject, objectOf, objectsOf, textOf } from "../json.ts"

/** As written, in any case. */
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
  /** The link as it stands in the text, where it leads, and where that leads in the end. */
  readonly addresses: ReadonlyArray<string>
  readonly title: string | undefined
  readonly description: string | undefined
}

/** `text` is what to read where the post has no entities. */
export const entitiesOf = (post: JsonObject, text: () => string): Entities => {
  const own = objectOf(post["entities"])
  const ofNote = objectOf(noteOf(post)?.["entities"])
  return own === undefined && ofNote === undefined ? readOff(text()) : decoded([own, ofNote])
}

/** A long post has its first part in `text` and all of it in the note. */
export const fullText = (post: JsonObject): string => textOf(noteOf(post)?.["text"]) ?? textOf(post["text"]) ?? ""

/** What the text alone shows: where X itself would see a tag, an account or a link. */
export const readOff = (text: string): Entities => {
  if (!anySign.test(text)) return noEntities
  const links: Array<Link> = []
  const rest = text.replaceAll(link, (found) => {
    const address = withoutClosing(found)
    links.push({ addresses: [address], title: undefined, description: undefined })
    return ` ${found.slice(address.length)}`
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

/** Without one of these there is nothing to be seen. */
const anySign = /[#@$\uff03\uff20]|:\/\//

const noEntities: Entities = { hashtags: [], cashtags: [], mentions: [], links: [], annotations: [] }

const link = /https?:\/\/[^\s<>"]+/giu
const hashtag = /(?<![\p{L}\p{M}\p{N}_&/])[#\uff03]([\p{L}\p{M}\p{N}_]+)/gu
const cashtag = /(?<![^\s(["'])\$([A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)(?![\p{L}\p{N}_$])/gu
const mention = /(?<![A-Za-z0-9_!#$%&*@\uff20/])[@\uff20]([A-Za-z0-9_]{1,15})(?![A-Za-z0-9_@\uff20])/gu

const all = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(text.matchAll(pattern), (found) => found[1] ?? "")

/** Without the punctuation that belongs to the sentence around a link. */
const withoutClosing = (address: string): string => {
  let end = address.length
  while (end > 0 && ".,:;!?')]}*_~\u2026\u2019\u201d".includes(address.charAt(end - 1))) {
    end--
  }
  return address.slice(0, end)
}

const noteOf = (post: JsonObject): JsonObject | undefined => objectOf(post["note_tweet"]) ?? objectOf(post["note_post"])

const decoded = (given: ReadonlyArray<JsonObject | undefined>): Entities => {
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
      const addresses = [textOf(one["url"]), textOf(one["expanded_url"]), textOf(one["unwound_url"])]
      links.push({
        addresses: addresses.filter((address) => address !== undefined),
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
