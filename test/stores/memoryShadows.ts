/** `ShadowStore` in memory. */
import { Effect, Layer, Option, Record } from "effect"
import type { Match } from "../../core/matches/Match.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import type { RuleId } from "../../core/model/Ids.ts"
import type { Rule } from "../../core/rules/Rule.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { type ComparedPair, type Pair, type ShadowMatch, ShadowStore } from "../../core/shadows/ShadowStore.ts"

export const memoryShadows: Layer.Layer<ShadowStore, never, MatchStore | RuleStore> = Layer.effect(
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
        ({ rule_id, created_at, platform }) => rule_id === shadow && created_at >= since && platforms.includes(platform)
      )

    const matchesOf = ({ account, rule, platforms }: Pair) =>
      matches.list({
        account,
        rules: Option.some([rule]),
        platforms,
        before: Option.none(),
        limit: Number.MAX_SAFE_INTEGER
      })

    const compare = (pair: ComparedPair, samples: number) =>
      Effect.gen(function* () {
        const { since, fromVersion } = pair
        const { items } = yield* matchesOf(pair)
        const earlier = new Set(items.filter(({ rule_version }) => rule_version < fromVersion).map(keyOf))
        const isLeftOut = (match: Parameters<typeof keyOf>[0]) => earlier.has(keyOf(match))
        const present = items.filter(
          (match) => match.created_at >= since && match.reapplied !== true && !isLeftOut(match)
        )
        const candidate = ofPair(pair)
          .filter((match) => !isLeftOut(match))
          .toReversed()
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

    const handOver = (pair: Pair) =>
      Effect.map(matchesOf(pair), ({ items }) => {
        const known = new Set([...items, ...waitingFor(pair.rule)].map(keyOf))
        const moved = new Set(ofPair(pair).filter((match) => !known.has(keyOf(match))))
        stored = stored.map((match) => (moved.has(match) ? { ...match, rule_id: pair.rule } : match))
        return moved.size
      })

    const waitingFor = (rule: RuleId) => stored.filter(({ rule_id }) => rule_id === rule)

    const waitingRules = Effect.gen(function* () {
      const found: Array<Pick<Rule, "id" | "version">> = []
      for (const id of new Set(stored.map(({ rule_id }) => rule_id))) {
        const [registration] = yield* rules.registrations(id)
        if (registration === undefined) continue
        const rule = yield* rules.find(registration.accountId, id)
        if (Option.isSome(rule)) found.push(rule.value)
      }
      return found
    })

    return ShadowStore.of({
      insert,
      compare,
      handOver,
      waitingRules,
      waiting: (rule, limit) => Effect.sync(() => waitingFor(rule).slice(0, limit)),
      settle: (rule, settled) =>
        Effect.sync(() => {
          const keys = new Set(settled.map(keyOf))
          stored = stored.filter((match) => match.rule_id !== rule || !keys.has(keyOf(match)))
        }),
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

// ---- helpers ----

const keyOf = ({ platform, platform_post_id }: Pick<Match, "platform" | "platform_post_id">) =>
  `${platform} ${platform_post_id}`
