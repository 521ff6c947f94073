/** The check use case: what a filter means, what is wrong with it, and what it would do, before anything is saved. */
import { Array as Arr, Clock, Effect, Either, Schema } from "effect"
import { Backtest, BacktestRequest, Backtests } from "../backtests/Backtests.ts"
import {
  type ArgumentIssue,
  InvalidArgument,
  type PlatformNotConfigured,
  type StorageUnavailable
} from "../model/Errors.ts"
import { PLATFORM_IDS, PlatformId } from "../model/PlatformId.ts"
import { type PlatformFailure, Platforms } from "../platforms/Platform.ts"
import { readEvent } from "../syntax/event.ts"
import type { EventFields } from "../syntax/expression/eventFields.ts"
import { explain } from "../syntax/expression/explain.ts"
import { checkRule, type Understood } from "../syntax/language.ts"
import { translate } from "../syntax/translation/translate.ts"
import { toWireTranslation, WireExplanation, WireIssue, WireTranslation } from "../syntax/wire.ts"

export const CheckRequest = Schema.Struct({
  overrides: Schema.partial(Schema.Record({ key: PlatformId, value: Schema.String }))
    .pipe(
      Schema.filter(
        (filters) => Object.keys(filters).length > 0 || "Is empty: give the filter of at least one platform"
      )
    )
    .annotations({ description: "The filter for each platform, in the platform's own syntax" }),
  events: Schema.optionalWith(Schema.partial(Schema.Record({ key: PlatformId, value: Schema.Unknown })), {
    exact: true
  }).annotations({
    description: "An event for each platform, in the form in which the platform delivers it, to explain the filter on"
  }),
  backtest: Schema.optionalWith(BacktestRequest, { exact: true }),
  ask_platforms: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description: "Ask each platform itself too, without registering anything there"
  })
})
export type CheckRequest = typeof CheckRequest.Type

export const CheckedFilter = Schema.Struct({
  valid: Schema.Boolean,
  issues: Schema.Array(WireIssue),
  canonical: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "The text that would be registered; absent when the filter is not valid"
  }),
  translations: Schema.partial(Schema.Record({ key: PlatformId, value: WireTranslation })),
  explanation: Schema.optionalWith(WireExplanation, { exact: true }),
  backtest: Schema.optionalWith(Backtest, { exact: true }),
  platform_verdict: Schema.optionalWith(
    Schema.Struct({
      accepted: Schema.Boolean,
      reason: Schema.optionalWith(Schema.String, { exact: true }).annotations({
        description: "In the platform's own words; absent when it takes the filter"
      })
    }),
    { exact: true }
  ).annotations({ description: "What the platform itself says, when it was asked" })
}).annotations({ identifier: "CheckedFilter" })
export type CheckedFilter = typeof CheckedFilter.Type

export const CheckResult = Schema.Struct({
  platforms: Schema.partial(Schema.Record({ key: PlatformId, value: CheckedFilter }))
})
export type CheckResult = typeof CheckResult.Type

/**
 * Checks each filter, carries it to the other platforms, explains it on the sample event of its platform, tests it on
 * the recent ones, and asks the platform itself.
 */
export const checkFilters = ({
  overrides,
  events = {},
  backtest,
  ask_platforms = false
}: CheckRequest): Effect.Effect<
  CheckResult,
  InvalidArgument | StorageUnavailable | PlatformNotConfigured | PlatformFailure,
  Backtests | Platforms
> =>
  Effect.gen(function* () {
    const samples = yield* readSamples(events, yield* Clock.currentTimeMillis)
    const platforms: Partial<Record<PlatformId, CheckedFilter>> = {}
    for (const platform of PLATFORM_IDS) {
      const text = overrides[platform]
      if (text === undefined) continue
      const { issues, rule } = checkRule(platform, text)
      platforms[platform] =
        rule === undefined
          ? { valid: false, issues, translations: {} }
          : {
              valid: true,
              issues,
              canonical: rule.canonical,
              translations: translations(platform, text),
              ...explained(rule, samples.get(platform)),
              ...(yield* tested(platform, rule, backtest)),
              ...(ask_platforms ? yield* asked(platform, rule.canonical) : {})
            }
    }
    return { platforms }
  })

// ---- helpers ----

const readSamples = (events: NonNullable<CheckRequest["events"]>, now: number) => {
  const samples = new Map<PlatformId, EventFields>()
  const issues: Array<ArgumentIssue> = []
  for (const platform of PLATFORM_IDS) {
    if (events[platform] === undefined) continue
    const sample = readEvent(platform, events[platform], now)
    if (Either.isRight(sample)) samples.set(platform, sample.right)
    else issues.push({ path: `events.${platform}`, message: sample.left })
  }
  return Arr.isNonEmptyArray(issues) ? new InvalidArgument({ issues }) : Effect.succeed(samples)
}

const translations = (platform: PlatformId, text: string) =>
  Object.fromEntries(
    PLATFORM_IDS.filter((other) => other !== platform).map((other) => [
      other,
      toWireTranslation(translate({ platform, text }, other))
    ])
  )

const explained = (rule: Understood, sample: EventFields | undefined) =>
  sample === undefined ? {} : { explanation: explain(rule.expression, sample) }

const tested = (platform: PlatformId, { expression }: Understood, request: BacktestRequest | undefined) =>
  Effect.gen(function* () {
    if (request === undefined) return {}
    const backtests = yield* Backtests
    return { backtest: yield* backtests.run({ platform, expression }, request) }
  })

const asked = (id: PlatformId, text: string) =>
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const verdict = yield* (yield* platforms.get(id)).verify(text)
    return {
      platform_verdict: Either.match(verdict, {
        onLeft: ({ reason }) => ({ accepted: false, reason }),
        onRight: () => ({ accepted: true })
      })
    }
  })
