/** Storage port for matches, with an in-memory layer. */
import { Clock, Context, Effect, Layer, Option, PubSub, Stream } from "effect"
import { type StreamProgress, StreamStore } from "../coverage/StreamStore.ts"
import type { MatchesUnstorable, StoreUnavailable } from "../model/Errors.ts"
import { type AccountId, firstMatchIdAt, type MatchId, matchIdsAfter, type RuleId, timeOf } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import type { Match } from "./Match.ts"

export interface MatchSelector {
  readonly account: AccountId
  /** None: all rules of the account. */
  readonly rules: Option.Option<ReadonlyArray<RuleId>>
  readonly platforms: ReadonlyArray<PlatformId>
}

export interface MatchPage extends MatchSelector {
  readonly before: Option.Option<MatchId>
  readonly limit: number
}

export interface NextPage extends MatchSelector {
  readonly after: Option.Option<MatchId>
  readonly limit: number
}

export interface OwnedMatch {
  readonly account: AccountId
  readonly match: Match
  /** The size of the payload. */
  readonly bytes: number
}

/** A page has up to `limit` items. It ends early once its payloads reach `MAX_PAGE_BYTES`. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** The last match may exceed it: a page has at least one match. Small: large pages would block other requests. */
export const MAX_PAGE_BYTES = 1_048_576

export interface Trim {
  /** Deletes only matches before this id. */
  readonly before: MatchId
  /** Keeps this many of the newest matches. */
  readonly keep: Option.Option<number>
  readonly atMost: number
}

/** Stored matches, and the bytes of their payloads as JSON. As a limit, 0 means none. */
export interface Usage {
  readonly matches: number
  readonly bytes: number
}

export interface AccountTrim {
  readonly account: AccountId
  readonly platforms: ReadonlyArray<PlatformId>
  /** Deletes only matches before this id. */
  readonly before: MatchId
  readonly limits: Usage
  readonly atMost: number
}

