/** Storage port for matches, with an in-memory layer. */
import { Clock, Context, Effect, Layer, Option, PubSub, Stream } from "effect"
import { type StreamProgress, StreamStore } from "../coverage/StreamStore.ts"
import type { MatchesUnstorable, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, MatchId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { type Bars, endOf, UNIT_MILLIS } from "./Bars.ts"
import { redactionIds, watermarkAt, withIdsAfter } from "./idOrder.ts"
import { type Match, type Redacted, type RedactedMatch, withoutPayload } from "./Match.ts"

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

/** A new match, or the redaction of an earlier one. Both have ids in one order; a redaction has an id of its own. */
export type Change =
  | { readonly _tag: "Matched"; readonly id: MatchId; readonly match: Match }
  | { readonly _tag: "Redacted"; readonly id: MatchId; readonly match: RedactedMatch }

export interface OwnedChange {
  readonly account: AccountId
  readonly change: Change
  /** The size of the payload. */
  readonly bytes: number
}

export interface Redact {
  readonly platform: PlatformId
  readonly postIds: ReadonlyArray<string>
  readonly redacted: Redacted
  readonly atMost: number
}

/** A page has up to `limit` items. It ends before its payloads exceed `MAX_PAGE_BYTES`. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly hasMore: boolean
  /** The size of all payloads. */
  readonly bytes: number
}

/** Only the first match may exceed it: a page has at least one match. Small: large pages would block other requests. */
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

export interface CountQuery extends MatchSelector {
  readonly bars: Bars
  /** Otherwise the counts of all rules are added up. */
  readonly isPerRule: boolean
}

/** The number of matches in a bar that has any. `start` is in milliseconds. */
export interface BarCount {
  readonly rule?: RuleId
  readonly platform: PlatformId
  readonly start: number
  readonly matches: number
}

