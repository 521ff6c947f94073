/** What is known of one feed between two polls: which items it has shown, when it is due, and what failed. */
import { Array as Arr } from "effect"
import type { FeedRecord } from "../../core/feeds/FeedStore.ts"
import { fromMillis, type Timestamp } from "../../core/model/Timestamp.ts"
import { MAX_URL_LENGTH } from "../../core/model/webUrl.ts"
import { jsonOf, objectOf } from "../../core/text/json.ts"
import type { FeedItem } from "./parse.ts"
import type { KeyedFeed } from "./parser.ts"

/** Times in milliseconds. */
export interface FeedState {
  readonly url: string
  /** Where it has moved to for good. */
  readonly movedTo?: string
  /** A permanent redirect that was seen in the last polls, and how often in a row. */
  readonly moving?: { readonly to: string; readonly polls: number }
  readonly etag?: string
  readonly modified?: string
  readonly title?: string
  /** The last poll. */
  readonly askedAt?: number
  /** The last poll that succeeded, and did not show an older document. */
  readonly readAt?: number
  readonly nextAt: number
  /** Until then the server asks to wait. */
  readonly notBefore?: number
  /** The last poll that showed no item of the poll before. */
  readonly missedAt?: number
  readonly intervalMillis: number
  /** In a row. */
  readonly errors: number
  readonly error?: string
  /** 410: it is not asked again. */
  readonly isGone?: true
  /** Hashes of the ids, and of the addresses with titles, of the newest items, separated by spaces. */
  readonly ids: string
  readonly links: string
}

export const newFeed = (url: string, now: number): FeedState => ({
  url,
  nextAt: now,
  intervalMillis: DEFAULT_INTERVAL,
  errors: 0,
  ids: "",
  links: ""
})

/** As the store has it. */
export const recordOf = ({ askedAt, readAt, nextAt, missedAt, ...state }: FeedState): FeedRecord => {
  const { url, title = null, error = null, isGone = false, ...memory } = state
  return {
    url,
    title,
    askedAt: timeOf(askedAt),
    readAt: timeOf(readAt),
    nextAt: fromMillis(nextAt),
    missedAt: timeOf(missedAt),
    error,
    isGone,
    memory: JSON.stringify(memory)
  }
}

export const stateOf = ({
  url,
  title,
  askedAt,
  readAt,
  nextAt,
  missedAt,
  error,
  isGone,
  memory
}: FeedRecord): FeedState => ({
  ...newFeed(url, 0),
  // Written by `recordOf`.
  ...(objectOf(jsonOf(memory)) as Partial<FeedState> | undefined),
  nextAt: Date.parse(nextAt),
  ...(title !== null && { title }),
  ...(askedAt !== null && { askedAt: Date.parse(askedAt) }),
  ...(readAt !== null && { readAt: Date.parse(readAt) }),
  ...(missedAt !== null && { missedAt: Date.parse(missedAt) }),
  ...(error !== null && { error }),
  ...(isGone && { isGone })
})

/** Another account reads it, too: it is asked again as soon as its server allows. */
export const askedSooner = ({ isGone: _, ...state }: FeedState, now: number): FeedState => ({
  ...state,
  nextAt: Math.min(state.nextAt, Math.max(now, mayBeAskedAt(state)))
})

/** Nobody reads it any more: only when it may be asked again is kept. */
export const withoutMemory = ({ url, askedAt, notBefore, nextAt }: FeedState): FeedState => ({
  ...newFeed(url, nextAt),
  ...(askedAt !== undefined && { askedAt }),
  ...(notBefore !== undefined && { notBefore })
})

/** The earliest time at which it may be asked again. */
const mayBeAskedAt = ({ askedAt, notBefore = 0 }: FeedState): number =>
  askedAt === undefined ? 0 : Math.max(askedAt + MIN_INTERVAL, notBefore)

export interface Polled {
  readonly state: FeedState
  readonly fresh: ReadonlyArray<FeedItem>
  /** No item of the poll before is left: others may have come and gone in between. */
  readonly isJump: boolean
}

