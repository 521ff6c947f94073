/** Counts the posts of our own rules on X, in one query. */
import { Effect, Option } from "effect"
import type { Period, Platform, RecentCount } from "../../core/platforms/Platform.ts"
import type { KnownRules } from "../http/KnownRules.ts"

export interface CountedPosts {
  /** By minute. */
  readonly parts: RecentCount["parts"]
  /** The rules that the count is for. */
  readonly ruleIds: ReadonlySet<string>
  /** Not all rules fitted into the query. */
  readonly isPartial: boolean
}

/** The posts that X counts in a period. None if X does not say. */
export type CountPosts = (period: Period) => Effect.Effect<Option.Option<CountedPosts>>

/** For as many rules as fit into one query: a post that meets two of them counts once. */
export const makeCountPosts =
  (known: KnownRules, countRecent: NonNullable<Platform["countRecent"]>): CountPosts =>
  (period) =>
    Effect.gen(function* () {
      const ruleIds = new Set<string>()
      let query = ""
      let isPartial = false
      for (const [id, text] of known.all) {
        const longer = query === "" ? `(${text})` : `${query} OR (${text})`
        if (longer.length > MAX_QUERY_LENGTH) {
          isPartial = true
          continue
        }
        query = longer
        ruleIds.add(id)
      }
      if (query === "") return Option.none()
      const counted = yield* Effect.option(countRecent(query, period))
      // With operators left out, X counts more posts than the stream sends.
      const isUsable = ({ without, total }: { readonly without: ReadonlyArray<string>; readonly total: number }) =>
        without.length === 0 || total === 0
      return Option.map(Option.filter(counted, isUsable), ({ parts }) => ({ parts, ruleIds, isPartial }))
    })

// ---- helpers ----

/** X's limit on the plans below Pro. */
const MAX_QUERY_LENGTH = 512
