/** The check use case: what a filter means, what is wrong with it, and what it would do, before anything is saved. */
import { Array as Arr, Clock, Effect, Either, Schema } from "effect"
import { type ArgumentIssue, InvalidArgument } from "./Errors.ts"
import { PLATFORM_IDS, PlatformId } from "./PlatformId.ts"
import { readEvent } from "./syntax/event.ts"
import type { EventFields } from "./syntax/eventFields.ts"
import { explain } from "./syntax/explain.ts"
import { checkRule, type Understood } from "./syntax/language.ts"
import { translate } from "./syntax/translate.ts"
import { CheckedFilter, toWireTranslation } from "./syntax/wire.ts"

export const CheckRequest = Schema.Struct({
  overrides: Schema.partial(Schema.Record({ key: PlatformId, value: Schema.String })).pipe(
    Schema.filter((filters) => Object.keys(filters).length > 0 || "Is empty: give the filter of at least one platform")
  ),
  events: Schema.optionalWith(Schema.partial(Schema.Record({ key: PlatformId, value: Schema.Unknown })), {
    exact: true
  })
})
export type CheckRequest = typeof CheckRequest.Type

export const CheckResult = Schema.Struct({
  platforms: Schema.partial(Schema.Record({ key: PlatformId, value: CheckedFilter }))
})
export type CheckResult = typeof CheckResult.Type

/** Checks each filter, carries it to the other platforms, and explains it on the sample event of its platform. */
export const checkFilters = ({ overrides, events = {} }: CheckRequest): Effect.Effect<CheckResult, InvalidArgument> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const platforms: Partial<Record<PlatformId, CheckedFilter>> = {}
    const issues: Array<ArgumentIssue> = []
    for (const platform of PLATFORM_IDS) {
      const text = overrides[platform]
      const record = events[platform]
      const sample = record === undefined ? Either.right(undefined) : readEvent(platform, record, now)
      if (Either.isLeft(sample)) issues.push({ path: `events.${platform}`, message: sample.left })
      if (text === undefined || Either.isLeft(sample)) continue
      platforms[platform] = checkOne(platform, text, sample.right)
    }
    return Arr.isNonEmptyArray(issues) ? yield* new InvalidArgument({ issues }) : { platforms }
  })

// ---- helpers ----

const checkOne = (platform: PlatformId, text: string, sample: EventFields | undefined): CheckedFilter => {
  const { issues, rule } = checkRule(platform, text)
  if (rule === undefined) return { valid: false, issues, translations: {} }
  return {
    valid: true,
    issues,
    canonical: rule.canonical,
    translations: Object.fromEntries(
      PLATFORM_IDS.filter((other) => other !== platform).map((other) => [
        other,
        toWireTranslation(translate({ platform, text }, other))
      ])
    ),
    ...explained(rule, sample)
  }
}

const explained = (rule: Understood, sample: EventFields | undefined) =>
  sample === undefined ? {} : { explanation: explain(rule.expression, sample) }