export class MatchStore extends Context.Tag("core/MatchStore")<
  MatchStore,
  {
    /**
     * Stores the matches and `progress` in one transaction and returns how many matches were new. Large matches take
     * several transactions, the last one with `progress`. Skips duplicates (same rule, platform and post) and matches of
     * deleted rules.
     *
     * Matches become visible in the order of their ids, across processes. If another process has stored newer ids, or
     * a clock was set back, the matches get the next free ids instead of their own.
     */
    readonly insert: (
      matches: ReadonlyArray<Match>,
      progress?: StreamProgress
    ) => Effect.Effect<number, StoreUnavailable | MatchesUnstorable>
    /**
     * Like `insert`, while the batch before is being stored: nothing becomes visible before that batch is stored. None
     * if the batch did not come in time: nothing was stored.
     */
    readonly insertNext: (
      matches: ReadonlyArray<Match>,
      progress: StreamProgress
    ) => Effect.Effect<Option.Option<number>, StoreUnavailable | MatchesUnstorable>
    /** Newest first, down to the floor. The cost does not depend on the depth. */
    readonly list: (page: MatchPage) => Effect.Effect<Page<Match>, StoreUnavailable>
    /** Matches and redactions, oldest first, above the floor. The cost does not depend on the depth. */
    readonly next: (page: NextPage) => Effect.Effect<Page<Change>, StoreUnavailable>
    /** Like `next` for many accounts. Skips those of other accounts. */
    readonly nextForAccounts: (page: {
      readonly accounts: ReadonlyArray<AccountId>
      readonly after: Option.Option<MatchId>
      readonly limit: number
    }) => Effect.Effect<Page<OwnedChange>, StoreUnavailable>
    /** Every match and redaction that becomes visible later has a larger id. */
    readonly newest: Effect.Effect<Option.Option<MatchId>, StoreUnavailable>
    /**
     * Above every visible match and below every later one. No match has this id, so it reveals nothing about other
     * accounts.
     */
    readonly watermark: Effect.Effect<MatchId, StoreUnavailable>
    /** Emits when any process may have stored or redacted matches. Notifications can be lost: also poll. */
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
    /**
     * Removes the payloads of the posts' matches, of all accounts, and their dead letters. Returns how many matches it
     * redacted: fewer than `atMost` once none is left. Idempotent: a match is redacted once. The cost does not depend
     * on the number of stored matches.
     */
    readonly redact: (redact: Redact) => Effect.Effect<number, StoreUnavailable>
    /**
     * Reads the next `limit` matches of all accounts and platforms up to `upTo`, oldest first. Returns the posts of one
     * platform among them that are not redacted, and the last id read: none at the end.
     */
    readonly posts: (page: {
      readonly platform: PlatformId
      readonly after: Option.Option<MatchId>
      readonly upTo: MatchId
      readonly limit: number
    }) => Effect.Effect<
      { readonly postIds: ReadonlyArray<string>; readonly last: Option.Option<MatchId> },
      StoreUnavailable
    >
    /**
     * Counts the stored matches by the time at which they were created, redacted ones too. The cost depends on the
     * number of rules and hours, not on the number of stored matches.
     */
    readonly counts: (query: CountQuery) => Effect.Effect<ReadonlyArray<BarCount>, StoreUnavailable>
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
      /** Oldest first. */
      let redactions: ReadonlyArray<Extract<Change, { _tag: "Redacted" }>> = []
      let floor = Option.none<MatchId>()
      const accountFloors = new Map<AccountId, MatchId>()
      let newest = Option.none<MatchId>()

      const ownerOf = (id: RuleId) =>
        Effect.map(rules.registrations(id), (found) => Option.fromNullable(found[0]?.accountId))
      const ruleExists = (id: RuleId) => Effect.map(ownerOf(id), Option.isSome)

      const put = (match: Match) => {
        byKey.set(keyOf(match), match)
        sizes.set(match, new TextEncoder().encode(JSON.stringify(match.payload)).length)
      }

      const insert = (matches: ReadonlyArray<Match>, progress?: StreamProgress) =>
        Effect.gen(function* () {
          let added = 0
          for (const match of withIdsAfter(matches, newest)) {
            if (!Option.exists(newest, (id) => id > match.id)) newest = Option.some(match.id)
            if (byKey.has(keyOf(match)) || !(yield* ruleExists(match.rule_id))) continue
            put(match)
            added++
          }
          if (progress !== undefined) yield* streams.save(progress)
          newestFirst = [...byKey.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
          if (added > 0) yield* PubSub.publish(changes, undefined)
          return added
        })

      const insertNext = (matches: ReadonlyArray<Match>, progress: StreamProgress) =>
        Effect.gen(function* () {
          const last = Option.match(yield* streams.load(progress.platform), {
            onNone: () => 0,
            onSome: ({ batch }) => batch
          })
          return last < progress.batch - 1 ? Option.none() : Option.some(yield* insert(matches, progress))
        })

      const ownedRules = ({ account, rules: asked }: Pick<MatchSelector, "account" | "rules">) =>
        Effect.map(
          Effect.suspend(() =>
            Effect.filter(
              Option.getOrElse(asked, () => new Set([...byKey.values()].map(({ rule_id }) => rule_id))),
              (id) => rules.exists(account, id)
            )
          ),
          (owned) => new Set(owned)
        )

      const floorOf = (account: AccountId) =>
        [...Option.toArray(floor), ...Option.toArray(Option.fromNullable(accountFloors.get(account)))].sort().at(-1)

      const isVisibleTo = (selector: Pick<MatchSelector, "account" | "rules">) =>
        Effect.map(ownedRules(selector), (owned) => {
          const floor = floorOf(selector.account) ?? ""
          return (id: MatchId, match: Match) => owned.has(match.rule_id) && id > floor
        })

      const list = (page: MatchPage) =>
        Effect.map(isVisibleTo(page), (isVisible) =>
          firstPage(
            newestFirst.filter(
              (match) =>
                isVisible(match.id, match) &&
                page.platforms.includes(match.platform) &&
                !Option.exists(page.before, (before) => match.id >= before)
            ),
            page.limit,
            bytesOf
          )
        )

      const changesAfter = (selector: Pick<MatchSelector, "account" | "rules">, after: Option.Option<MatchId>) =>
        Effect.map(isVisibleTo(selector), (isVisible) => {
          const matched = newestFirst.map((match): Change => ({ _tag: "Matched", id: match.id, match }))
          return [...matched, ...redactions]
            .filter(({ id, match }) => isVisible(id, match) && !Option.exists(after, (after) => id <= after))
            .sort((a, b) => (a.id < b.id ? -1 : 1))
        })

      const next = (page: NextPage) =>
        Effect.map(changesAfter(page, page.after), (changes) =>
          firstPage(
            changes.filter(({ match }) => page.platforms.includes(match.platform)),
            page.limit,
            ({ match }) => bytesOf(match)
          )
        )

      const nextForAccounts: MatchStore["Type"]["nextForAccounts"] = ({ accounts, after, limit }) =>
        Effect.map(
          Effect.forEach(accounts, (account) =>
            Effect.map(changesAfter({ account, rules: Option.none() }, after), (changes) =>
              changes.map((change) => ({ account, change, bytes: bytesOf(change.match) }))
            )
          ),
          (found) =>
            firstPage(
              found.flat().sort((a, b) => (a.change.id < b.change.id ? -1 : 1)),
              limit,
              ({ bytes }) => bytes
            )
        )

      const redact = ({ platform, postIds, redacted, atMost }: Redact) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const found = (yield* oldestFirst)
            .filter((match) => match.platform === platform && postIds.includes(match.platform_post_id))
            .filter((match) => match.redacted === undefined)
            .slice(0, atMost)
          if (found.length === 0) return 0
          const ids = redactionIds(now, newest, found.length)
          newest = Option.fromNullable(ids.at(-1))
          const redactedMatches = found.map((match) => withoutPayload(match, redacted))
          redactedMatches.forEach(put)
          redactions = [
            ...redactions,
            ...redactedMatches.map((match, i) => ({ _tag: "Redacted" as const, id: ids[i] ?? match.id, match }))
          ]
          newestFirst = newestFirst.map((match) => byKey.get(keyOf(match)) ?? match)
          yield* PubSub.publish(changes, undefined)
          return found.length
        })

      const posts: MatchStore["Type"]["posts"] = ({ platform, after, upTo, limit }) =>
        Effect.map(oldestFirst, (stored) => {
          const page = stored.filter(({ id }) => id <= upTo && !Option.exists(after, (after) => id <= after))
          const read = page.slice(0, limit)
          return {
            postIds: read.flatMap((match) =>
              match.platform === platform && match.redacted === undefined ? [match.platform_post_id] : []
            ),
            last: Option.fromNullable(read.at(-1)?.id)
          }
        })

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
          redactions = redactions.filter(({ id }) => !Option.exists(floor, (floor) => id <= floor))
          return deleted.length
        }).pipe(trimLock.withPermits(1))

      const oldestFirstOf = (account: AccountId) =>
        Effect.flatMap(oldestFirst, (stored) =>
          Effect.filter(stored, ({ rule_id }) => Effect.map(ownerOf(rule_id), Option.contains(account)))
        )

      const usage = (account: AccountId) => Effect.map(oldestFirstOf(account), usageOf)

      const counts = (query: CountQuery) =>
        Effect.map(isVisibleTo(query), (isVisible) => {
          const { unit, from } = query.bars
          const bars = new Map<string, BarCount>()
          for (const match of newestFirst) {
            const at = Date.parse(match.created_at)
            const isCounted = at >= from && at < endOf(query.bars) && query.platforms.includes(match.platform)
            if (!isCounted || !isVisible(match.id, match)) continue
            const bar = {
              ...(query.isPerRule && { rule: match.rule_id }),
              platform: match.platform,
              start: Math.floor(at / UNIT_MILLIS[unit]) * UNIT_MILLIS[unit]
            }
            const key = JSON.stringify(bar)
            bars.set(key, { ...bar, matches: (bars.get(key)?.matches ?? 0) + 1 })
          }
          return [...bars.values()]
        })

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
        insertNext,
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
        redact,
        posts,
        counts,
        floor: (account) => Effect.sync(() => Option.fromNullable(floorOf(account))),
        usage,
        usages
      })
    })
  )
}

export const isOver = (used: Usage, limits: Usage): boolean =>
  (limits.matches > 0 && used.matches > limits.matches) || (limits.bytes > 0 && used.bytes > limits.bytes)

// ---- helpers ----

const keyOf = ({ rule_id, platform, platform_post_id }: Match): string =>
  JSON.stringify([rule_id, platform, platform_post_id])

const firstPage = <A>(all: ReadonlyArray<A>, limit: number, bytesOf: (item: A) => number): Page<A> => {
  let end = 0
  let bytes = 0
  for (const item of all.slice(0, limit)) {
    const more = bytesOf(item)
    if (end > 0 && bytes + more > MAX_PAGE_BYTES) break
    bytes += more
    end++
  }
  return { items: all.slice(0, end), hasMore: end < all.length, bytes }
}