export class MatchStore extends Context.Tag("core/MatchStore")<
  MatchStore,
  {
    /**
     * Stores the matches and `progress` in one transaction and returns how many matches were new. Skips duplicates
     * (same rule, platform and post) and matches of deleted rules.
     *
     * Matches become visible in the order of their ids, across processes. If another process has stored newer ids, or
     * a clock was set back, the matches get the next free ids instead of their own.
     */
    readonly insert: (
      matches: ReadonlyArray<Match>,
      progress?: StreamProgress
    ) => Effect.Effect<number, StoreUnavailable | MatchesUnstorable>
    /** Newest first, down to the floor. The cost does not depend on the depth. */
    readonly list: (page: MatchPage) => Effect.Effect<Page<Match>, StoreUnavailable>
    /** Oldest first, above the floor. The cost does not depend on the depth. */
    readonly next: (page: NextPage) => Effect.Effect<Page<Match>, StoreUnavailable>
    /** Like `next` for many accounts. Skips the matches of other accounts. */
    readonly nextForAccounts: (page: {
      readonly accounts: ReadonlyArray<AccountId>
      readonly after: Option.Option<MatchId>
      readonly limit: number
    }) => Effect.Effect<Page<OwnedMatch>, StoreUnavailable>
    /** Every match that becomes visible later has a larger id. */
    readonly newest: Effect.Effect<Option.Option<MatchId>, StoreUnavailable>
    /**
     * Above every visible match and below every later one. No match has this id, so it reveals nothing about other
     * accounts.
     */
    readonly watermark: Effect.Effect<MatchId, StoreUnavailable>
    /** Emits when any process may have stored matches. Notifications can be lost: also poll. */
    readonly changes: Stream.Stream<void>
    /** Across all accounts. */
    readonly oldest: Effect.Effect<Option.Option<MatchId>, StoreUnavailable>
    /**
     * Deletes the oldest matches and raises the floor in one transaction. Returns how many it deleted: 0 while another
     * process trims. The cost does not depend on the number of stored matches.
     */
    readonly trim: (trim: Trim) => Effect.Effect<number, StoreUnavailable>
    /** Like `trim`, but deletes only matches of one account, and only while it exceeds its limits. */
    readonly trimAccount: (trim: AccountTrim) => Effect.Effect<number, StoreUnavailable>
    /** The newest match that `trim` deleted, or `trimAccount` for this account. It never decreases. */
    readonly floor: (account: AccountId) => Effect.Effect<Option.Option<MatchId>, StoreUnavailable>
    readonly usage: (account: AccountId) => Effect.Effect<Usage, StoreUnavailable>
    /** Of all accounts with matches. */
    readonly usages: Effect.Effect<ReadonlyMap<AccountId, Usage>, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<MatchStore, never, RuleStore | StreamStore> = Layer.effect(
    MatchStore,
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const streams = yield* StreamStore
      const byKey = new Map<string, Match>()
      const sizes = new WeakMap<Match, number>()
      const bytesOf = (match: Match) => sizes.get(match) ?? 0
      const usageOf = (stored: ReadonlyArray<Match>): Usage => ({
        matches: stored.length,
        bytes: stored.reduce((bytes, match) => bytes + bytesOf(match), 0)
      })
      const changes = yield* PubSub.sliding<void>(1)
      let newestFirst: ReadonlyArray<Match> = []
      let floor = Option.none<MatchId>()
      const accountFloors = new Map<AccountId, MatchId>()
      let newest = Option.none<MatchId>()

      const ownerOf = (id: RuleId) =>
        Effect.map(rules.registrations(id), (found) => Option.fromNullable(found[0]?.accountId))
      const ruleExists = (id: RuleId) => Effect.map(ownerOf(id), Option.isSome)

      const insert = (matches: ReadonlyArray<Match>, progress?: StreamProgress) =>
        Effect.gen(function* () {
          let added = 0
          for (const match of withIdsAfter(matches, newest)) {
            if (!Option.exists(newest, (id) => id > match.id)) newest = Option.some(match.id)
            const key = JSON.stringify([match.rule_id, match.platform, match.platform_post_id])
            if (byKey.has(key) || !(yield* ruleExists(match.rule_id))) continue
            byKey.set(key, match)
            sizes.set(match, new TextEncoder().encode(JSON.stringify(match.payload)).length)
            added++
          }
          if (progress !== undefined) yield* streams.save(progress)
          newestFirst = [...byKey.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
          if (added > 0) yield* PubSub.publish(changes, undefined)
          return added
        })

      const ownedRules = (selector: Pick<MatchSelector, "account" | "rules">) =>
        Effect.map(rules.list(selector.account), (all) => {
          const owned = all.map(({ id }) => id)
          return new Set(owned.filter((id) => Option.getOrElse(selector.rules, () => owned).includes(id)))
        })

      const floorOf = (account: AccountId) =>
        [...Option.toArray(floor), ...Option.toArray(Option.fromNullable(accountFloors.get(account)))].sort().at(-1)

      const visibleTo = (selector: Pick<MatchSelector, "account" | "rules">) =>
        Effect.map(ownedRules(selector), (owned) => {
          const floor = floorOf(selector.account) ?? ""
          return newestFirst.filter((match) => owned.has(match.rule_id) && match.id > floor)
        })

      const selected = (selector: MatchSelector) =>
        Effect.map(visibleTo(selector), (visible) =>
          visible.filter(({ platform }) => selector.platforms.includes(platform))
        )

      const list = (page: MatchPage) =>
        Effect.map(selected(page), (visible) =>
          firstPage(
            visible.filter(({ id }) => !Option.exists(page.before, (before) => id >= before)),
            page.limit,
            bytesOf
          )
        )

      const isAfter = (after: Option.Option<MatchId>) => (match: Match) => !Option.exists(after, (id) => match.id <= id)

      const next = (page: NextPage) =>
        Effect.map(selected(page), (visible) =>
          firstPage(visible.toReversed().filter(isAfter(page.after)), page.limit, bytesOf)
        )

      const nextForAccounts: MatchStore["Type"]["nextForAccounts"] = ({ accounts, after, limit }) =>
        Effect.map(
          Effect.forEach(accounts, (account) =>
            Effect.map(visibleTo({ account, rules: Option.none() }), (visible) =>
              visible.filter(isAfter(after)).map((match) => ({ account, match, bytes: bytesOf(match) }))
            )
          ),
          (found) =>
            firstPage(
              found.flat().sort((a, b) => (a.match.id < b.match.id ? -1 : 1)),
              limit,
              ({ bytes }) => bytes
            )
        )

      // Deleting a rule deletes its matches.
      const oldestFirst = Effect.suspend(() =>
        Effect.filter(newestFirst.toReversed(), (match) => ruleExists(match.rule_id))
      )

      const oldest = Effect.map(oldestFirst, (stored) => Option.fromNullable(stored[0]?.id))

      /** Returns the id of the last one. */
      const remove = (oldestFirst: ReadonlyArray<Match>) => {
        const removed = new Set(oldestFirst)
        for (const [key, match] of byKey) if (removed.has(match)) byKey.delete(key)
        newestFirst = newestFirst.filter((match) => !removed.has(match))
        return oldestFirst.at(-1)?.id
      }

      const trimLock = yield* Effect.makeSemaphore(1)
      const trim = ({ before, keep, atMost }: Trim) =>
        Effect.map(oldestFirst, (stored) => {
          const excess = Math.max(0, stored.length - Option.getOrElse(keep, () => 0))
          const deleted = stored.slice(0, Math.min(atMost, excess)).filter(({ id }) => id < before)
          const last = remove(deleted)
          if (last !== undefined && !Option.exists(floor, (current) => current > last)) floor = Option.some(last)
          return deleted.length
        }).pipe(trimLock.withPermits(1))

      const oldestFirstOf = (account: AccountId) =>
        Effect.flatMap(oldestFirst, (stored) =>
          Effect.filter(stored, ({ rule_id }) => Effect.map(ownerOf(rule_id), Option.contains(account)))
        )

      const usage = (account: AccountId) => Effect.map(oldestFirstOf(account), usageOf)

      const usages = Effect.gen(function* () {
        const accounts = new Set<AccountId>()
        for (const { rule_id } of yield* oldestFirst) {
          for (const account of Option.toArray(yield* ownerOf(rule_id))) accounts.add(account)
        }
        const found = yield* Effect.forEach(accounts, (account) =>
          Effect.map(usage(account), (used) => [account, used] as const)
        )
        return new Map(found)
      })

      const trimAccount = ({ account, platforms, before, limits, atMost }: AccountTrim) =>
        Effect.map(oldestFirstOf(account), (stored) => {
          let { matches, bytes } = usageOf(stored)
          const deleted: Array<Match> = []
          for (const match of stored.filter(({ platform, id }) => platforms.includes(platform) && id < before)) {
            if (!isOver({ matches, bytes }, limits) || deleted.length === atMost) break
            deleted.push(match)
            matches--
            bytes -= bytesOf(match)
          }
          const last = remove(deleted)
          if (last !== undefined) accountFloors.set(account, last)
          return deleted.length
        }).pipe(trimLock.withPermits(1))

      return MatchStore.of({
        insert,
        list,
        next,
        nextForAccounts,
        newest: Effect.sync(() => newest),
        watermark: Effect.map(Clock.currentTimeMillis, (now) => {
          const watermark = watermarkAt(now, newest)
          newest = Option.some(watermark)
          return watermark
        }),
        changes: Stream.fromPubSub(changes),
        oldest,
        trim,
        trimAccount,
        floor: (account) => Effect.sync(() => Option.fromNullable(floorOf(account))),
        usage,
        usages
      })
    })
  )
}

