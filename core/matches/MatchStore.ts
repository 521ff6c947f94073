/** The port to where matches are kept, and a layer of it in memory. */
import { Clock, Context, Effect, Layer, Option, PubSub, Stream } from "effect"
import { type StreamProgress, StreamStore } from "../coverage/StreamStore.ts"
import type { MatchesUnstorable, StorageUnavailable } from "../model/Errors.ts"
import { type AccountId, firstMatchAt, type MatchId, matchesAfter, type RuleId, timeOf } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import type { Match } from "./Match.ts"

/** Which matches somebody asks for. */
export interface Wanted {
  readonly account: AccountId
  readonly rule: Option.Option<RuleId>
  readonly platforms: ReadonlyArray<PlatformId>
}

export interface MatchPage extends Wanted {
  /** Only matches older than this one. */
  readonly before: Option.Option<MatchId>
  readonly limit: number
}

/** The other way round: what came after a match. */
export interface NextPage extends Wanted {
  readonly after: Option.Option<MatchId>
  readonly limit: number
}

/** A match, and who may see it. */
export interface OwnedMatch {
  readonly account: AccountId
  readonly match: Match
}

/** Which of the oldest matches are to go. */
export interface Trim {
  /** Only those before this one. */
  readonly before: MatchId
  /** Only as many as there are beyond this number. */
  readonly keep: Option.Option<number>
  readonly atMost: number
}

