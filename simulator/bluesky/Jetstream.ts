/** Plays Bluesky's Jetstream: a numbered log of events, connections that replay from a cursor, and its faults. */
import type { JsonObject } from "../../core/text/json.ts"
import { objectOf, textOf } from "../../core/text/json.ts"

/** The side of a client. */
export interface Peer {
  readonly send: (text: string) => void
  readonly close: (code: number, reason: string) => void
}

/** The answer to a request that is refused before the connection opens. */
export interface Refusal {
  readonly status: number
  readonly body: string
}

export interface Connection {
  /** The client has left. */
  readonly left: () => void
}

/** What can go wrong. */
export interface JetstreamFaults {
  /** The next requests are refused with this status. */
  readonly refuse?: { readonly status: number; readonly times: number }
  /** Open connections, and those that open within so many seconds, fall silent and stay so. */
  readonly stallSeconds?: number
  /** Closes every connection with this code. 1001: the server shuts down. */
  readonly close?: number
  /** Forgets events that are older, in seconds. */
  readonly trimSeconds?: number
  /** Loses all events, and numbers new ones from 1. */
  readonly countAnew?: boolean
  /** The next events are sent twice. */
  readonly duplicates?: number
  /** Sends a message that is cut off. */
  readonly torn?: boolean
  /** An error message, and the end. */
  readonly error?: string
  /** The service of profiles answers with status 503, until this is false. */
  readonly noProfiles?: boolean
}

export class Jetstream {
  private readonly log: Array<Entry> = []
  private readonly connections = new Set<Open>()
  private lastSeq = 1_000_000
  private refusal: { readonly status: number; times: number } | undefined
  private silentUntil = 0
  private duplicates = 0
  private trimmedBefore = 0
  /** Handles by DID. */
  readonly handles = new Map<string, string>()
  hasProfiles = true
  /** How often a connection was opened. */
  opened = 0

  /** A post in the form of the event format. */
  publish(event: JsonObject, now: number): void {
    const commit = objectOf(event["commit"])
    for (const [did, handle] of Object.entries(objectOf(event["handles"]) ?? {})) this.handles.set(did, String(handle))
    this.add("commit", { did: event["did"], rev: "3l", operation: "create", collection: POSTS, ...commit }, now)
  }

  delete(did: string, rkey: string, now: number): void {
    this.add("commit", { did, rev: "3l", operation: "delete", collection: POSTS, rkey }, now)
  }

  account(did: string, state: { readonly active: boolean; readonly status?: string }, now: number): void {
    this.add("account", { did, account: { did, time: new Date(now).toISOString(), ...state } }, now)
  }

  identity(did: string, handle: string, now: number): void {
    this.handles.set(did, handle)
    this.add("identity", { did, identity: { did, handle } }, now)
  }

  /** Repairs a repository: all the posts that it still has come again. */
  sync(did: string, now: number): void {
    this.add("sync", { did, sync: { did } }, now)
    for (const payload of this.postsOf(did).values()) this.add("commit", payload, now)
  }

  inject(faults: JetstreamFaults, now: number): void {
    const { refuse, stallSeconds, close, trimSeconds, countAnew, duplicates = 0, torn, error, noProfiles } = faults
    if (refuse !== undefined) this.refusal = { ...refuse }
    if (stallSeconds !== undefined) {
      this.silentUntil = now + stallSeconds * 1_000
      for (const open of this.connections) open.isSilent = true
    }
    if (trimSeconds !== undefined) this.trimmedBefore = now - trimSeconds * 1_000
    if (countAnew === true) {
      this.log.length = 0
      this.lastSeq = 0
    }
    this.duplicates += duplicates
    if (noProfiles !== undefined) this.hasProfiles = !noProfiles
    for (const open of [...this.connections]) {
      if (torn === true) open.peer.send('{"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEv')
      if (error !== undefined) open.peer.send(JSON.stringify({ $type: "error", error, message: "Try again" }))
      const code = close ?? (error === undefined ? undefined : 1008)
      if (code !== undefined) {
        this.connections.delete(open)
        open.peer.close(code, "going away")
      }
    }
  }

  /** Checks the request, as the service does before it upgrades a connection. */
  check(url: URL): Refusal | undefined {
    if (this.refusal !== undefined && this.refusal.times-- > 0) {
      return { status: this.refusal.status, body: "" }
    }
    if (!url.pathname.endsWith("/xrpc/network.bsky.jetstream.subscribeEvents")) return bad("UnknownMethod", 404)
    for (const name of url.searchParams.keys()) {
      if (!["collections", "dids", "kinds", "cursor"].includes(name)) return bad(`Unknown parameter ${name}`)
    }
    const cursor = url.searchParams.get("cursor")
    if (cursor === null) return undefined
    if (!/^\d{1,17}$/.test(cursor)) return bad("InvalidCursor")
    const number = Number(cursor) - numberOffset(url)
    if (Number(cursor) >= FIRST_TIME) return undefined
    if (number > this.lastSeq) return bad("FutureCursor")
    return number < this.floor ? bad("CursorTooOld", 400, `the oldest is ${this.floor}`) : undefined
  }