export const isOver = (used: Usage, limits: Usage): boolean =>
  (limits.matches > 0 && used.matches > limits.matches) || (limits.bytes > 0 && used.bytes > limits.bytes)

/** Cannot collide with the id of a match: those are random. */
export const watermarkAt = (now: number, newest: Option.Option<MatchId>): MatchId => {
  const first = firstMatchIdAt(now)
  return Option.match(newest, {
    onNone: () => first,
    onSome: (id) => (id < first ? first : firstMatchIdAt(timeOf(id) + 1))
  })
}

/** Assigns new ids unless all ids are already greater than `newest`. */
export const withIdsAfter = (matches: ReadonlyArray<Match>, newest: Option.Option<MatchId>): ReadonlyArray<Match> => {
  if (Option.isNone(newest) || matches.every(({ id }) => id > newest.value)) return matches
  const ids = matchIdsAfter(newest.value, matches.length)
  return matches.map((match, i) => ({ ...match, id: ids[i] ?? match.id }))
}

// ---- helpers ----

const firstPage = <A>(all: ReadonlyArray<A>, limit: number, bytesOf: (item: A) => number): Page<A> => {
  let end = 0
  for (let bytes = 0; end < Math.min(limit, all.length) && bytes < MAX_PAGE_BYTES; end++) {
    bytes += bytesOf(all[end] as A)
  }
  return { items: all.slice(0, end), hasMore: end < all.length }
}
