/** Generates posts in Bluesky's format: those on X, in the other shape. */
import type { JsonObject } from "../../core/text/json.ts"
import { listOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { posts } from "./posts.ts"

/** Deterministic for a seed and times in milliseconds. */
export const blueskyPosts = (seed: number) => {
  const make = posts(seed)
  return (now: number): JsonObject => {
    for (;;) {
      const post = recordOf(objectOf(make(now)), now)
      if (post !== undefined) return post
    }
  }
}

// ---- helpers ----

/** Undefined for a retweet: reposts are not part of the stream. */
const recordOf = (event: JsonObject | undefined, now: number): JsonObject | undefined => {
  const data = objectOf(event?.["data"])
  const references = objectsOf(data?.["referenced_tweets"])
  if (data === undefined || references.some(({ type }) => type === "retweeted")) return undefined
  const users = objectsOf(objectOf(event?.["includes"])?.["users"])
  const text = textOf(data["text"]) ?? ""
  const replied = references.find(({ type }) => type === "replied_to")
  const quoted = references.find(({ type }) => type === "quoted")
  const entities = objectOf(data["entities"])
  const authorOf = (id: unknown) => uriOf(didOf("someone"), String(id))
  const author = users.find(({ id }) => id === data["author_id"])
  const did = didOf(String(data["author_id"]))
  const facets = [
    ...objectsOf(entities?.["hashtags"]).flatMap(({ tag }) => facetOf(text, `#${tag}`, { $type: "tag", tag })),
    ...objectsOf(entities?.["mentions"]).flatMap(({ username }) =>
      facetOf(text, `@${username}`, { $type: "mention", did: didOf(String(username)) })
    ),
    ...objectsOf(entities?.["urls"]).flatMap(({ url, expanded_url }) =>
      facetOf(text, String(url), { $type: "link", uri: expanded_url ?? url })
    )
  ]
  const hasMedia = listOf(objectOf(data["attachments"])?.["media_keys"]).length > 0
  const record = {
    $type: "app.bsky.feed.post",
    text,
    createdAt: new Date(now).toISOString(),
    ...(textOf(data["lang"]) !== undefined && { langs: [data["lang"]] }),
    ...(facets.length > 0 && { facets }),
    ...(replied !== undefined && {
      reply: { root: { uri: authorOf(data["conversation_id"]) }, parent: { uri: authorOf(replied["id"]) } }
    }),
    ...(quoted !== undefined
      ? { embed: { $type: "app.bsky.embed.record", record: { uri: authorOf(quoted["id"]) } } }
      : hasMedia
        ? { embed: { $type: "app.bsky.embed.images", images: [{ alt: "A photo", image: {} }] } }
        : {})
  }
  const handle = textOf(author?.["username"])
  return {
    did,
    time_us: now * 1_000,
    kind: "commit",
    commit: { operation: "create", collection: "app.bsky.feed.post", rkey: rkeyOf(String(data["id"])), record },
    ...(handle !== undefined && { handles: { [did]: `${handle.toLowerCase().replaceAll("_", "-")}.example.com` } })
  }
}

const SIGNS = "234567abcdefghijklmnopqrstuvwxyz"

const encoded = (text: string, length: number): string => {
  let hash = 7n
  for (const char of text) hash = (hash * 131n + BigInt(char.codePointAt(0) ?? 0)) % 2n ** 120n
  return Array.from({ length }, (_, at) => SIGNS[Number((hash >> BigInt((at * 5) % 120)) & 31n)]).join("")
}

const didOf = (account: string): string => `did:plc:${encoded(account, 24)}`

const rkeyOf = (id: string): string => `3${BigInt(id).toString(32).padStart(12, "2").slice(-12)}`

const uriOf = (did: string, id: string): string => `at://${did}/app.bsky.feed.post/${rkeyOf(id)}`

/** Offsets count the bytes of UTF-8. */
const facetOf = (text: string, shown: string, feature: { readonly $type: string; readonly [key: string]: unknown }) => {
  const at = text.indexOf(shown)
  if (at < 0) return []
  const bytes = (part: string) => new TextEncoder().encode(part).length
  const byteStart = bytes(text.slice(0, at))
  return [
    {
      index: { byteStart, byteEnd: byteStart + bytes(shown) },
      features: [{ ...feature, $type: `app.bsky.richtext.facet#${feature.$type}` }]
    }
  ]
}
