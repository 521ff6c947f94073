/** The rule use cases: the only way in for HTTP, tRPC, MCP and the CLI. */
import { Array as Arr, Context, Effect, Layer, Option } from "effect"
import type { Language } from "../languages/Language.ts"
import {
  type ArgumentIssue,
  InvalidArgument,
  type PlatformNotConfigured,
  RuleNotFound,
  type StoreUnavailable
} from "../model/Errors.ts"
import { type AccountId, asRuleId, Ids, type RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { toWireTranslation } from "../model/wire.ts"
import { Platforms, type Registered } from "../platforms/Platform.ts"
import { rulesOn } from "../quotas/Limit.ts"
import { Quotas } from "../quotas/Quotas.ts"
import type { Issue } from "../syntax/issues/issue.ts"
import { isTarget, translate } from "../syntax/translation/translate.ts"
import { Pauses } from "./Pauses.ts"
import { type AddFailure, type Filter, Registrations } from "./Registrations.ts"
import type { Rule, RuleDraft } from "./Rule.ts"
import { type NewPause, RuleStore } from "./RuleStore.ts"

export interface CreatedRule {
  readonly id: RuleId
  /** The id is empty on a platform on which the rule is paused. */
  readonly platforms: ReadonlyMap<PlatformId, Registered>
  readonly warnings: ReadonlyMap<PlatformId, ReadonlyArray<Issue>>
}

export class Rules extends Context.Tag("core/Rules")<
  Rules,
  {
    /** All or nothing: checks every filter before it stores anything, and rolls back if a platform rejects one. */
    readonly create: (
      account: AccountId,
      draft: RuleDraft
    ) => Effect.Effect<CreatedRule, InvalidArgument | PlatformNotConfigured | AddFailure>
    /** Newest first. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<Rule>, StoreUnavailable>
    /** Deletes the rule and its matches. A malformed id and another account's id fail with `RuleNotFound` too. */
    readonly delete: (account: AccountId, id: string) => Effect.Effect<RuleId, RuleNotFound | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Rules, never, Registrations | RuleStore | Platforms | Ids | Quotas | Pauses> =
    Layer.effect(
      Rules,
      Effect.gen(function* () {
        const registrations = yield* Registrations
        const store = yield* RuleStore
        const platforms = yield* Platforms
        const ids = yield* Ids
        const quotas = yield* Quotas
        const { pauseFor } = yield* Pauses

        const limitsOf = (account: AccountId, filters: ReadonlyArray<Filter>) =>
          Effect.gen(function* () {
            const limits = new Map<PlatformId, number>()
            for (const { platform } of filters) {
              const limit = yield* quotas.limitOf(account, rulesOn(platform.id))
              if (limit > 0) limits.set(platform.id, limit)
            }
            return limits
          })

        const create = Effect.fn("Rules.create")(function* (account: AccountId, draft: RuleDraft) {
          const checked = yield* checkFilters(platforms, draft)
          const filters = yield* Effect.forEach(checked, (filter) =>
            Effect.map(pauseFor(filter.platform, filter.text), (paused) => ({
              ...filter,
              paused: Option.getOrUndefined(paused)
            }))
          )
          const id = yield* ids.rule
          const rule = {
            id,
            accountId: account,
            name: draft.name,
            intent: draft.intent,
            createdAt: yield* Timestamp.now,
            filters: filters.map(({ platform, text, paused }) => ({ platform: platform.id, text, paused }))
          }
          const registered = yield* registrations.add(rule, filters, yield* limitsOf(account, filters))
          return {
            id,
            platforms: new Map(
              filters.map(({ platform, text }) => [
                platform.id,
                registered.get(platform.id) ?? { platformRuleId: "", translatedValue: text }
              ])
            ),
            warnings: new Map(
              filters.map(({ platform, warnings, paused, sent }) => [
                platform.id,
                paused === undefined ? warnings : [...warnings, pauseWarning(paused, sent)]
              ])
            )
          }
        })

        const remove = Effect.fn("Rules.delete")(function* (account: AccountId, text: string) {
          const id = asRuleId(text)
          if (Option.isNone(id) || !(yield* registrations.remove(account, id.value))) {
            return yield* new RuleNotFound({ ruleId: text })
          }
          return id.value
        })

        return Rules.of({ create, list: store.list, delete: remove })
      })
    )
}

// ---- helpers ----

interface CheckedFilter extends Filter {
  readonly sent: string
  readonly warnings: ReadonlyArray<Issue>
}

/** Its span is the whole filter. */
const pauseWarning = (paused: NewPause, sent: string): Issue => ({
  severity: "warning",
  code: "paused",
  span: { start: 0, end: sent.length },
  message: `The rule is ${paused.reason}`
})

/** Each platform with its canonical filter. Fails with the issues of all filters at once. */
const checkFilters = (platforms: typeof Platforms.Service, draft: RuleDraft) =>
  Effect.gen(function* () {
    const filters: Array<CheckedFilter> = []
    const issues: Array<ArgumentIssue> = []
    for (const id of draft.platforms) {
      const platform = yield* platforms.get(id)
      const text = draft.overrides[id]
      if (text === undefined) {
        issues.push(missingFilter(platform.language, yield* sourceOf(platforms, draft)))
        continue
      }
      const checked = platform.language.check(text)
      if (checked.rule === undefined) issues.push(...errorsOf(id, checked.issues))
      else filters.push({ platform, text: checked.rule.canonical, sent: text, warnings: checked.issues })
    }
    for (const key of Object.keys(draft.overrides)) {
      if (!draft.platforms.some((id) => id === key)) {
        issues.push({ path: `overrides.${key}`, message: `"${key}" is not listed in "platforms"` })
      }
    }
    return Arr.isNonEmptyArray(issues) ? yield* new InvalidArgument({ issues }) : filters
  })

const errorsOf = (platform: PlatformId, issues: ReadonlyArray<Issue>): ReadonlyArray<ArgumentIssue> =>
  issues
    .filter(({ severity }) => severity === "error")
    .map(({ severity: _, code: __, ...issue }) => ({ path: `overrides.${platform}`, ...issue }))

interface Source {
  readonly language: Language
  readonly text: string
}

/** The first filter in the draft, to translate a missing one from. */
const sourceOf = (platforms: typeof Platforms.Service, { platforms: ids, overrides }: RuleDraft) =>
  Effect.gen(function* () {
    for (const id of ids) {
      const text = overrides[id]
      if (text !== undefined) return Option.some<Source>({ language: (yield* platforms.get(id)).language, text })
    }
    return Option.none<Source>()
  })

/** Suggests a translation of another platform's filter, if there is one. */
const missingFilter = (language: Language, source: Option.Option<Source>): ArgumentIssue => {
  const { id } = language
  const issue = { path: `overrides.${id}`, message: `Is missing: "platforms" lists "${id}", so add its filter` }
  if (Option.isNone(source) || !isTarget(language)) return issue
  const translation = translate(source.value, language)
  return translation.text === undefined ? issue : { ...issue, suggestion: toWireTranslation(translation) }
}