  /** After `check`. */
  open(url: URL, peer: Peer, now: number): Connection {
    this.opened++
    const text = url.searchParams.get("cursor")
    const cursor = text === null ? undefined : Number(text)
    const collections = url.searchParams.getAll("collections")
    const open: Open = { peer, offset: numberOffset(url), collections, isSilent: now < this.silentUntil }
    const kept = this.log.filter(({ at }) => at >= this.trimmedBefore)
    if (cursor !== undefined && cursor >= FIRST_TIME && cursor < this.trimmedBefore * 1_000) {
      const payload = { $type: `${TYPE}#info`, name: "OutdatedCursor", message: "The cursor is too old" }
      peer.send(JSON.stringify({ $type: "message", payload }))
    }
    const backlog =
      cursor === undefined
        ? []
        : cursor >= FIRST_TIME
          ? // Segments are not split.
            kept.filter(({ at }) => at * 1_000 >= cursor - SEGMENT_MICROS)
          : kept.filter(({ seq }) => seq >= cursor - open.offset)
    for (const entry of backlog) this.send(open, entry)
    this.connections.add(open)
    return { left: () => void this.connections.delete(open) }
  }

  get connected(): number {
    return this.connections.size
  }

  /** The answer of the service for profiles. */
  profiles(actors: ReadonlyArray<string>): JsonObject {
    const byHandle = new Map([...this.handles].map(([did, handle]) => [handle, did]))
    const profiles = actors.flatMap((actor) => {
      const did = actor.startsWith("did:") ? actor : byHandle.get(actor)
      const handle = did === undefined ? undefined : this.handles.get(did)
      return handle === undefined ? [] : [{ did, handle }]
    })
    return { profiles }
  }

  /** The answer of the service for posts. */
  posts(uris: ReadonlyArray<string>): JsonObject {
    const posts = uris.flatMap((uri) => {
      const [did = "", , rkey] = uri.replace("at://", "").split("/")
      return this.postsOf(did).has(rkey) ? [{ uri }] : []
    })
    return { posts }
  }

  close(): void {
    for (const open of this.connections) open.peer.close(1001, "going away")
    this.connections.clear()
  }

  /** Those that the repository still has, by their keys. */
  private postsOf(did: string): ReadonlyMap<unknown, JsonObject> {
    const posts = new Map<unknown, JsonObject>()
    for (const { payload } of this.log) {
      if (payload["did"] !== did) continue
      if (payload["operation"] === "create") posts.set(payload["rkey"], payload)
      else if (payload["operation"] === "delete") posts.delete(payload["rkey"])
      else if (objectOf(payload["account"])?.["active"] === false) posts.clear()
    }
    return posts
  }

  private get floor(): number {
    return this.log.find(({ at }) => at >= this.trimmedBefore)?.seq ?? this.lastSeq
  }

  private add(kind: string, payload: JsonObject, now: number): void {
    // Other collections use up numbers, too.
    this.lastSeq += 1 + (this.lastSeq % 3)
    const entry: Entry = { seq: this.lastSeq, at: now, kind, payload }
    this.log.push(entry)
    const times = this.duplicates > 0 ? 2 : 1
    if (this.duplicates > 0) this.duplicates--
    for (const open of this.connections) for (let sent = 0; sent < times; sent++) this.send(open, entry)
  }

  private send(open: Open, { seq, at, kind, payload }: Entry): void {
    if (open.isSilent) return
    const collection = textOf(payload["collection"])
    if (collection !== undefined && open.collections.length > 0 && !open.collections.includes(collection)) return
    const time = new Date(at).toISOString().replace("Z", "123Z")
    const frame = { $type: `${TYPE}#${kind}`, seq: seq + open.offset, time, ...payload }
    open.peer.send(JSON.stringify({ $type: "message", payload: frame }))
  }
}

// ---- helpers ----

interface Entry {
  readonly seq: number
  /** In milliseconds. */
  readonly at: number
  readonly kind: string
  readonly payload: JsonObject
}

interface Open {
  readonly peer: Peer
  readonly offset: number
  readonly collections: ReadonlyArray<string>
  isSilent: boolean
}

const POSTS = "app.bsky.feed.post"

const TYPE = "network.bsky.jetstream.subscribeEvents"

/** Smaller cursors are numbers of events, others times in microseconds. */
const FIRST_TIME = 1e15

const SEGMENT_MICROS = 5_000_000

/** Every host counts for itself: the host 127.0.0.2 is another one than 127.0.0.1. */
const numberOffset = ({ hostname }: URL): number => (/west|127\.0\.0\.2/.test(hostname) ? 5_000_000 : 0)

const bad = (error: string, status = 400, message = error): Refusal => ({
  status,
  body: JSON.stringify({ error, message })
})
