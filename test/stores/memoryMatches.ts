/** `MatchStore` in memory. */
import { Clock, Effect, Layer, Option, PubSub, Stream } from "effect"
import { type StreamProgress, StreamStore } from "../../core/coverage/StreamStore.ts"
import { endOf, UNIT_MILLIS } from "../../core/matches/Bars.ts"
import { redactionIds, watermarkAt, withIdsAfter } from "../../core/matches/idOrder.ts"
import { type Match, withoutPayload } from "../../core/matches/Match.ts"
import {
  type AccountTrim,
  type BarCount,
  type Change,
  type CountQuery,
  isOver,
  MAX_PAGE_BYTES,
  type MatchPage,
  type MatchSelector,
  MatchStore,
  type NextPage,
  type Page,
  type Redact,
  type Trim,
  type Usage
} from "../../core/matches/MatchStore.ts"
import type { AccountId, MatchId, RuleId } from "../../core/model/Ids.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"

export const memoryMatches: Layer.Layer<MatchStore, never, RuleStore | StreamStore> = Layer.effect(
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
      sizes.set(match, new TextEncoder().encode(match.payload.text).length)
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

    const recentCounts: MatchStore["Type"]["recentCounts"] = ({ rules, platforms, now }) =>
      Effect.sync(() => {
        const minuteOf = (at: number) => Math.floor(at / UNIT_MILLIS.minute)
        return rules.flatMap((rule) => {
          const minutes = newestFirst
            .filter(({ rule_id, platform }) => rule_id === rule && platforms.includes(platform))
            .map(({ created_at }) => minuteOf(Date.parse(created_at)))
          if (minutes.length === 0) return []
          const since = (length: number) => minutes.filter((minute) => minute >= minuteOf(now) - length).length
          return [{ rule, last: Math.max(...minutes) * UNIT_MILLIS.minute, hour: since(60), day: since(24 * 60) }]
        })
      })

    const totals = (rules: ReadonlyArray<RuleId>) =>
      Effect.sync(
        () =>
          new Map(
            rules.flatMap((rule) => {
              const count = newestFirst.filter(({ rule_id }) => rule_id === rule).length
              return count === 0 ? [] : [[rule, count] as const]
            })
          )
      )

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
      recentCounts,
      totals,
      floor: (account) => Effect.sync(() => Option.fromNullable(floorOf(account))),
      usage,
      usages
    })
  })
)

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