/** After a document. `minMillis`: what the server asks to wait. */
export const afterDocument = (
  state: FeedState,
  feed: KeyedFeed,
  { now, minMillis }: { readonly now: number; readonly minMillis: number }
): Polled => {
  const known = new Set(state.ids.split(" "))
  const knownLinks = new Set(state.links.split(" "))
  const hashed = Arr.zipWith(feed.items, feed.keys, (item, key) => ({ item, ...key }))
  const isFirst = state.readAt === undefined
  const unknown = hashed.filter(({ id }) => !known.has(id))
  const isAllNew = !isFirst && state.ids !== "" && hashed.length > 0 && unknown.length === hashed.length
  // The publisher wrote the ids anew: the items whose links are known are the same.
  const isRewritten = isAllNew && hashed.filter(({ link }) => knownLinks.has(link)).length * 2 >= hashed.length
  const isNew = ({ link }: { readonly link: string }) => !(isAllNew && knownLinks.has(link))
  const fresh = isFirst ? [] : unknown.filter(isNew).map(({ item }) => item)
  const [newest = ""] = state.ids.split(" ")
  // An older document, such as from a cache: it does not show that nothing came since the last poll.
  const isOlder = newest !== "" && unknown.length === 0 && !hashed.some(({ id }) => id === newest)
  const share = hashed.length === 0 ? 0 : unknown.length / hashed.length
  const step = isFirst ? 1 : share >= BUSY_SHARE ? 0.5 : unknown.length > 0 ? 0.8 : 1.25
  const intervalMillis = clamp(state.intervalMillis * step, MIN_INTERVAL, MAX_IDLE_INTERVAL)
  return {
    state: {
      ...answered(state, now, minMillis),
      ...(feed.title !== undefined && { title: feed.title.slice(0, MAX_TITLE).toWellFormed() }),
      ...(isAllNew && !isRewritten && { missedAt: now }),
      ...(isOlder
        ? { readAt: state.readAt ?? now }
        : {
            ids: kept(
              hashed.map(({ id }) => id),
              state.ids
            ),
            links: kept(
              hashed.map(({ link }) => link),
              state.links
            )
          }),
      intervalMillis,
      nextAt: now + withJitter(clamp(Math.max(intervalMillis, minMillis), MIN_INTERVAL, MAX_INTERVAL), state.url)
    },
    fresh,
    isJump: isAllNew && !isRewritten
  }
}

/** After 304, or after the same document. */
export const afterNothingNew = (state: FeedState, now: number, minMillis: number): FeedState => {
  const intervalMillis = clamp(state.intervalMillis * 1.25, MIN_INTERVAL, MAX_IDLE_INTERVAL)
  const wait = clamp(Math.max(intervalMillis, minMillis), MIN_INTERVAL, MAX_INTERVAL)
  return { ...answered(state, now, minMillis), intervalMillis, nextAt: now + withJitter(wait, state.url) }
}

export const afterFailure = (
  state: FeedState,
  {
    now,
    reason,
    minMillis,
    isGone
  }: { readonly now: number; readonly reason: string; readonly minMillis: number; readonly isGone: boolean }
): FeedState => {
  const errors = state.errors + 1
  const wait = clamp(Math.max(MIN_INTERVAL * 2 ** Math.min(errors - 1, 9), minMillis), MIN_INTERVAL, MAX_INTERVAL)
  return {
    ...asked(state, now, minMillis),
    errors,
    error: reason.slice(0, MAX_REASON).toWellFormed(),
    nextAt: now + withJitter(wait, state.url),
    ...(isGone && { isGone: true as const })
  }
}

/** A permanent redirect counts after several polls: some servers send one by mistake. */
export const afterRedirect = (state: FeedState, to: string | undefined): FeedState => {
  const { moving, ...rest } = state
  if (to === undefined || to === state.movedTo || to.length > MAX_URL_LENGTH) return rest
  const polls = moving?.to === to ? moving.polls + 1 : 1
  return polls >= POLLS_UNTIL_MOVED ? { ...rest, movedTo: to } : { ...rest, moving: { to, polls } }
}

// ---- helpers ----

const timeOf = (millis: number | undefined): Timestamp | null => (millis === undefined ? null : fromMillis(millis))

const asked = ({ notBefore: _, ...state }: FeedState, now: number, minMillis: number): FeedState => ({
  ...state,
  askedAt: now,
  ...(minMillis > 0 && { notBefore: now + Math.min(minMillis, MAX_INTERVAL) })
})

const answered = ({ error: _, ...state }: FeedState, now: number, minMillis: number): FeedState => ({
  ...asked(state, now, minMillis),
  readAt: now,
  errors: 0
})

const MINUTE = 60_000
const DEFAULT_INTERVAL = 15 * MINUTE
export const MIN_INTERVAL = 5 * MINUTE
const MAX_IDLE_INTERVAL = 60 * MINUTE
export const MAX_INTERVAL = 24 * 60 * MINUTE

/** So much of the window is new: the next poll must come soon. */
const BUSY_SHARE = 0.8

const POLLS_UNTIL_MOVED = 3

/** In characters. */
const MAX_TITLE = 300
const MAX_REASON = 500

/** A feed shows some ten items. Those that are gone from it may come back. */
const MAX_KNOWN = 400

const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value))

const kept = (current: ReadonlyArray<string>, before: string): string => {
  const all = new Set([...current, ...before.split(" ")])
  all.delete("")
  return [...all].slice(0, Math.max(MAX_KNOWN, current.length)).join(" ")
}

/** Up to a tenth later, by the address: feeds that were added together spread out. */
const withJitter = (millis: number, url: string): number => {
  let sum = 0
  for (const character of url) sum = (sum * 31 + character.charCodeAt(0)) % 1_000
  return Math.round(millis * (1 + sum / 10_000))
}
