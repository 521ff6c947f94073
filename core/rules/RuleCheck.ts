/** The check use case: validates, translates, explains and backtests filters without storing anything. */
import { Array as Arr, Clock, Effect, Either, Schema } from "effect"
import { Backtest, BacktestRequest, Backtests, basisOf } from "../backtests/Backtests.ts"
import { Counts, estimateOf, Price } from "../backtests/Counts.ts"
import { type CheckedText, explainFilterInTurns } from "../languages/explainFilter.ts"
import type { Language } from "../languages/Language.ts"
import { toWireTranslation } from "../languages/toWireTranslation.ts"
import { type ArgumentIssue, InvalidArgument, type LimitReached, type StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { WireExplanation, WireIssue, WireTranslation } from "../model/wire.ts"
import { type Platform, type PlatformFailure, Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { withOmitted } from "../syntax/issues/Report.ts"
import { isTarget } from "../syntax/translation/translate.ts"
import { translateWithWitnessesInTurns } from "../syntax/translation/witness/witnesses.ts"
import { inTurns, type Turns } from "../work/turns.ts"
import { fixedTextInTurns } from "./fixedText.ts"
import { PlatformVerdict, toPlatformVerdict } from "./PlatformVerdict.ts"
import type { RuleList, RulePage } from "./Rule.ts"
import { Rules } from "./Rules.ts"

export const CheckRequest = Schema.Struct({
  overrides: Schema.Record({ key: PlatformId, value: Schema.String })
    .pipe(
      Schema.filter(
        (filters) => Object.keys(filters).length > 0 || "Is empty: give the filter of at least one platform",
        { jsonSchema: { minProperties: 1 } }
      )
    )
    .annotations({ description: "One filter per platform, in that platform's syntax" }),
  events: optional(
    Schema.Record({ key: PlatformId, value: Schema.Unknown }),
    "A sample event per platform that has a filter in overrides, in the platform's format, to explain the filter with"
  ),
  backtest: optional(BacktestRequest),
  ask_platforms: optional(
    Schema.Boolean,
    "Also ask each platform whether it accepts the filter and, on a platform that counts events, how many it has had. Nothing is registered. A platform that runs in process has nobody to ask: see platform_verdict"
  )
})
export type CheckRequest = typeof CheckRequest.Type

export const CheckedFilter = Schema.Struct({
  valid: Schema.Boolean,
  issues: Schema.Array(WireIssue),
  fixed: optional(
    Schema.String,
    "A valid text with the fixes of all issues applied. Absent if one fix is enough, or not all can be fixed"
  ),
  incomplete: optional(
    Schema.String,
    "Why fixes may be missing: a long filter has many issues. Absent if all were looked for"
  ),
  canonical: optional(Schema.String, "The text that would be registered. Absent if the filter is not valid"),
  translations: Schema.Record({ key: PlatformId, value: WireTranslation }),
  explanation: optional(WireExplanation),
  backtest: optional(Backtest),
  platform_verdict: optional(PlatformVerdict, "Whether the filter is accepted, and who says so, with ask_platforms"),
  counts: optional(Counts),
  counts_reason: optional(
    Schema.String,
    "Why the platform did not count the events of this filter, with ask_platforms"
  ),
  price: optional(Price)
}).annotations({ identifier: "CheckedFilter" })
export type CheckedFilter = typeof CheckedFilter.Type

export const CheckResult = Schema.Struct({
  platforms: Schema.Record({ key: PlatformId, value: CheckedFilter })
})
export type CheckResult = typeof CheckResult.Type

/** An invalid filter only gets its issues: no translations, explanation, backtest or verdict. */
export const checkFilters = (
  account: AccountId,
  request: CheckRequest
): Effect.Effect<
  CheckResult,
  InvalidArgument | LimitReached | StoreUnavailable | PlatformFailure,
  Backtests | Platforms | Quotas | Rules
> =>
  Effect.gen(function* () {
    const quotas = yield* Quotas
    return yield* quotas.whileChecking(account, check(account, request))
  })

/** What a check of the text alone tells. The translations are for all other platforms that are translation targets. */
export function* checkedInTurns(
  { language, text }: { readonly language: Language; readonly text: string },
  all: ReadonlyArray<Language>
): Turns<CheckedAlone> {
  const result = yield* language.checkInTurns(text)
  const { issues, rule, hasUnverifiedFixes = false } = result
  yield
  const fixed = yield* fixedTextInTurns(language.checkInTurns, { text, issues })
  const found = {
    issues: withOmitted(result, text),
    ...(fixed.text !== undefined && { fixed: fixed.text }),
    ...((hasUnverifiedFixes || fixed.isStopped) && { incomplete: INCOMPLETE_FIXES })
  }
  if (rule === undefined) return { checked: { valid: false, ...found, translations: {} }, expression: undefined }
  const translations: Record<PlatformId, typeof WireTranslation.Type> = {}
  for (const other of all.filter(isTarget)) {
    if (other.id === language.id) continue
    translations[other.id] = toWireTranslation(yield* translateWithWitnessesInTurns({ language, text }, other))
  }
  const { canonical, expression } = rule
  return { checked: { valid: true, ...found, canonical, translations }, expression }
}

interface CheckedAlone {
  readonly checked: CheckedFilter
  /** Absent if the filter is not valid. */
  readonly expression: Expression | undefined
}

// ---- helpers ----

const INCOMPLETE_FIXES =
  "The search for fixes stopped: it takes too much work for a filter of this size. An issue without a fix may have one"

const NO_FILTER = 'There is no filter for it in "overrides": add one, or leave the event out'

const check = (account: AccountId, { overrides, events = {}, backtest, ask_platforms = false }: CheckRequest) =>
  Effect.gen(function* () {
    const { all } = yield* Platforms
    const platforms = yield* all
    const samples = yield* readSamples(platforms, { overrides, events }, yield* Clock.currentTimeMillis)
    const checked: Record<PlatformId, CheckedFilter> = {}
    for (const platform of platforms) {
      const { id, language } = platform
      const text = overrides[id]
      if (text === undefined) continue
      const languages = platforms.map(({ language }) => language)
      const { checked: found, expression } = yield* inTurns(checkedInTurns({ language, text }, languages))
      checked[id] =
        expression === undefined
          ? found
          : {
              ...found,
              ...(yield* explanationOf({ language, text, expression }, samples.get(id))),
              ...(yield* backtestOf(account, { platform, expression }, backtest)),
              ...(ask_platforms ? yield* answerOf(platform, found.canonical ?? text) : {})
            }
    }
    return { platforms: checked }
  })

const readSamples = (
  platforms: ReadonlyArray<Platform>,
  { overrides, events }: Required<Pick<CheckRequest, "overrides" | "events">>,
  now: number
) => {
  const samples = new Map<PlatformId, PlatformEvent>()
  const issues: Array<ArgumentIssue> = []
  for (const { id, language } of platforms) {
    if (events[id] === undefined) continue
    if (overrides[id] === undefined) {
      issues.push({ path: `events.${id}`, message: NO_FILTER })
      continue
    }
    const sample = language.events.read(events[id], now)
    if (Either.isRight(sample)) samples.set(id, sample.right)
    else issues.push({ path: `events.${id}`, message: sample.left })
  }
  return Arr.isNonEmptyArray(issues) ? new InvalidArgument({ issues }) : Effect.succeed(samples)
}

const explanationOf = (filter: CheckedText, sample: PlatformEvent | undefined) =>
  sample === undefined
    ? Effect.succeed({})
    : Effect.map(inTurns(explainFilterInTurns(filter, sample)), (explanation) => ({ explanation }))

const backtestOf = (
  account: AccountId,
  { platform, expression }: { readonly platform: Platform; readonly expression: Expression },
  request: BacktestRequest | undefined
) =>
  Effect.gen(function* () {
    if (request === undefined) return {}
    const { language } = platform
    const { run } = yield* Backtests
    const present = yield* activeFilters(account, language.id)
    return { backtest: yield* run({ account, language, basis: basisOf(platform), expression, present }, request) }
  })

/** Of all rules of the account, read page by page. */
const activeFilters = (account: AccountId, platform: PlatformId) =>
  Effect.gen(function* () {
    const { list } = yield* Rules
    const filters = new Set<string>()
    let query: RulePage | undefined = {}
    while (query !== undefined) {
      const { rules, next_cursor }: RuleList = yield* list(account, query)
      for (const { platforms } of rules) {
        const registration = platforms[platform]
        if (registration?.state === "active") filters.add(registration.translated_value)
      }
      query = next_cursor === undefined ? undefined : { cursor: next_cursor }
    }
    return [...filters]
  })

/** Counts what the platform accepts, or would accept if it had room. */
const answerOf = (platform: Platform, text: string) =>
  Effect.gen(function* () {
    const verdict = yield* platform.verify(text)
    const platform_verdict = toPlatformVerdict(platform, verdict)
    const isCounted = Either.isRight(verdict) || verdict.left._tag === "PlatformLimitReached"
    return { platform_verdict, ...(isCounted ? yield* estimateOf(platform, text) : {}) }
  })
