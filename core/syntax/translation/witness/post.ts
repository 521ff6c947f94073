/** Content as an X post. */
import type { JsonObject } from "../../../text/json.ts"
import type { Field } from "../../expression/expression.ts"
import { parseEntities } from "../../x/entities.ts"
import { toFirehoseLanguages, toXLanguage } from "../languages.ts"
import { type Content, type ExampleEvents, textOf, type Value, withOwn, withText } from "./content.ts"

export const posts: ExampleEvents = {
  withValue: (content, field, value) => {
    const text = String(value)
    switch (field) {
      case "x.text":
        return withText(content, text)
      case "x.hashtag":
        return withText(content, `#${text}`)
      case "x.cashtag":
        return withText(content, `$${text.toUpperCase()}`)
      case "x.mention":
        return withText(content, `@${text}`)
      case "x.url":
        return { ...content, link: text }
      case "x.url_title":
        return { ...content, title: text }
      case "x.lang":
        return { ...content, language: toFirehoseLanguages(text)[0] ?? text }
      case "x.has":
        return withPart(content, text)
      default:
        return withOwn(content, field, value)
    }
  },
  payload: (content) => new PostBuilder(content).build()
}

// ---- helpers ----

function withPart(content: Content, part: string): Content {
  switch (part) {
    case "hashtags":
      return withText(content, "#example")
    case "cashtags":
      return withText(content, "$ABC")
    case "mentions":
      return withText(content, "@example")
    case "links":
      return { ...content, link: content.link ?? `https://${content.site}/` }
    case "geo":
      return withOwn(content, "x.point", 0, 0)
    default:
      return withOwn(content, "x.media", part === "video_link" ? "video" : "photo")
  }
}

const AUTHOR = "2"
const REPLIED_AUTHOR = "3"
const ORIGINAL_AUTHOR = "4"

class PostBuilder {
  private readonly content: Content
  private readonly data: Record<string, unknown>
  private readonly users = new Map<string, Record<string, unknown>>()
  private readonly posts: Array<JsonObject> = []
  private readonly references: Array<JsonObject> = []

  constructor(content: Content) {
    this.content = content
    this.data = { id: this.last("x.id") ?? "1", text: textOf(content) }
  }

  build(): JsonObject {
    this.addLanguage()
    this.addAuthor()
    this.addReply()
    this.addOriginal()
    this.addLinks()
    this.addAnnotations()
    this.addPlainFields()
    const places = this.addPlace()
    const media = this.addMedia()
    if (this.references.length > 0) this.data["referenced_tweets"] = this.references
    const includes = {
      ...(this.users.size > 0 && { users: [...this.users.values()] }),
      ...(this.posts.length > 0 && { tweets: this.posts }),
      ...(places.length > 0 && { places }),
      ...(media.length > 0 && { media })
    }
    return Object.keys(includes).length === 0 ? { data: this.data } : { data: this.data, includes }
  }

  private addLanguage(): void {
    const { language } = this.content
    if (language === undefined) return
    const code = toXLanguage(language)?.code
    const isUnknown = code === undefined && toFirehoseLanguages(language).length > 0
    this.data["lang"] = isUnknown ? "und" : code?.startsWith("zh") ? "zh" : (code ?? language)
  }

  private addAuthor(): void {
    const metrics = Object.fromEntries(
      [
        ["followers_count", this.last("x.followers_count")],
        ["following_count", this.last("x.following_count")],
        ["tweet_count", this.last("x.tweets_count")],
        ["listed_count", this.last("x.listed_count")]
      ].filter(([, value]) => value !== undefined)
    )
    const facts = {
      ...this.given("name", "x.bio_name"),
      ...this.given("description", "x.bio"),
      ...this.given("location", "x.bio_location"),
      ...(this.has("x.is", "verified") && { verified: true }),
      ...(Object.keys(metrics).length > 0 && { public_metrics: metrics }),
      ...affiliation(this.last("x.from_affiliate_of"))
    }
    const account = this.last("x.from")
    if (account !== undefined || Object.keys(facts).length > 0) {
      this.data["author_id"] = this.addUser(AUTHOR, account, facts)
    }
  }

  private addReply(): void {
    const id = this.last("x.in_reply_to_tweet_id")
    const account = this.last("x.to")
    const affiliated = this.last("x.to_affiliate_of")
    if (id === undefined && account === undefined && affiliated === undefined && !this.has("x.is", "reply")) return
    this.references.push({ type: "replied_to", id: id ?? "5" })
    this.data["in_reply_to_user_id"] = this.addUser(REPLIED_AUTHOR, account, affiliation(affiliated))
  }