export class MatchStore extends Context.Tag("core/MatchStore")<
  MatchStore,
  {
    /**
     * Stores the matches, all or none, and answers how many were new. A match that is there already (same rule,
     * platform and post) and a match of a rule that is gone are passed over. `progress` is stored with them, in the
     * same step: a cursor never runs ahead of what is durable.
     *
     * The ids of matches are in the order in which they become visible, whoever stores them: who has seen one has seen,
     * or can still read, all before it. Where ids come too late for that, because another process has stored newer ones
     * or a clock was set back, the matches are given the next ones instead.
     */
    readonly insert: (
      matches: ReadonlyArray<Match>,
      progress?: StreamProgress
    ) => Effect.Effect<number, StorageUnavailable | MatchesUnstorable>
    /** Newest first, down to the floor. Costs the same at any depth. */
    readonly list: (page: MatchPage) => Effect.Effect<ReadonlyArray<Match>, StorageUnavailable>
    /** Oldest first, from above the floor. Costs the same at any depth. */
    readonly next: (page: NextPage) => Effect.Effect<ReadonlyArray<Match>, StorageUnavailable>
    /** The same for many accounts at once, with whose they are. Reads past the matches of all others. */
    readonly nextOf: (page: {
      readonly accounts: ReadonlyArray<AccountId>
      readonly after: Option.Option<MatchId>
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<OwnedMatch>, StorageUnavailable>
    /** Where the order of matches has got to: every match that becomes visible later has a larger id. */
    readonly newest: Effect.Effect<Option.Option<MatchId>, StorageUnavailable>
    /**
     * A place in that order behind all matches that are visible and before all that are not yet. No match has this id: who
     * is told of it learns nothing of the matches of others.
     */
    readonly mark: Effect.Effect<MatchId, StorageUnavailable>
    /** Says that there may be new matches, of this process or of another. It can fail to: look from time to time. */
    readonly changes: Stream.Stream<void>
    /** The match with the smallest id, of any account. */
    readonly oldest: Effect.Effect<Option.Option<MatchId>, StorageUnavailable>
    /**
     * Deletes matches, the oldest first, and moves the floor up to the last of them in the same step; answers how many.
     * None while another process is at it. Costs the same for any number of matches.
     */
    readonly trim: (trim: Trim) => Effect.Effect<number, StorageUnavailable>
    /** The newest match that `trim` has deleted: it and all before it are gone for good. Never moves back. */
    readonly floor: Effect.Effect<Option.Option<MatchId>, StorageUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<MatchStore, never, RuleStore | StreamStore> = Layer.effect(
    MatchStore,
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const streams = yield* StreamStore
      const byKey = new Map<string, Match>()
      const news = yield* PubSub.sliding<void>(1)
      let newestFirst: ReadonlyArray<Match> = []
      let floor = Option.none<MatchId>()
      let newest = Option.none<MatchId>()

      const isThere = (id: RuleId) => Effect.map(rules.registrations(id), (found) => found.length > 0)

      const insert = (matches: ReadonlyArray<Match>, progress?: StreamProgress) =>
        Effect.gen(function* () {
          let added = 0
          for (const match of inTurn(matches, newest)) {
            if (!Option.exists(newest, (id) => id > match.id)) newest = Option.some(match.id)
            const key = JSON.stringify([match.rule_id, match.platform, match.platform_post_id])
            if (byKey.has(key) || !(yield* isThere(match.rule_id))) continue
            byKey.set(key, match)
            added++
          }
          if (progress !== undefined) yield* streams.save(progress)
          newestFirst = [...byKey.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
          if (added > 0) yield* PubSub.publish(news, undefined)
          return added
        })

      const ownedRules = ({ account, rule }: Pick<Wanted, "account" | "rule">) =>
        Option.isSome(rule)
          ? Effect.map(rules.exists(account, rule.value), (exists) => new Set(exists ? [rule.value] : []))
          : Effect.map(rules.list(account), (all) => new Set(all.map(({ id }) => id)))

      const isKept = ({ id }: Match) => !Option.exists(floor, (floor) => id <= floor)

      const visibleTo = (wanted: Pick<Wanted, "account" | "rule">) =>
        Effect.map(ownedRules(wanted), (owned) =>
          newestFirst.filter((match) => owned.has(match.rule_id) && isKept(match))
        )

      const wantedOf = (wanted: Wanted) =>
        Effect.map(visibleTo(wanted), (visible) =>
          visible.filter(({ platform }) => wanted.platforms.includes(platform))
        )

      const list = (page: MatchPage) =>
        Effect.map(wantedOf(page), (visible) =>
          visible.filter(({ id }) => !Option.exists(page.before, (before) => id >= before)).slice(0, page.limit)
        )

      const isAfter = (after: Option.Option<MatchId>) => (match: Match) => !Option.exists(after, (id) => match.id <= id)

      const next = (page: NextPage) =>
        Effect.map(wantedOf(page), (visible) => visible.toReversed().filter(isAfter(page.after)).slice(0, page.limit))

      const nextOf: MatchStore["Type"]["nextOf"] = ({ accounts, after, limit }) =>
        Effect.map(
          Effect.forEach(accounts, (account) =>
            Effect.map(visibleTo({ account, rule: Option.none() }), (visible) =>
              visible.filter(isAfter(after)).map((match) => ({ account, match }))
            )
          ),
          (found) =>
            found
              .flat()
              .sort((a, b) => (a.match.id < b.match.id ? -1 : 1))
              .slice(0, limit)
        )

      // Those of a rule that was removed are gone already.
      const oldestFirst = Effect.suspend(() =>
        Effect.filter(newestFirst.toReversed(), (match) => isThere(match.rule_id))
      )

      const oldest = Effect.map(oldestFirst, (stored) => Option.fromNullable(stored[0]?.id))

      const oneAtATime = yield* Effect.makeSemaphore(1)
      const trim = ({ before, keep, atMost }: Trim) =>
        Effect.map(oldestFirst, (stored) => {
          const beyond = Math.max(0, stored.length - Option.getOrElse(keep, () => 0))
          const doomed = stored.slice(0, Math.min(atMost, beyond)).filter(({ id }) => id < before)
          const gone = new Set(doomed)
          for (const [key, match] of byKey) if (gone.has(match)) byKey.delete(key)
          newestFirst = newestFirst.filter((match) => !gone.has(match))
          const last = doomed.at(-1)?.id
          if (last !== undefined && !Option.exists(floor, (reached) => reached > last)) floor = Option.some(last)
          return doomed.length
        }).pipe(oneAtATime.withPermits(1))

      return MatchStore.of({
        insert,
        list,
        next,
        nextOf,
        newest: Effect.sync(() => newest),
        mark: Effect.map(Clock.currentTimeMillis, (now) => {
          const mark = markAt(now, newest)
          newest = Option.some(mark)
          return mark
        }),
        changes: Stream.fromPubSub(news),
        oldest,
        trim,
        floor: Effect.sync(() => floor)
      })
    })
  )
}

/** No match is given an id like this one: they are random. */
export const markAt = (now: number, newest: Option.Option<MatchId>): MatchId => {
  const mark = firstMatchAt(now)
  return Option.match(newest, {
    onNone: () => mark,
    onSome: (id) => (id < mark ? mark : firstMatchAt(timeOf(id) + 1))
  })
}

/** The matches with ids after `newest`: their own where they are, else the next ones. */
export const inTurn = (matches: ReadonlyArray<Match>, newest: Option.Option<MatchId>): ReadonlyArray<Match> => {
  if (Option.isNone(newest) || matches.every(({ id }) => id > newest.value)) return matches
  const ids = matchesAfter(newest.value, matches.length)
  return matches.map((match, i) => ({ ...match, id: ids[i] ?? match.id }))
}
