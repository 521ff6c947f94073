/** A post of Bluesky's stream. Records are not validated there: any field may be missing, of another type or out of range. */
import { type JsonObject, listOf, objectOf, objectsOf, textOf, textsOf } from "../../text/json.ts"

/** The collection of posts, in the identifiers of the AT Protocol. */
export const POSTS = "app.bsky.feed.post"

export const postUri = (did: string, rkey: string): string => `at://${did}/${POSTS}/${rkey}`

/** The account of an at:// URI. */
export const authorOf = (uri: string | undefined): string | undefined => /^at:\/\/([^/]+)/.exec(uri ?? "")?.[1]

export class Post {
  readonly did: string
  readonly rkey: string
  readonly record: JsonObject
  /** Handles that were known when the post came, by DID. */
  private readonly handles: JsonObject
  private cachedLinks: ReadonlyArray<string> | undefined

  private constructor(did: string, rkey: string, { record, handles }: { record: JsonObject; handles: JsonObject }) {
    this.did = did
    this.rkey = rkey
    this.record = record
    this.handles = handles
  }

  /** A text is the reason why the record of the stream is not a post. No `Either`: the console loads this file early. */
  static of(event: unknown): Post | string {
    const found = objectOf(event)
    const did = textOf(found?.["did"])
    const commit = objectOf(found?.["commit"])
    const rkey = textOf(commit?.["rkey"])
    const record = objectOf(commit?.["record"])
    if (found === undefined || commit === undefined)
      return notAPost('"commit" is missing (an object with "rkey" and "record")')
    if (did === undefined) return notAPost('it needs a "did", a text that is not empty')
    if (rkey === undefined) return notAPost('"commit" needs an "rkey", a text that is not empty')
    if (record === undefined) return notAPost('"commit" needs a "record" with the "text" of the post')
    if ((textOf(commit["collection"]) ?? POSTS) !== POSTS) return notAPost(`its "collection" is not "${POSTS}"`)
    return new Post(did, rkey, { record, handles: objectOf(found["handles"]) ?? {} })
  }

  get uri(): string {
    return postUri(this.did, this.rkey)
  }

  /** May be empty. */
  get text(): string {
    return textOf(this.record["text"]) ?? ""
  }

  /** The DID, and the handle if it is known. */
  account(did: string | undefined): ReadonlyArray<string> {
    if (did === undefined) return empty
    const handle = textOf(this.handles[did])
    return handle === undefined ? [did] : [did, handle]
  }

  get hashtags(): ReadonlyArray<string> {
    return [...this.features("tag"), ...textsOf(this.record["tags"])]
  }

  /** DIDs. */
  get mentions(): ReadonlyArray<string> {
    return this.features("did")
  }

  get links(): ReadonlyArray<string> {
    this.cachedLinks ??= [...this.features("uri"), ...optional(textOf(this.external?.["uri"]))]
    return this.cachedLinks
  }

  /** The host of each link, and the domains above it. */
  get domains(): ReadonlyArray<string> {
    return this.links.flatMap((link) => {
      const labels = URL.canParse(link) ? new URL(link).hostname.split(".") : []
      return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."))
    })
  }

  /** The card of a linked page. */
  get external(): JsonObject | undefined {
    return objectOf(this.media?.["external"])
  }

  get repliedTo(): string | undefined {
    return this.reply("parent")
  }

  get conversation(): string {
    return this.reply("root") ?? this.uri
  }

  /** The URI of the quoted post. */
  get quoted(): string | undefined {
    const record = objectOf(this.embed?.["record"])
    return textOf(record?.["uri"]) ?? textOf(objectOf(record?.["record"])?.["uri"])
  }

  get images(): ReadonlyArray<JsonObject> {
    return [...objectsOf(this.media?.["images"]), ...this.gallery.filter((item) => item["video"] === undefined)]
  }

  get hasVideo(): boolean {
    return this.media?.["video"] !== undefined || this.gallery.some((item) => item["video"] !== undefined)
  }

  /** What describes the images and videos. */
  get alts(): ReadonlyArray<string> {
    return [
      ...objectsOf(this.media?.["images"]),
      ...this.gallery,
      ...(this.media === undefined ? [] : [this.media])
    ].flatMap((one) => textOf(one["alt"]) ?? [])
  }

  /** Lower-case codes without region or script, in place of those that ISO 639 has replaced. */
  get languages(): ReadonlyArray<string> {
    return textsOf(this.record["langs"]).map(languageCode)
  }

  get labels(): ReadonlyArray<string> {
    return objectsOf(objectOf(this.record["labels"])?.["values"]).flatMap(({ val }) => textOf(val) ?? [])
  }

  private get embed(): JsonObject | undefined {
    return objectOf(this.record["embed"])
  }

  /** A quote may have media beside it. */
  private get media(): JsonObject | undefined {
    return objectOf(this.embed?.["media"]) ?? this.embed
  }

  private get gallery(): ReadonlyArray<JsonObject> {
    return objectsOf(this.media?.["items"])
  }

  private reply(part: "root" | "parent"): string | undefined {
    return textOf(objectOf(objectOf(this.record["reply"])?.[part])?.["uri"])
  }

  /** What the facets of the text refer to: links have a `uri`, mentions a `did`, tags a `tag`. */
  private features(key: "uri" | "did" | "tag"): ReadonlyArray<string> {
    const facets = this.record["facets"]
    if (facets === undefined) return empty
    return listOf(facets).flatMap((facet) =>
      objectsOf(objectOf(facet)?.["features"]).flatMap((feature) => textOf(feature[key]) ?? [])
    )
  }
}

/** The code of a language without its region. */
export const languageCode = (tag: string): string => {
  const code = tag.toLowerCase().split(/[-_]/)[0] ?? ""
  return currentCodes.get(code) ?? code
}

// ---- helpers ----

const currentCodes: ReadonlyMap<string, string> = new Map([
  ["iw", "he"],
  ["in", "id"]
])

const empty: ReadonlyArray<string> = []

const optional = (value: string | undefined): ReadonlyArray<string> => (value === undefined ? empty : [value])

const notAPost = (problem: string): string => `Not a Bluesky post: ${problem}`
