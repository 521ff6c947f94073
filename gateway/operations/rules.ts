/** Handles the operations on rules. */
import { Effect, Option } from "effect"
import type { rules } from "../../api/rules.ts"
import { deleteRules } from "../../core/activity/deleteRules.ts"
import { getRule, listRules } from "../../core/activity/ruleActivity.ts"
import { compareFilter } from "../../core/comparison/compareFilter.ts"
import { Explanations } from "../../core/explanations/Explanations.ts"
import { answering } from "../../core/idempotency/Idempotency.ts"
import { Reapply } from "../../core/reapply/Reapply.ts"
import { checkFilters } from "../../core/rules/RuleCheck.ts"
import { type ChangedRule, type CreatedRule, Rules } from "../../core/rules/Rules.ts"
import { Shadows } from "../../core/shadows/Shadows.ts"
import type { Handlers } from "./Handlers.ts"

export const ruleHandlers: Handlers<typeof rules> = {
  create: (account, draft) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.create(account, draft).pipe(answering(toCreated))
    }),

  list: listRules,

  delete: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.delete(account, rule_id).pipe(answering((id) => ({ rule_id: id })))
    }),

  deleteSeveral: deleteRules,

  get: (account, request) => Effect.map(getRule(account, request), (rule) => ({ rule })),

  update: (account, { rule_id, ...patch }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.update(account, rule_id, patch).pipe(answering(toChanged))
    }),

  pause: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.pause(account, rule_id).pipe(answering((rule) => ({ rule })))
    }),

  resume: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.resume(account, rule_id).pipe(answering(toChanged))
    }),

  versions: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return { versions: yield* rules.versions(account, rule_id) }
    }),

  reapply: (account, request) => Effect.flatMap(Reapply, ({ run }) => run(account, request)),

  shadow: (account, { rule_id, overrides }) =>
    Effect.gen(function* () {
      const shadows = yield* Shadows
      return yield* shadows.start(account, rule_id, overrides).pipe(answering(toChanged))
    }),

  compare: (account, request) => Effect.flatMap(Shadows, ({ compare }) => compare(account, request)),

  compareFilter,

  promote: (account, { rule_id, since }) =>
    Effect.flatMap(Shadows, ({ promote }) => promote(account, rule_id, Option.fromNullable(since))),

  dropShadow: (account, { rule_id }) =>
    Effect.gen(function* () {
      const shadows = yield* Shadows
      return yield* shadows.drop(account, rule_id).pipe(answering((rule) => ({ rule })))
    }),

  check: checkFilters,

  hits: (account, request) => Effect.flatMap(Explanations, ({ hits }) => hits(account, request))
}

// ---- helpers ----

const toCreated = ({ id, platforms, warnings }: CreatedRule) => ({
  rule_id: id,
  platforms: Object.fromEntries(
    [...platforms].map(([platform, { platformRuleId, translatedValue }]) => {
      const issues = warnings.get(platform) ?? []
      return [
        platform,
        {
          platform_rule_id: platformRuleId,
          translated_value: translatedValue,
          ...(issues.length > 0 && { warnings: issues })
        }
      ]
    })
  )
})

/** Without empty warnings. */
const toChanged = ({ rule, warnings }: ChangedRule) => {
  const found = [...warnings].filter(([, issues]) => issues.length > 0)
  return { rule, ...(found.length > 0 && { warnings: Object.fromEntries(found) }) }
}
