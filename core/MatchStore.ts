/** The port to where matches are kept, and a layer of it in memory. */
import { Context, Effect, Layer, Option } from "effect"
import type { MatchesUnstorable, StorageUnavailable } from "./Errors.ts"
import type { AccountId, MatchId, RuleId } from "./Ids.ts"
import type { Match } from "./Match.ts"
import type { PlatformId } from "./PlatformId.ts"
import { RuleStore } from "./RuleStore.ts"
import { type StreamProgress, StreamStore } from "./StreamStore.ts"

export interface MatchPage {
  readonly account: AccountId
  readonly rule: Option.Option<RuleId>
  readonly platforms: ReadonlyArray<PlatformId>
  /** Only matches older than this one. */
  readonly before: Option.Option<MatchId>
  readonly limit: number
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
     */
    readonly insert: (
      matches: ReadonlyArray<Match>,
      progress?: StreamProgress
    ) => Effect.Effect<number, StorageUnavailable | MatchesUnstorable>
    /** Newest first, down to the floor. Costs the same at any depth. */
    readonly list: (page: MatchPage) => Effect.Effect<ReadonlyArray<Match>, StorageUnavailable>
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
      let newestFirst: ReadonlyArray<Match> = []
      let floor = Option.none<MatchId>()

      const isThere = (id: RuleId) => Effect.map(rules.registrations(id), (found) => found.length > 0)

      const insert = (matches: ReadonlyArray<Match>, progress?: StreamProgress) =>
        Effect.gen(function* () {
          let added = 0
          for (const match of matches) {
            const key = JSON.stringify([match.rule_id, match.platform, match.platform_post_id])
            if (byKey.has(key) || !(yield* isThere(match.rule_id))) continue
            byKey.set(key, match)
            added++
          }
          if (progress !== undefined) yield* streams.save(progress)
          newestFirst = [...byKey.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
          return added
        })

      const ownedRules = ({ account, rule }: MatchPage) =>
        Option.isSome(rule)
          ? Effect.map(rules.exists(account, rule.value), (exists) => new Set(exists ? [rule.value] : []))
          : Effect.map(rules.list(account), (all) => new Set(all.map(({ id }) => id)))

      const list = (page: MatchPage) =>
        Effect.gen(function* () {
          const owned = yield* ownedRules(page)
          const found: Array<Match> = []
          for (const match of newestFirst) {
            if (found.length === page.limit) break
            const wanted =
              owned.has(match.rule_id) &&
              page.platforms.includes(match.platform) &&
              !Option.exists(floor, (floor) => match.id <= floor) &&
              Option.match(page.before, { onNone: () => true, onSome: (before) => match.id < before })
            if (wanted) found.push(match)
          }
          return found
        })

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

      return MatchStore.of({ insert, list, oldest, trim, floor: Effect.sync(() => floor) })
    })
  )
}