  private addOriginal(): void {
    if (this.has("x.is", "quote")) this.references.push({ type: "quoted", id: "6" })
    const account = this.last("x.retweets_of")
    const given = this.last("x.retweets_of_tweet_id")
    if (account === undefined && given === undefined && !this.has("x.is", "retweet")) return
    const id = given ?? "7"
    this.references.push({ type: "retweeted", id })
    if (account !== undefined) {
      const author = this.addUser(ORIGINAL_AUTHOR, account, {})
      this.posts.push({ id, text: this.data["text"], author_id: author })
    }
  }

  private addLinks(): void {
    const { link, title, otherLinks, site } = this.content
    const description = this.last("x.url_description")
    const hasLink = link !== undefined || title !== undefined || description !== undefined
    const own = {
      url: link ?? `https://${site}/`,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description })
    }
    const urls = [
      ...(hasLink ? [own] : []),
      ...otherLinks.map(({ url, title }) => ({ url, ...(title !== undefined && { title }) }))
    ]
    if (urls.length === 0) return
    const { hashtags, cashtags, mentions } = parseEntities(textOf(this.content))
    this.data["entities"] = {
      urls,
      ...(hashtags.length > 0 && { hashtags: hashtags.map((tag) => ({ tag })) }),
      ...(cashtags.length > 0 && { cashtags: cashtags.map((tag) => ({ tag })) }),
      ...(mentions.length > 0 && { mentions: mentions.map(({ username }) => ({ username })) })
    }
  }

  private addAnnotations(): void {
    const annotations = [
      ...this.all("x.context").map((value) => {
        const [domain = "", entity = ""] = String(value).split(".")
        return { domain: { id: domain }, entity: { id: entity } }
      }),
      ...this.all("x.entity").map((name) => ({ domain: { id: "1" }, entity: { id: "1", name } }))
    ]
    if (annotations.length > 0) this.data["context_annotations"] = annotations
  }

  private addPlainFields(): void {
    Object.assign(this.data, this.given("source", "x.source"), this.given("conversation_id", "x.conversation_id"))
    if (this.has("x.is", "nullcast")) this.data["nullcast"] = true
  }

  private addPlace(): ReadonlyArray<JsonObject> {
    const [longitude, latitude] = this.all("x.point")
    const name = this.last("x.place")
    const country = this.last("x.place_country")
    const given = this.last("x.place_id")
    const id = given ?? (name === undefined && country === undefined ? undefined : "8")
    if (longitude === undefined && id === undefined) return []
    this.data["geo"] = {
      ...(longitude !== undefined && { coordinates: { type: "Point", coordinates: [longitude, latitude] } }),
      ...(id !== undefined && { place_id: id })
    }
    const place = { id, ...this.given("full_name", "x.place"), ...this.given("country_code", "x.place_country") }
    return id === undefined ? [] : [place]
  }

  private addMedia(): ReadonlyArray<JsonObject> {
    const media = this.all("x.media").map((type, index) => ({ media_key: `9_${index}`, type }))
    if (media.length > 0) this.data["attachments"] = { media_keys: media.map(({ media_key }) => media_key) }
    return media
  }

  /** Returns the id. An account is given by its name or by its id. */
  private addUser(id: string, account: Value | undefined, facts: JsonObject): string {
    const name = String(account ?? "someone")
    const isId = /^\d+$/.test(name)
    const user = { id: isId ? name : id, ...(isId ? {} : { username: name }), ...facts }
    this.users.set(user.id, { ...this.users.get(user.id), ...user })
    return user.id
  }

  private all(field: Field): ReadonlyArray<Value> {
    return this.content.own[field] ?? []
  }

  private last(field: Field): Value | undefined {
    return this.all(field).at(-1)
  }

  private has(field: Field, value: string): boolean {
    return this.all(field).includes(value)
  }

  private given(key: string, field: Field): JsonObject {
    const value = this.last(field)
    return value === undefined ? {} : { [key]: value }
  }
}

function affiliation(account: Value | undefined): JsonObject {
  if (account === undefined) return {}
  const name = String(account)
  return { affiliation: /^\d+$/.test(name) ? { user_id: [name] } : { url: `https://x.com/${name}` } }
}
