/** Storage port for what the shadows of rules matched, with an in-memory layer. */
import { Context, Effect, Layer, Option, Record } from "effect"
import type { Match } from "../matches/Match.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import { RuleStore } from "../rules/RuleStore.ts"

/** `rule_id` is the shadow. */
export type ShadowMatch = Pick<Match, "rule_id" | "created_at" | "platform" | "platform_post_id" | "payload">

/** A rule with its shadow. */
export interface Pair {
  readonly account: AccountId
  readonly rule: RuleId
  readonly shadow: RuleId
  /** The platforms of the shadow. */
  readonly platforms: ReadonlyArray<PlatformId>
  readonly since: Timestamp
}

/** Which of the two matched an event. */
export type Side = "present_only" | "candidate_only" | "both"
export const SIDES = ["present_only", "candidate_only", "both"] as const

export interface Compared {
  readonly counts: Readonly<Record<Side, number>>
  /** The newest events of each side. */
  readonly samples: Readonly<Record<Side, ReadonlyArray<Pick<Match, "platform" | "platform_post_id" | "payload">>>>
}

export class ShadowStore extends Context.Tag("core/ShadowStore")<
  ShadowStore,
  {
    /** Skips those that are stored already, and those of deleted shadows. */
    readonly insert: (matches: ReadonlyArray<ShadowMatch>) => Effect.Effect<void, StoreUnavailable>
    readonly compare: (pair: Pair, samples: number) => Effect.Effect<Compared, StoreUnavailable>
    /** Oldest first, after the first `skip`. */
    readonly page: (
      pair: Pair,
      page: { readonly skip: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<ShadowMatch>, StoreUnavailable>
    /** Deletes what is older, and the oldest of each shadow beyond `keep`: the comparison then begins later. */
    readonly trim: (options: {
      readonly before: Timestamp
      readonly keep: number
    }) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<ShadowStore, never, MatchStore | RuleStore> = Layer.effect(
    ShadowStore,
    Effect.gen(function* () {
      const matches = yield* MatchStore
      const rules = yield* RuleStore
      let stored: ReadonlyArray<ShadowMatch> = []

      const insert = (added: ReadonlyArray<ShadowMatch>) =>
        Effect.gen(function* () {
          for (const match of added) {
            if ((yield* rules.registrations(match.rule_id)).length === 0) continue
            const isSame = (other: ShadowMatch) => other.rule_id === match.rule_id && keyOf(other) === keyOf(match)
            if (!stored.some(isSame)) stored = [...stored, match]
          }
        })

      const ofPair = ({ shadow, since, platforms }: Pair) =>
        stored.filter(
          ({ rule_id, created_at, platform }) =>
            rule_id === shadow && created_at >= since && platforms.includes(platform)
        )

      const compare = (pair: Pair, samples: number) =>
        Effect.gen(function* () {
          const { account, rule, platforms, since } = pair
          const page = yield* matches.list({
            account,
            rules: Option.some([rule]),
            platforms,
            before: Option.none(),
            limit: Number.MAX_SAFE_INTEGER
          })
          const present = page.items.filter(({ created_at, reapplied }) => created_at >= since && reapplied !== true)
          const candidate = ofPair(pair).toReversed()
          const presentKeys = new Set(present.map(keyOf))
          const candidateKeys = new Set(candidate.map(keyOf))
          const found = {
            present_only: present.filter((match) => !candidateKeys.has(keyOf(match))),
            candidate_only: candidate.filter((match) => !presentKeys.has(keyOf(match))),
            both: present.filter((match) => candidateKeys.has(keyOf(match)))
          }
          return {
            counts: Record.map(found, ({ length }) => length),
            samples: Record.map(found, (all) => all.slice(0, samples))
          }
        })

      return ShadowStore.of({
        insert,
        compare,
        page: (pair, { skip, limit }) => Effect.sync(() => ofPair(pair).slice(skip, skip + limit)),
        trim: ({ before, keep }) =>
          Effect.sync(() => {
            const kept = new Map<RuleId, number>()
            stored = stored
              .toReversed()
              .filter(({ rule_id, created_at }) => {
                kept.set(rule_id, (kept.get(rule_id) ?? 0) + 1)
                return created_at >= before && (kept.get(rule_id) ?? 0) <= keep
              })
              .toReversed()
          })
      })
    })
  )
}

// ---- helpers ----

const keyOf = ({ platform, platform_post_id }: Pick<Match, "platform" | "platform_post_id">) =>
  `${platform} ${platform_post_id}`
