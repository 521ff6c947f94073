/** Prepares rules that are to be registered: checks their filters, and makes the rules. */
import { Array as Arr, Effect, Option, Struct } from "effect"
import { Actor } from "../keys/Key.ts"
import type { Language } from "../languages/Language.ts"
import { toWireTranslation } from "../languages/toWireTranslation.ts"
import { type ArgumentIssue, InvalidArgument } from "../model/Errors.ts"
import { type AccountId, Ids } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Platforms } from "../platforms/Platform.ts"
import { rulesOn } from "../quotas/Limit.ts"
import { Quotas } from "../quotas/Quotas.ts"
import type { Issue } from "../syntax/issues/issue.ts"
import { withOmitted } from "../syntax/issues/Report.ts"
import { isTarget } from "../syntax/translation/translate.ts"
import { translateWithWitnessesInTurns } from "../syntax/translation/witness/witnesses.ts"
import { inTurns } from "../work/turns.ts"
import { Pauses } from "./Pauses.ts"
import { RULE_DETAILS, type RuleDetails, type RuleDraft } from "./Rule.ts"
import type { Filter } from "./RuleChanges.ts"
import type { LimitPause, Pause } from "./RuleStore.ts"

export interface CheckedFilter extends Filter {
  readonly sent: string
  readonly warnings: ReadonlyArray<Issue>
  readonly pause?: Pause | undefined
}

/** Each platform with its canonical filter. Fails with the issues of all filters at once. */
export const checkDraft = (
  { platforms, quotas }: { readonly platforms: Platforms["Type"]; readonly quotas: Quotas["Type"] },
  account: AccountId,
  draft: Pick<RuleDraft, "platforms" | "overrides">
) =>
  Effect.gen(function* () {
    const filters: Array<CheckedFilter> = []
    const issues: Array<ArgumentIssue> = []
    let omitted = 0
    for (const id of draft.platforms) {
      const platform = yield* platforms.get(id)
      const text = draft.overrides[id]
      if (text === undefined) {
        const suggestion = suggestionFor(platform.language, yield* sourceOf(platforms, draft))
        // An account that has used up its checks gets no suggestion.
        const found = yield* Effect.catchTag(quotas.whileChecking(account, suggestion), "LimitReached", () =>
          Effect.succeed({})
        )
        issues.push({
          path: `overrides.${id}`,
          message: `Is missing: "platforms" lists "${id}", so add its filter`,
          ...found
        })
        continue
      }
      const checked = yield* inTurns(platform.language.checkInTurns(text))
      if (checked.rule === undefined) {
        issues.push(...errorsOf(id, checked.issues))
        omitted += checked.omitted?.errors ?? 0
      } else {
        filters.push({ platform, text: checked.rule.canonical, sent: text, warnings: withOmitted(checked, text) })
      }
    }
    for (const key of Object.keys(draft.overrides)) {
      if (!draft.platforms.some((id) => id === key)) {
        issues.push({
          path: `overrides.${key}`,
          message: `"${key}" is not listed in "platforms": add it there, or remove this filter`
        })
      }
    }
    return Arr.isNonEmptyArray(issues) ? yield* new InvalidArgument({ issues, omitted }) : filters
  })

export type DraftingServices = Ids | Quotas | Pauses

export const Drafting = Effect.gen(function* () {
  const ids = yield* Ids
  const quotas = yield* Quotas
  const { pauseFor } = yield* Pauses

  /** The account's maximum on each of the platforms that has one. */
  const limitsOf = (account: AccountId, platforms: ReadonlyArray<PlatformId>) =>
    Effect.gen(function* () {
      const limits = new Map<PlatformId, number>()
      for (const id of platforms) {
        const limit = yield* quotas.limitOf(account, rulesOn(id))
        if (limit > 0) limits.set(id, limit)
      }
      return limits
    })

  /** With the pauses of a budget that is nearly used up, and of an account that has reached its limit on matching. */
  const withPauses = (account: AccountId, filters: ReadonlyArray<CheckedFilter>) =>
    Effect.forEach(filters, (filter) =>
      Effect.map(pauseFor(filter.platform, filter.text, account), (pause) => ({
        ...filter,
        pause: Option.getOrUndefined(pause)
      }))
    )

  const newRule = (accountId: AccountId, details: RuleDetails, filters: ReadonlyArray<CheckedFilter>) =>
    Effect.gen(function* () {
      return {
        id: yield* ids.rule,
        accountId,
        ...Struct.pick(details, ...RULE_DETAILS),
        createdAt: yield* Timestamp.now,
        by: (yield* Actor).key,
        filters: filters.map(({ platform, text, pause }) => ({ platform: platform.id, text, pause }))
      }
    })

  return { limitsOf, withPauses, newRule }
})

export const warningsOf = (filters: ReadonlyArray<CheckedFilter>): ReadonlyMap<PlatformId, ReadonlyArray<Issue>> =>
  new Map(
    filters.map(({ platform, warnings, pause, sent }) => [
      platform.id,
      pause === undefined || pause.by === "account" ? warnings : [...warnings, pauseWarning(pause, sent)]
    ])
  )

// ---- helpers ----

const errorsOf = (platform: PlatformId, issues: ReadonlyArray<Issue>): ReadonlyArray<ArgumentIssue> =>
  issues
    .filter(({ severity }) => severity === "error")
    .map(({ severity: _, code: __, ...issue }) => ({ path: `overrides.${platform}`, ...issue }))

interface Source {
  readonly language: Language
  readonly text: string
}

/** The first filter in the draft, to translate a missing one from. */
const sourceOf = (
  platforms: Platforms["Type"],
  { platforms: ids, overrides }: Pick<RuleDraft, "platforms" | "overrides">
) =>
  Effect.gen(function* () {
    for (const id of ids) {
      const text = overrides[id]
      if (text !== undefined) return Option.some<Source>({ language: (yield* platforms.get(id)).language, text })
    }
    return Option.none<Source>()
  })

/** A translation of another platform's filter, if there is one. */
const suggestionFor = (
  language: Language,
  source: Option.Option<Source>
): Effect.Effect<Pick<ArgumentIssue, "suggestion">> =>
  Effect.gen(function* () {
    if (Option.isNone(source) || !isTarget(language)) return {}
    const translation = yield* inTurns(translateWithWitnessesInTurns(source.value, language))
    return translation.text === undefined ? {} : { suggestion: toWireTranslation(translation) }
  })

/** Its span is the whole filter. */
const pauseWarning = ({ reason }: LimitPause, sent: string): Issue => ({
  severity: "warning",
  code: "paused",
  span: { start: 0, end: sent.length },
  message: `The rule is ${reason}`
})
