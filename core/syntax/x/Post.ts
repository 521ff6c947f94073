/** A post of X's stream with what it refers to: its author, originals, place, links and media, each found when asked for. */
import type { Area } from "../expression/eventFields.ts"
import { type JsonObject, listOf, objectOf, objectsOf, textOf, textsOf } from "../json.ts"
import { type Entities, entitiesOf, fullText, type Link, type Mention } from "./entities.ts"

/** A quoted original and the original of a retweet count as content of the post. */
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
  private knownContents: ReadonlyArray<Content> | undefined
  private knownLinks: ReadonlyArray<Link> | undefined
  private knownAddresses: ReadonlyArray<string> | undefined
  private knownAreas: ReadonlyArray<Area> | undefined

  constructor(data: JsonObject, includes: JsonObject) {
    this.data = data
    this.includes = includes
    this.author = this.user(textOf(data["author_id"]))
    this.repliedId = referenced(data, "replied_to")
    this.retweetedId = referenced(data, "retweeted")
    this.original = this.included(this.retweetedId)
    this.quoted = this.included(referenced(data, "quoted") ?? (this.original && referenced(this.original, "quoted")))
  }

  /** The words of links count as words of the post. */
  get texts(): ReadonlyArray<string> {
    const found = this.ownTexts()
    if (this.quoted !== undefined) found.push(fullText(this.quoted))
    for (const address of this.addresses) found.push(address)
    return found
  }

  get contents(): ReadonlyArray<Content> {
    if (this.knownContents === undefined) {
      const contents = [{ post: this.data, entities: entitiesOf(this.data, () => this.ownTexts().join("\n")) }]
      for (const post of [this.original, this.quoted]) {
        if (post !== undefined) contents.push({ post, entities: entitiesOf(post, () => fullText(post)) })
      }
      this.knownContents = contents
    }
    return this.knownContents
  }

  get links(): ReadonlyArray<Link> {
    this.knownLinks ??= this.all((entities) => entities.links)
    return this.knownLinks
  }

  get addresses(): ReadonlyArray<string> {
    this.knownAddresses ??= this.links.length === 0 ? none : this.links.flatMap((link) => link.addresses)
    return this.knownAddresses
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

  /** The account that the post answers. */
  get repliedTo(): string | undefined {
    return textOf(this.data["in_reply_to_user_id"]) ?? textOf(this.included(this.repliedId)?.["author_id"])
  }

  /** The place of a post is never that of a retweet or of a quoted original. */
  private get geo(): JsonObject | undefined {
    return this.retweetedId === undefined ? objectOf(this.data["geo"]) : undefined
  }

  get placeId(): string | undefined {
    return textOf(this.geo?.["place_id"])
  }

  get place(): JsonObject | undefined {
    return named(objectsOf(this.includes["places"]), "id", this.placeId)
  }

  get areas(): ReadonlyArray<Area> {
    if (this.knownAreas === undefined) {
      const { geo } = this
      const areas = [geo && pointOf(geo), areaOf(listOf(objectOf(this.place?.["geo"])?.["bbox"]))]
      this.knownAreas = areas.filter((area) => area !== undefined)
    }
    return this.knownAreas
  }

  /** An account goes by its id and by its name; the name may only be known from a mention. */
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
    const name = retweetMark.exec(fullText(this.data))?.[1]
    const account = this.account(textOf(this.original?.["author_id"]))
    return name === undefined ? account : [...account, name]
  }

  /** What `is:` asks for. */
  kinds(): ReadonlyArray<string> {
    const found: Array<string> = []
    if (this.retweetedId !== undefined) found.push("retweet")
    if (this.contents.some(({ post }) => isReply(post))) found.push("reply")
    if (this.contents.some(({ post }) => referenced(post, "quoted") !== undefined)) found.push("quote")
    const verifiedType = textOf(this.author?.["verified_type"]) ?? "none"
    if (this.author?.["verified"] === true || verifiedType !== "none") found.push("verified")
    if (this.data["nullcast"] === true) found.push("nullcast")
    return found
  }

  /** What `has:` asks for. */
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

  /** The kind of each medium, `undefined` where the record does not say. */
  private media(): ReadonlyArray<string | undefined> {
    const found: Array<string | undefined> = []
    for (const { post } of this.contents) {
      for (const key of textsOf(objectOf(post["attachments"])?.["media_keys"])) {
        found.push(textOf(named(objectsOf(this.includes["media"]), "media_key", key)?.["type"]))
      }
    }
    for (const address of this.addresses) {
      const kind = linkedMedia(address)
      if (kind !== undefined) found.push(kind)
    }
    return found
  }

  /** The text of a retweet is a copy that may be cut in the middle of a word: the original stands in for it. */
  private ownTexts(): Array<string> {
    const own = fullText(this.data)
    if (this.original === undefined) return [own]
    const mark = retweetMark.exec(own)?.[0]
    return mark === undefined ? [own, fullText(this.original)] : [`${mark}${fullText(this.original)}`]
  }

  private all<A>(of: (entities: Entities) => ReadonlyArray<A>): ReadonlyArray<A> {
    const { contents } = this
    const [first] = contents
    return contents.length === 1 && first !== undefined
      ? of(first.entities)
      : contents.flatMap(({ entities }) => of(entities))
  }

  private user(id: string | undefined): JsonObject | undefined {
    return named(objectsOf(this.includes["users"]), "id", id)
  }

  private included(id: string | undefined): JsonObject | undefined {
    return named(objectsOf(this.includes["tweets"]), "id", id) ?? named(objectsOf(this.includes["posts"]), "id", id)
  }
}

// ---- helpers ----

const none: ReadonlyArray<string> = []

/** A native retweet begins so; what follows may be cut short. */
const retweetMark = /^RT @([A-Za-z0-9_]{1,20}): ?/

const isReply = (post: JsonObject): boolean =>
  referenced(post, "replied_to") !== undefined || textOf(post["in_reply_to_user_id"]) !== undefined

const referenced = (post: JsonObject, type: "retweeted" | "quoted" | "replied_to"): string | undefined =>
  textOf(
    (named(objectsOf(post["referenced_tweets"]), "type", type) ??
      named(objectsOf(post["referenced_posts"]), "type", type))?.["id"]
  )

/** The first that goes by the name. */
const named = (list: ReadonlyArray<JsonObject>, key: string, name: string | undefined): JsonObject | undefined =>
  name === undefined ? undefined : list.find((one) => one[key] === name)

/** A post's own media are linked from its text, also where the media themselves were not asked for. */
const linkedMedia = (address: string): "photo" | "video" | undefined => {
  const kind = /^https?:\/\/(?:www\.)?(?:twitter|x)\.com\/[^/]+\/status\/\d+\/(photo|video)\/\d+$/i.exec(address)?.[1]
  return kind === undefined ? undefined : kind.toLowerCase() === "photo" ? "photo" : "video"
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
