/** Finds where filters match long texts: a summary then shows the text around that place. */
import { Array as Arr, Effect } from "effect"
import { rules } from "../../api/rules.ts"
import type { Language } from "../../core/languages/Language.ts"
import { placeInSummary } from "../../core/languages/placeInSummary.ts"
import type { Match } from "../../core/matches/Match.ts"
import type { Rule } from "../../core/rules/Rule.ts"
import type { CheckResult } from "../../core/rules/RuleCheck.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { inTurns, TurnBudget } from "../../core/work/turns.ts"
import { decoder } from "../decode.ts"
import type { Call } from "./calls.ts"

/** The offset of the first place in the text of the summary, by event. */
export type Excerpts = ReadonlyMap<unknown, number>

export interface ExcerptFinder {
  /** Asks for the rules of the matches if a text is long. */
  readonly ofMatches: <R>(call: Call<R>, matches: ReadonlyArray<Match>) => Effect.Effect<Excerpts, never, R>
  readonly ofChecks: (result: CheckResult) => Effect.Effect<Excerpts>
}

export const excerptFinder = (languages: ReadonlyArray<Language>): ExcerptFinder => {
  const byId = new Map(languages.map((language) => [language.id, language]))
  const isLong = (platform: string, event: unknown) =>
    (byId.get(platform)?.events.summaryOf(event).text ?? "").length > SHORT_CHARACTERS

  const find = Effect.fnUntraced(function* (items: ReadonlyArray<Item>) {
    const budget = new TurnBudget(MAX_TURNS)
    const found = new Map<unknown, number>()
    const expressions = new Map<string, Expression | undefined>()
    for (const { platform, filter, event } of items) {
      const language = byId.get(platform)
      const key = `${platform} ${filter}`
      if (!expressions.has(key)) expressions.set(key, language?.check(filter, { fixes: "none" }).rule?.expression)
      const expression = expressions.get(key)
      if (language === undefined || expression === undefined) continue
      const place = yield* inTurns(budget.run(placeInSummary({ language, expression }, event)))
      if (place !== undefined) found.set(event, place)
    }
    return found
  })

  return {
    ofMatches: Effect.fnUntraced(function* (call, matches) {
      const long = matches.filter(({ platform, payload }) => isLong(platform, payload.value))
      const ids = [...new Set(long.map(({ rule_id }) => rule_id))]
      const rules = new Map((yield* rulesOf(call, ids)).map((rule) => [rule.id, rule]))
      return yield* find(
        long.flatMap(({ rule_id, platform, payload }) => {
          // A later version of the rule may not match the event: then nothing is found.
          const filter = rules.get(rule_id)?.platforms[platform]?.translated_value
          return filter === undefined ? [] : [{ platform, filter, event: payload.value }]
        })
      )
    }),
    ofChecks: ({ platforms }) =>
      find(
        Object.entries(platforms).flatMap(([platform, checked]) =>
          (checked?.backtest?.samples ?? [])
            .filter((sample) => isLong(platform, sample))
            .map((event) => ({ platform, filter: checked?.canonical ?? "", event }))
        )
      )
  }
}

// ---- helpers ----

interface Item {
  readonly platform: string
  readonly filter: string
  readonly event: unknown
}

/** Always shown whole. */
const SHORT_CHARACTERS = 80

/** For all texts of a result together: less than a second. */
const MAX_TURNS = 2_000

/** Of one result. The texts that matched other rules are shown from their start. */
const MAX_RULES = 10

/** Without those that cannot be read: a rule may have been deleted. */
const rulesOf = <R>(call: Call<R>, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Rule>, never, R> =>
  Effect.map(
    Effect.forEach(ids.slice(0, MAX_RULES), (rule_id) =>
      Effect.option(call({ contract: rules.get, decode: decoder(rules.get.input) }, { rule_id }))
    ),
    (found) => Arr.getSomes(found).map(({ rule }) => rule)
  )
