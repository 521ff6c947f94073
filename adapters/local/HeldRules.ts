/** The rules of a platform whose events are matched in this process. */
import { Effect, Either, Option } from "effect"
import { NamedRules } from "../../core/engine/NamedRules.ts"
import type { Language } from "../../core/languages/Language.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { PlatformRefused } from "../../core/model/Errors.ts"
import type { Inventory, MatchingCost, Platform, Registered, RuleRefusal } from "../../core/platforms/Platform.ts"
import type { ValidRule } from "../../core/syntax/expression/checked.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { coarseFields } from "../../core/syntax/expression/FieldNames.ts"
import { yieldIfTurnIsLong } from "../../core/work/turns.ts"
import type { Matching } from "./OwnRules.ts"

export interface HeldRules extends Pick<Platform, "verify"> {
  readonly check: (text: string) => Either.Either<ValidRule, PlatformRefused>
  readonly register: (
    texts: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Registered, RuleRefusal>>>
  readonly unregister: (platformRuleIds: ReadonlyArray<string>) => Effect.Effect<void>
  readonly drainCosts: Effect.Effect<ReadonlyArray<MatchingCost>>
  /** Texts by platform rule id. */
  readonly texts: ReadonlyMap<string, string>
  readonly rules: NamedRules
  /** Derived from the text: the same text has the same id, also after a restart. */
  readonly idOf: (text: string) => string
  readonly emptyRules: (largeCapacity: boolean) => NamedRules
  readonly parse: (platformRuleId: string) => Expression | undefined
  /** Like `parse`, for a rule that the engine left undecided. */
  readonly expressionOf: (platformRuleId: string) => Expression | undefined
  readonly inventory: Effect.Effect<Inventory>
  /** Matches an event that all accounts share, and charges it. */
  readonly match: Matching
}

export const heldRules = (language: Language): Effect.Effect<HeldRules, never, Entropy> =>
  Effect.map(Entropy, ({ sha256, bytes }) => {
    const { id } = language
    const emptyRules = (largeCapacity: boolean) =>
      new NamedRules({
        // Random: authors of rules and posts cannot provoke hash collisions.
        seed: bytes(4).reduce((seed, byte) => (seed << 8) | byte, 0),
        largeCapacity,
        coarseFields: coarseFields(language.fieldNames)
      })
    const idOf = (text: string) => sha256(`${id}\n${text}`).slice(0, 32)
    const rules = emptyRules(true)
    const texts = new Map<string, string>()
    /** The rules that the engine has left undecided at least once. */
    const expensive = new Map<string, Expression>()

    const parse = (platformRuleId: string): Expression | undefined => {
      const text = texts.get(platformRuleId)
      return text === undefined ? undefined : language.check(text, { fixes: "none" }).rule?.expression
    }

    const expressionOf = (platformRuleId: string): Expression | undefined => {
      const expression = expensive.get(platformRuleId) ?? parse(platformRuleId)
      if (expression !== undefined) expensive.set(platformRuleId, expression)
      return expression
    }

    const check = (text: string): Either.Either<ValidRule, PlatformRefused> => {
      const { rule, issues } = language.check(text, { fixes: "none" })
      if (rule !== undefined) return Either.right(rule)
      const reason = issues[0]?.message ?? "the filter is not valid"
      return Either.left(new PlatformRefused({ platform: id, reason, upstream: issues }))
    }

    const register = (text: string) =>
      Effect.gen(function* () {
        const rule = check(text)
        if (Either.isLeft(rule)) return Either.left(rule.left)
        const platformRuleId = idOf(text)
        if (!rules.has(platformRuleId)) {
          const { unindexed } = rules.stats
          rules.set(platformRuleId, rule.right.expression)
          texts.set(platformRuleId, text)
          const { stats } = rules
          if (stats.unindexed > unindexed) {
            yield* Effect.logInfo(
              `A filter on "${id}" has no indexable term and is evaluated for every event: ${stats.unindexed} of ${stats.rules} different filters are unindexed`
            )
          }
        }
        return Either.right({ platformRuleId, translatedValue: text })
      })

    return {
      texts,
      rules,
      idOf,
      emptyRules,
      parse,
      expressionOf,
      check,
      verify: (text) => Effect.succeed(Either.map(check(text), () => "unasked" as const)),
      // Checking a long filter takes milliseconds, and a restart registers all of them.
      register: (texts) => Effect.forEach(texts, (text) => Effect.zipRight(yieldIfTurnIsLong, register(text))),
      unregister: (platformRuleIds) =>
        Effect.sync(() => {
          for (const platformRuleId of platformRuleIds) {
            rules.delete(platformRuleId)
            texts.delete(platformRuleId)
            expensive.delete(platformRuleId)
          }
        }),
      inventory: Effect.sync(() => ({
        rules: [...texts].map(([platformRuleId, translatedValue]) => ({
          platformRuleId,
          translatedValue,
          isOurs: true
        })),
        ruleLimit: Option.none(),
        usage: Option.none()
      })),
      drainCosts: Effect.sync(() =>
        rules
          .drainCosts()
          .map(({ name, seconds }): MatchingCost => ({ platformRuleId: name, text: texts.get(name) ?? "", seconds }))
      ),
      match: (event) => rules.matchInTurns(event, expressionOf, { isCharged: true })
    }
  })
