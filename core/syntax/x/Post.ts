/** A post of X's stream, resolved lazily: its author, originals, place, links and media. */

import { type JsonObject, listOf, objectOf, objectsOf, textOf, textsOf } from "../../text/json.ts"
import type { Area } from "../expression/eventFields.ts"
import { type Entities, entitiesOf, fullText, type Link, type Mention } from "./entities.ts"

/** The post itself, its quoted original, or the original of a retweet. */
interface Content {
  readonly post: JsonObject
  readonly entities: Entities
}

export class Post {
  readonly data: JsonObject
  readonly author: JsonObject | undefined
  readonly retweetedId: string | undefined
  readonly repliedId: string | undefined
  private readonly includes: JsonObject
  private readonly original: JsonObject | undefined
  private readonly quoted: JsonObject | undefined
  private cachedContents: ReadonlyArray<Content> | undefined
  private cachedLinks: ReadonlyArray<Link> | undefined
  private cachedUrls: ReadonlyArray<string> | undefined
  private cachedAreas: ReadonlyArray<Area> | undefined

  constructor(data: JsonObject, includes: JsonObject) {
    this.data = data
    this.includes = includes
    this.author = this.user(textOf(data["author_id"]))
    this.repliedId = referencedId(data, "replied_to")
    this.retweetedId = referencedId(data, "retweeted")
    this.original = this.included(this.retweetedId)
    this.quoted = this.included(
      referencedId(data, "quoted") ?? (this.original && referencedId(this.original, "quoted"))
    )
  }

  /** Includes the URLs of links: X matches their words too. */
  get texts(): ReadonlyArray<string> {
    const found = this.ownTexts()
    if (this.quoted !== undefined) found.push(fullText(this.quoted))
    for (const url of this.urls) found.push(url)
    return found
  }

  get contents(): ReadonlyArray<Content> {
    if (this.cachedContents === undefined) {
      const contents = [{ post: this.data, entities: entitiesOf(this.data, () => this.ownTexts().join("\n")) }]
      for (const post of [this.original, this.quoted]) {
        if (post !== undefined) contents.push({ post, entities: entitiesOf(post, () => fullText(post)) })
      }
      this.cachedContents = contents
    }
    return this.cachedContents
  }

  get links(): ReadonlyArray<Link> {
    this.cachedLinks ??= this.all((entities) => entities.links)
    return this.cachedLinks
  }

  get urls(): ReadonlyArray<string> {
    this.cachedUrls ??= this.links.length === 0 ? empty : this.links.flatMap((link) => link.urls)
    return this.cachedUrls
  }

  get mentions(): ReadonlyArray<Mention> {
    return this.all((entities) => entities.mentions)
  }

  get hashtags(): ReadonlyArray<string> {
    return this.all((entities) => entities.hashtags)
  }

  get cashtags(): ReadonlyArray<string> {
    return this.all((entities) => entities.cashtags)
  }

  /** Id of the account that the post replies to. */
  get repliedTo(): string | undefined {
    return textOf(this.data["in_reply_to_user_id"]) ?? textOf(this.included(this.repliedId)?.["author_id"])
  }

  /** Retweets have no location, and the location of a quoted original is ignored. */
  private get geo(): JsonObject | undefined {
    return this.retweetedId === undefined ? objectOf(this.data["geo"]) : undefined
  }

  get placeId(): string | undefined {
    return textOf(this.geo?.["place_id"])
  }

  get place(): JsonObject | undefined {
    return findBy(objectsOf(this.includes["places"]), "id", this.placeId)
  }

  get areas(): ReadonlyArray<Area> {
    if (this.cachedAreas === undefined) {
      const { geo } = this
      const areas = [geo && pointOf(geo), areaOf(listOf(objectOf(this.place?.["geo"])?.["bbox"]))]
      this.cachedAreas = areas.filter((area) => area !== undefined)
    }
    return this.cachedAreas
  }

  /** The id and the username of an account. The username may come from a mention. */
  account(id: string | undefined): ReadonlyArray<string> {
    if (id === undefined) {
      return []
    }
    const name = textOf(this.user(id)?.["username"]) ?? this.mentions.find((mention) => mention.id === id)?.username
    return name === undefined ? [id] : [id, name]
  }

  affiliations(id: string | undefined): ReadonlyArray<string> {
    const affiliation = objectOf(this.user(id)?.["affiliation"])
    const ids = [...textsOf(affiliation?.["user_id"]), textOf(affiliation?.["user_id"])]
    const name = textOf(affiliation?.["url"])
      ?.split("/")
      .findLast((part) => part !== "")
    return [...ids.flatMap((one) => this.account(one)), ...(name === undefined ? [] : [name])]
  }

