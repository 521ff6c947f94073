/** The feeds: their items, the window that a document shows of them, and which items were shown when. */
import { items } from "../../adapters/demo/items.ts"
import { type JsonObject, objectOf, textOf } from "../../core/text/json.ts"
import { endpoints } from "../endpoints.ts"
import type { World } from "../World.ts"
import { type Document, documentOf, FORMATS, type Format } from "./documents.ts"

/** Times are in milliseconds. */
export interface ItemTruth {
  readonly feed: string
  /** As published. After a fault `new-ids` the feed shows another one. */
  readonly id: string
  readonly url: string | undefined
  readonly title: string | undefined
  readonly publishedAt: number
  /** In a document that was sent to its end and without damage. */
  readonly firstShownAt: number | undefined
  readonly lastShownAt: number | undefined
  /** A reader that began with this document saw nothing of it before. */
  readonly isInFirstDocument: boolean
}

export class Feed {
  readonly name: string
  readonly format: Format
  private readonly world: World
  /** The newest last. */
  private readonly kept: Array<KeptItem> = []
  /** Counts the times that all ids were written anew. */
  private generation = 0
  private version = 0
  private changedAt = 0
  /** Sent to their end and without damage. */
  documents = 0

  constructor(world: World, name: string, format: Format) {
    this.world = world
    this.name = name
    this.format = format
  }

  publish(payload: JsonObject, now: number): void {
    const item = objectOf(payload["item"]) ?? {}
    const id = textOf(item["id"]) ?? textOf(item["url"]) ?? `${this.name}-${this.version}`
    this.kept.push({ id, item, publishedAt: now, isInFirstDocument: false })
    if (this.kept.length > MAX_KEPT) this.kept.shift()
    this.change(now)
  }

  rewriteIds(now: number): void {
    this.generation++
    this.change(now)
  }

  /** The document as of now, and what to call once all of it was sent. */
  document(): Document & { readonly sent: (now: number) => void } {
    const shown = this.kept.slice(-Math.max(1, this.world.settings.feeds.window)).reverse()
    const { generation } = this
    const idOf = ({ id }: KeptItem) => (generation === 0 ? id : `${id}#${generation}`)
    const title = `Dépêches ${this.name}`
    const document = documentOf(
      this.format,
      title,
      shown.map((one) => ({ id: idOf(one), item: one.item }))
    )
    const sent = (at: number) => {
      const isInFirstDocument = this.documents++ === 0
      for (const one of shown) {
        one.lastShownAt = at
        if (one.firstShownAt !== undefined) continue
        Object.assign(one, { firstShownAt: at, isInFirstDocument })
        this.world.deliveries.record({ at, platform: "feeds", connection: this.name, event: idOf(one), rules: [] })
      }
    }
    return { ...document, sent }
  }

  /** Of the document as it is now. */
  get validators(): { readonly etag: string; readonly modified: string } {
    return { etag: `"${this.name}-${this.version}"`, modified: new Date(this.changedAt).toUTCString() }
  }

  get truth(): ReadonlyArray<ItemTruth> {
    return this.kept.map(({ id, item, publishedAt, firstShownAt, lastShownAt, isInFirstDocument }) => ({
      feed: this.name,
      id,
      url: textOf(item["url"]),
      title: textOf(item["title"]),
      publishedAt,
      firstShownAt,
      lastShownAt,
      isInFirstDocument
    }))
  }

  private change(now: number): void {
    this.version++
    this.changedAt = now
  }
}

export class FeedsState {
  readonly world: World
  readonly feeds: ReadonlyArray<Feed>
  published = 0
  private readonly make: (now: number) => JsonObject

  constructor(world: World, seed: number) {
    this.world = world
    this.feeds = endpoints.feeds.map((name, index) => new Feed(world, name, FORMATS[index] ?? "rss"))
    this.make = items(seed)
  }

  /** An item goes to the feed that its address names, such as `/feeds/2.xml`, or else to one after the other. */
  publish(payload: JsonObject, now: number): void {
    const url = textOf(objectOf(payload["feed"])?.["url"]) ?? ""
    const named = this.feeds.find(({ name }) => url.endsWith(`/feeds/${name}`))
    const feed = named ?? this.feeds[this.published % this.feeds.length]
    this.published++
    feed?.publish(payload, now)
  }

  /** More items at once than the document shows. */
  jump(feed: Feed, now: number): void {
    for (let left = this.world.settings.feeds.window + 1; left > 0; left--) {
      this.published++
      feed.publish(this.make(now), now)
    }
  }

  /** The items that are still kept, those of each feed in the order in which they were published. */
  get truth(): ReadonlyArray<ItemTruth> {
    return this.feeds.flatMap(({ truth }) => truth)
  }
}

// ---- helpers ----

interface KeptItem {
  readonly id: string
  readonly item: JsonObject
  readonly publishedAt: number
  firstShownAt?: number
  lastShownAt?: number
  isInFirstDocument: boolean
}

/** Of one feed. */
const MAX_KEPT = 10_000
