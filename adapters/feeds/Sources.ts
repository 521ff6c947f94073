/** The feeds to read: those of the operator, for all accounts, and those that accounts have added; and which is next. */
import type { AddedFeed } from "../../core/feeds/FeedStore.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import { askedSooner, type FeedState, MIN_INTERVAL, newFeed, withoutMemory } from "./FeedState.ts"

export interface Source {
  state: FeedState
  /** It is one of the operator's: its items are for all accounts. */
  readonly isShared: boolean
  /** The accounts that have added it, each with the time, in milliseconds. */
  owners: ReadonlyMap<AccountId, number>
}

export class Sources {
  private readonly all = new Map<string, Source>()
  private readonly running = new Map<Source, { readonly host: string; readonly payer: AccountId | undefined }>()
  /** Of the running polls. */
  private readonly hosts = new Set<string>()
  private readonly runningOf = new Map<AccountId | undefined, number>()
  /** Polls of the present window of time for the accounts, and how many of them each may have. */
  private readonly polls = new Map<AccountId, number>()
  private allowed: ReadonlyMap<AccountId, number> = new Map()
  private windowEnd = 0

  /** `known`: from earlier. */
  constructor(shared: ReadonlyArray<string>, known: ReadonlyMap<string, FeedState>, now: number) {
    for (const url of shared) {
      this.all.set(url, { state: known.get(url) ?? newFeed(url, now), isShared: true, owners: new Map() })
    }
  }

  get shared(): ReadonlyArray<Source> {
    return [...this.all.values()].filter(({ isShared }) => isShared)
  }

  /** Those of accounts only. */
  get added(): ReadonlyArray<Source> {
    return [...this.all.values()].filter(({ isShared, owners }) => !isShared && owners.size > 0)
  }

  /** Whether anybody reads it. */
  has(url: string): boolean {
    const source = this.all.get(url)
    return source !== undefined && isRead(source)
  }

  /** Replaces the feeds of accounts. */
  setAdded(feeds: ReadonlyArray<AddedFeed>, known: ReadonlyMap<string, FeedState>, now: number): void {
    const owners = new Map<string, Map<AccountId, number>>()
    const allowed = new Map<AccountId, number>()
    for (const { url, account, addedAt } of feeds) {
      owners.set(url, (owners.get(url) ?? new Map()).set(account, Date.parse(addedAt)))
      allowed.set(account, (allowed.get(account) ?? SPARE_POLLS) + POLLS_PER_FEED)
    }
    this.allowed = allowed
    for (const [url, source] of this.all) source.owners = this.changed(source, owners.get(url) ?? NOBODY, now)
    for (const [url, of] of owners) {
      if (this.all.has(url)) continue
      this.all.set(url, { state: known.get(url) ?? newFeed(url, now), isShared: false, owners: of })
    }
  }

  /** The accounts that have a feed which is due. */
  waiting(now: number): ReadonlySet<AccountId> {
    const accounts = new Set<AccountId>()
    for (const source of this.all.values()) {
      if (source.isShared || source.state.isGone === true || source.state.nextAt > now) continue
      for (const account of source.owners.keys()) accounts.add(account)
    }
    return accounts
  }

  /** The feeds to poll now, at most one of each host. Call `done` for each. Accounts that are `refused` pay for none. */
  take(now: number, refused: ReadonlySet<AccountId>): ReadonlyArray<Source> {
    if (now >= this.windowEnd) {
      this.polls.clear()
      this.windowEnd = now + MIN_INTERVAL
    }
    const due: Array<Source> = []
    for (const [url, source] of this.all) {
      if (this.running.has(source)) continue
      if (!isRead(source)) {
        // Until then it is remembered: whoever adds it again does not have it polled at once.
        if ((source.state.askedAt ?? 0) + MIN_INTERVAL <= now) this.all.delete(url)
      } else if (source.state.isGone !== true && source.state.nextAt <= now) due.push(source)
    }
    const taken: Array<Source> = []
    for (const source of due.sort((a, b) => a.state.nextAt - b.state.nextAt)) {
      if (this.running.size >= 2 * MAX_AT_ONCE) break
      const payer = this.payerOf(source, refused)
      if (payer === "none") continue
      const { url, movedTo = url } = source.state
      const { host } = new URL(movedTo)
      if (this.hosts.has(host)) continue
      this.hosts.add(host)
      this.running.set(source, { host, payer })
      this.count(payer, 1)
      if (payer !== undefined) this.polls.set(payer, (this.polls.get(payer) ?? 0) + 1)
      taken.push(source)
    }
    return taken
  }

  done(source: Source): void {
    const run = this.running.get(source)
    if (run === undefined) return
    this.running.delete(source)
    this.hosts.delete(run.host)
    this.count(run.payer, -1)
  }

  /** When the next feed is due. Those that are due already wait for others to be done. */
  nextAt(now: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const source of this.all.values()) {
      const { nextAt, isGone } = source.state
      if (nextAt > now && nextAt < next && isGone !== true && isRead(source)) next = nextAt
    }
    return next
  }

  private changed(source: Source, owners: ReadonlyMap<AccountId, number>, now: number): Source["owners"] {
    if (source.isShared) return owners
    const isNew = [...owners].some(([account, at]) => source.owners.get(account) !== at)
    if (isNew) source.state = askedSooner(source.state, now)
    else if (owners.size === 0) source.state = withoutMemory(source.state)
    return owners
  }

  /** Whose share of the polls a poll takes: undefined for the operator's. */
  private payerOf({ isShared, owners }: Source, refused: ReadonlySet<AccountId>): AccountId | undefined | "none" {
    const shared = this.runningOf.get(undefined) ?? 0
    if (isShared) return shared < MAX_AT_ONCE ? undefined : "none"
    if (this.running.size - shared >= MAX_AT_ONCE) return "none"
    for (const account of owners.keys()) {
      const hasRoom = !refused.has(account) && (this.runningOf.get(account) ?? 0) < MAX_PER_ACCOUNT
      if (hasRoom && (this.polls.get(account) ?? 0) < (this.allowed.get(account) ?? 0)) return account
    }
    return "none"
  }

  private count(payer: AccountId | undefined, change: number): void {
    this.runningOf.set(payer, (this.runningOf.get(payer) ?? 0) + change)
    if (this.runningOf.get(payer) === 0) this.runningOf.delete(payer)
  }
}

/** Whether anybody reads it still. */
export const isRead = ({ isShared, owners }: Source): boolean => isShared || owners.size > 0

// ---- helpers ----

const NOBODY: ReadonlyMap<AccountId, number> = new Map()

/** Of the operator's feeds, and of those of accounts. */
const MAX_AT_ONCE = 8

const MAX_PER_ACCOUNT = 2

/** In `MIN_INTERVAL`: an account that removes feeds and adds others has no more polled. */
const POLLS_PER_FEED = 2
const SPARE_POLLS = 20