  retweetedAuthor(): ReadonlyArray<string> {
    if (this.retweetedId === undefined) {
      return []
    }
    const name = retweetPrefix.exec(fullText(this.data))?.[1]
    const account = this.account(textOf(this.original?.["author_id"]))
    return name === undefined ? account : [...account, name]
  }

  /** Values for `is:`. */
  kinds(): ReadonlyArray<string> {
    const found: Array<string> = []
    if (this.retweetedId !== undefined) found.push("retweet")
    if (this.contents.some(({ post }) => isReply(post))) found.push("reply")
    if (this.contents.some(({ post }) => referencedId(post, "quoted") !== undefined)) found.push("quote")
    const verifiedType = textOf(this.author?.["verified_type"]) ?? "none"
    if (this.author?.["verified"] === true || verifiedType !== "none") found.push("verified")
    if (this.data["nullcast"] === true) found.push("nullcast")
    return found
  }

  /** Values for `has:`. */
  parts(): ReadonlyArray<string> {
    const found: Array<string> = []
    const media = this.media()
    if (this.hashtags.length > 0) found.push("hashtags")
    if (this.cashtags.length > 0) found.push("cashtags")
    if (this.links.length > 0) found.push("links")
    if (this.mentions.length > 0) found.push("mentions")
    if (media.length > 0) found.push("media")
    if (media.includes("photo")) found.push("images")
    if (media.includes("video")) found.push("video_link")
    if (this.placeId !== undefined || (this.geo && pointOf(this.geo)) !== undefined) found.push("geo")
    return found
  }

  /** The type of each attachment, `undefined` if it is not included. */
  private media(): ReadonlyArray<string | undefined> {
    const found: Array<string | undefined> = []
    for (const { post } of this.contents) {
      for (const key of textsOf(objectOf(post["attachments"])?.["media_keys"])) {
        found.push(textOf(findBy(objectsOf(this.includes["media"]), "media_key", key)?.["type"]))
      }
    }
    for (const url of this.urls) {
      const type = linkedMedia(url)
      if (type !== undefined) found.push(type)
    }
    return found
  }

  /** The text of a retweet may be truncated inside a word, so the text of the original replaces it. */
  ownTexts(): Array<string> {
    const own = fullText(this.data)
    if (this.original === undefined) return [own]
    const prefix = retweetPrefix.exec(own)?.[0]
    return prefix === undefined ? [own, fullText(this.original)] : [`${prefix}${fullText(this.original)}`]
  }

  private all<A>(of: (entities: Entities) => ReadonlyArray<A>): ReadonlyArray<A> {
    const { contents } = this
    const [first] = contents
    return contents.length === 1 && first !== undefined
      ? of(first.entities)
      : contents.flatMap(({ entities }) => of(entities))
  }

  private user(id: string | undefined): JsonObject | undefined {
    return findBy(objectsOf(this.includes["users"]), "id", id)
  }

  private included(id: string | undefined): JsonObject | undefined {
    return findBy(objectsOf(this.includes["tweets"]), "id", id) ?? findBy(objectsOf(this.includes["posts"]), "id", id)
  }
}

// ---- helpers ----

const empty: ReadonlyArray<string> = []

/** Start of the text of a native retweet. */
const retweetPrefix = /^RT @([A-Za-z0-9_]{1,20}): ?/

const isReply = (post: JsonObject): boolean =>
  referencedId(post, "replied_to") !== undefined || textOf(post["in_reply_to_user_id"]) !== undefined

const referencedId = (post: JsonObject, type: "retweeted" | "quoted" | "replied_to"): string | undefined =>
  textOf(
    (findBy(objectsOf(post["referenced_tweets"]), "type", type) ??
      findBy(objectsOf(post["referenced_posts"]), "type", type))?.["id"]
  )

const findBy = (list: ReadonlyArray<JsonObject>, key: string, value: string | undefined): JsonObject | undefined =>
  value === undefined ? undefined : list.find((one) => one[key] === value)

/** The text links to the post's own media even if the request did not include them. */
const linkedMedia = (url: string): "photo" | "video" | undefined => {
  const type = /^https?:\/\/(?:www\.)?(?:twitter|x)\.com\/[^/]+\/status\/\d+\/(photo|video)\/\d+$/i.exec(url)?.[1]
  return type === undefined ? undefined : type.toLowerCase() === "photo" ? "photo" : "video"
}

const pointOf = (geo: JsonObject): Area | undefined => {
  const [longitude, latitude] = listOf(objectOf(geo["coordinates"])?.["coordinates"])
  return areaOf([longitude, latitude, longitude, latitude])
}

const areaOf = (sides: ReadonlyArray<unknown>): Area | undefined => {
  const [west, south, east, north] = sides
  return typeof west === "number" && typeof south === "number" && typeof east === "number" && typeof north === "number"
    ? { west, south, east, north }
    : undefined
}
