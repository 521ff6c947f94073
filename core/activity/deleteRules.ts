/** The use case that deletes several rules, or shows what would go. */
import { Array as Arr, Effect, Option, Schema } from "effect"
import { answering, CurrentClaim } from "../idempotency/Idempotency.ts"
import { Matches } from "../matches/Matches.ts"
import type { RuleNotFound, StoreUnavailable } from "../model/Errors.ts"
import { type AccountId, RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import type { Rule } from "../rules/Rule.ts"
import { Rules } from "../rules/Rules.ts"
import { yieldIfTurnIsLong } from "../work/turns.ts"

const MAX_RULES = 100

export const DeleteRulesRequest = Schema.Struct({
  rule_ids: Schema.Array(Schema.String)
    .pipe(
      Schema.filter(
        (ids) =>
          (ids.length > 0 && ids.length <= MAX_RULES) || `Expected 1 to ${MAX_RULES} ids of rules, got ${ids.length}`,
        { jsonSchema: { minItems: 1, maxItems: MAX_RULES } }
      )
    )
    .annotations({ description: "The rules to delete" }),
  preview: optional(Schema.Boolean, "true: deletes nothing, and returns what would be deleted")
})
export type DeleteRulesRequest = typeof DeleteRulesRequest.Type

export const DeletedRules = Schema.Struct({
  deleted: Schema.Boolean.annotations({ description: "false for a preview" }),
  rules: Schema.Array(
    Schema.Struct({
      rule_id: RuleId,
      name: Schema.String,
      matches: Schema.Number.annotations({
        jsonSchema: { type: "integer", minimum: 0 },
        description: "The number of its stored matches, which go with it"
      })
    })
  ).annotations({ description: "The rules that were deleted, or would be" }),
  not_found: Schema.Array(Schema.String).annotations({
    description: "The ids that no rule has: wrong, or deleted already"
  })
})
export type DeletedRules = typeof DeletedRules.Type

/** One rule after the other. If it fails, those before are deleted, and a repeated call deletes the rest. */
export const deleteRules = (
  account: AccountId,
  { rule_ids, preview = false }: DeleteRulesRequest
): Effect.Effect<DeletedRules, StoreUnavailable, Rules | Matches> =>
  Effect.gen(function* () {
    const { get, delete: remove } = yield* Rules
    const found: Array<Rule> = []
    const not_found: Array<string> = []
    for (const id of new Set(rule_ids)) {
      const rule = yield* orNone(get(account, id))
      if (Option.isSome(rule)) found.push(rule.value)
      else not_found.push(id)
      yield* yieldIfTurnIsLong
    }
    const totals = yield* totalsOf(found.map(({ id }) => id))
    const rules = found.map(({ id, name }) => ({ rule_id: id, name, matches: totals.get(id) ?? 0 }))
    const answer = { deleted: !preview, rules, not_found }
    if (preview) return answer
    const last = found.at(-1)
    for (const { id } of found.slice(0, -1)) {
      // The last removal decides.
      yield* Effect.provideService(orNone(remove(account, id)), CurrentClaim, Option.none())
    }
    return last === undefined ? answer : yield* orNone(remove(account, last.id)).pipe(answering(() => answer))
  })

// ---- helpers ----

/** None if there is no such rule. */
const orNone = <A, R>(
  effect: Effect.Effect<A, RuleNotFound | StoreUnavailable, R>
): Effect.Effect<Option.Option<A>, StoreUnavailable, R> =>
  effect.pipe(
    Effect.asSome,
    Effect.catchTag("RuleNotFound", () => Effect.succeedNone)
  )

/** One statement would take long if the rules have matches in very many hours. */
const RULES_PER_STATEMENT = 10

const totalsOf = (ids: ReadonlyArray<RuleId>) =>
  Effect.gen(function* () {
    const { totals } = yield* Matches
    const all = new Map<RuleId, number>()
    for (const some of Arr.chunksOf(ids, RULES_PER_STATEMENT)) {
      for (const [id, matches] of yield* totals(some)) all.set(id, matches)
      yield* yieldIfTurnIsLong
    }
    return all
  })
