/** The explanation use cases: why a rule matched an event or not, and why a rule matches nothing. */
import { Array as Arr, Clock, Context, Effect, Either, Layer, Option, Schema } from "effect"
import { Backtests, basisOf, type Visitor } from "../backtests/Backtests.ts"
import type { LoggedEvent } from "../backtests/EventLog.ts"
import { type CheckedText, explainFilterInTurns } from "../languages/explainFilter.ts"
import type { Language } from "../languages/Language.ts"
import type { Match } from "../matches/Match.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { ownMatch } from "../matches/ownMatch.ts"
import { Entropy } from "../model/Entropy.ts"
import {
  EventNotFound,
  InvalidArgument,
  type LimitReached,
  MatchNotFound,
  type PlatformNotConfigured,
  RuleNotFound,
  type StoreUnavailable
} from "../model/Errors.ts"
import { type AccountId, asRuleId, RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { wholeNumber } from "../model/wholeNumber.ts"
import { WireExplanation } from "../model/wire.ts"
import { Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { RuleVersionNumber } from "../rules/Rule.ts"
import { RuleStore, type StoredRegistration } from "../rules/RuleStore.ts"
import { type JsonObject, jsonOf, objectOf } from "../text/json.ts"
import { inTurns, type Turns } from "../work/turns.ts"
import { FilterHits, HitTally } from "./Hits.ts"

export const ExplainRequest = Schema.Struct({
  match_id: optional(Schema.String, "Explains this match. Leave out the other fields"),
  rule_id: optional(Schema.String, "Explains this rule on an event: send event or platform_post_id, too"),
  platform: optional(
    PlatformId,
    "Of the event. May be left out if the rule watches one platform only, or if the event shows it"
  ),
  event: optional(
    Schema.Unknown,
    "The event, in the format of its platform. The syntax help of the platform has an example"
  ),
  platform_post_id: optional(
    Schema.String,
    "The id of a recent event, as in matches. It is looked for among the events that backtests use"
  )
})
export type ExplainRequest = typeof ExplainRequest.Type

export const ExplainResult = Schema.Struct({
  rule_id: RuleId,
  platform: PlatformId,
  rule_version: RuleVersionNumber.annotations({
    description: "The version of the rule that is explained: that of the match, otherwise the present one"
  }),
  filter: Schema.String.annotations({ description: "The filter of this version. All spans refer to it" }),
  ...WireExplanation.fields
})
export type ExplainResult = typeof ExplainResult.Type

export const HitsRequest = Schema.Struct({
  rule_id: Schema.String,
  platform: optional(PlatformId, "Only on this platform. By default on every platform of the rule"),
  events: wholeNumber({ max: 100_000, fallback: 1_000 }).annotations({
    description: "How many of the newest events of each platform to test, limited by how many the server keeps"
  })
})
export type HitsRequest = typeof HitsRequest.Type

export const HitsResult = Schema.Struct({
  rule_id: RuleId,
  platforms: Schema.Record({ key: PlatformId, value: FilterHits })
})
export type HitsResult = typeof HitsResult.Type

export class Explanations extends Context.Tag("core/Explanations")<
  Explanations,
  {
    /** Counts as a check of the account. */
    readonly explain: (
      account: AccountId,
      request: ExplainRequest
    ) => Effect.Effect<ExplainResult, HitsFailure | MatchNotFound | EventNotFound>
    /** On shared events and the account's own. Counts as a check of the account. */
    readonly hits: (account: AccountId, request: HitsRequest) => Effect.Effect<HitsResult, HitsFailure>
  }
>() {
  static readonly layer: Layer.Layer<
    Explanations,
    never,
    RuleStore | MatchStore | Platforms | Backtests | Quotas | Entropy
  > = Layer.effect(
    Explanations,
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const matches = yield* MatchStore
      const platforms = yield* Platforms
      const { scan } = yield* Backtests
      const quotas = yield* Quotas
      const { sha256 } = yield* Entropy

      const ownRule = Effect.fnUntraced(function* (account: AccountId, ruleId: string) {
        const id = asRuleId(ruleId)
        const rule = Option.isSome(id) ? yield* rules.find(account, id.value) : Option.none()
        if (Option.isNone(rule)) return yield* new RuleNotFound({ ruleId })
        const { version } = rule.value
        return { id: rule.value.id, version, registrations: yield* rules.registrations(rule.value.id) }
      })

      const filterOf = Effect.fnUntraced(function* ({ platform, text }: PlatformText) {
        const { language } = yield* platforms.get(platform)
        const { rule, issues } = language.check(text, { fixes: "none" })
        if (rule !== undefined) return { language, text, expression: rule.expression } satisfies CheckedText
        return yield* invalid("rule_id", `The filter on "${platform}" is no longer valid: ${issues[0]?.message ?? ""}`)
      })

      const eventOf = (language: Language, record: unknown, now: number) =>
        Either.match(language.events.read(record, now), {
          onLeft: (message) => invalid("event", message),
          onRight: Effect.succeed
        })

      const explainOn = Effect.fnUntraced(function* (
        { ruleId, version, platform, text }: VersionText,
        { record, now }: { readonly record: unknown; readonly now: number }
      ) {
        const filter = yield* filterOf({ platform, text })
        const event = yield* eventOf(filter.language, record, now)
        const explanation = yield* inTurns(explainFilterInTurns(filter, event))
        return { rule_id: ruleId, platform, rule_version: version, filter: text, ...explanation }
      })

      const recentEvent = Effect.fnUntraced(function* (account: AccountId, language: Language, postId: string) {
        const search = new Search(({ json }) => {
          const id = language.events.idOf(jsonOf(json), sha256)
          return Either.isRight(id) && id.right === postId
        })
        yield* scan({ account, platform: language.id, events: MAX_SEARCHED }, search)
        if (search.found !== undefined) return { record: jsonOf(search.found.json), now: search.found.receivedAt }
        return yield* new EventNotFound({ platform: language.id, postId, isRedacted: false })
      })

      const explainMatch = Effect.fnUntraced(function* (account: AccountId, match: Match) {
        if (match.redacted !== undefined) {
          return yield* new EventNotFound({
            platform: match.platform,
            postId: match.platform_post_id,
            isRedacted: true
          })
        }
        const { platform, rule_id: ruleId, rule_version: version } = match
        const stored = (yield* rules.versions(account, ruleId)).find((one) => one.version === version)
        const text = stored?.overrides[platform]
        // The rule was deleted since the match was read.
        if (text === undefined) return yield* new MatchNotFound({ matchId: match.id })
        const now = Date.parse(match.created_at)
        return yield* explainOn({ ruleId, version, platform, text }, { record: match.payload.value, now })
      })

      const recognizing = (registrations: ReadonlyArray<StoredRegistration>, event: JsonObject) =>
        Effect.filter(registrations, ({ platform }) =>
          Effect.map(platforms.get(platform), ({ language }) => language.events.recognizes(event))
        )

      const explainRule = Effect.fnUntraced(function* (account: AccountId, ruleId: string, request: ExplainRequest) {
        const { event, platform_post_id: postId } = request
        const { id, version, registrations } = yield* ownRule(account, ruleId)
        if ((event === undefined) === (postId === undefined)) {
          return yield* invalid("event", 'Send either "event" or "platform_post_id"')
        }
        const sent = request.platform === undefined ? objectOf(event) : undefined
        const possible = sent === undefined ? registrations : yield* recognizing(registrations, sent)
        if (possible.length === 0 && registrations.length > 1) {
          return yield* invalid("event", `Is not an event of ${watchedBy(registrations)}`)
        }
        const { platform, text } = yield* chosen(possible.length === 1 ? possible : registrations, request)
        const filter = { ruleId: id, version, platform, text }
        if (postId === undefined) {
          return yield* explainOn(filter, { record: event, now: yield* Clock.currentTimeMillis })
        }
        const { language } = yield* platforms.get(platform)
        return yield* explainOn(filter, yield* recentEvent(account, language, postId))
      })

      const explain = Effect.fn("Explanations.explain")(function* (account: AccountId, request: ExplainRequest) {
        const { match_id, rule_id, ...event } = request
        if ((match_id === undefined) === (rule_id === undefined)) {
          return yield* invalid("", 'Send either "match_id", or "rule_id" with "event" or "platform_post_id"')
        }
        if (rule_id !== undefined) return yield* explainRule(account, rule_id, request)
        const [extra] = Object.keys(event)
        if (extra !== undefined) return yield* invalid(extra, 'Leave it out: "match_id" names the event')
        const owned = { account, platforms: yield* platforms.ids }
        return yield* explainMatch(account, yield* ownMatch(matches, owned, match_id ?? ""))
      })

      const hitsOn = Effect.fnUntraced(function* (
        account: AccountId,
        registration: StoredRegistration,
        events: number
      ) {
        const platform = yield* platforms.get(registration.platform)
        const filter = yield* filterOf(registration)
        const tally = new HitTally(filter)
        const note = yield* scan({ account, platform: platform.id, events }, tally)
        return {
          filter: filter.text,
          state: registration.state,
          basis: basisOf(platform),
          ...tally.result(),
          ...(Option.isSome(note) && { note: note.value })
        }
      })

      const hits = Effect.fn("Explanations.hits")(function* (account: AccountId, request: HitsRequest) {
        const { rule_id, platform, events } = request
        const { id, registrations } = yield* ownRule(account, rule_id)
        const wanted = platform === undefined ? registrations : [yield* chosen(registrations, { platform })]
        const found: Record<PlatformId, FilterHits> = {}
        for (const registration of wanted) found[registration.platform] = yield* hitsOn(account, registration, events)
        return { rule_id: id, platforms: found }
      })

      return Explanations.of({
        explain: (account, request) => quotas.whileChecking(account, explain(account, request)),
        hits: (account, request) => quotas.whileChecking(account, hits(account, request))
      })
    })
  )
}

// ---- helpers ----

type HitsFailure = InvalidArgument | RuleNotFound | PlatformNotConfigured | LimitReached | StoreUnavailable

interface PlatformText {
  readonly platform: PlatformId
  readonly text: string
}

/** The filter of one version of a rule. */
interface VersionText extends PlatformText {
  readonly ruleId: RuleId
  readonly version: number
}

/** The number of events that are searched for an id. */
const MAX_SEARCHED = 100_000

const invalid = (path: string, message: string) => new InvalidArgument({ issues: [{ path, message }] })

const watchedBy = (registrations: ReadonlyArray<StoredRegistration>): string =>
  registrations.map(({ platform }) => `"${platform}"`).join(" and ")

/** The registration on the platform, or the only one. */
const chosen = (
  registrations: ReadonlyArray<StoredRegistration>,
  { platform }: Pick<ExplainRequest, "platform">
): Effect.Effect<StoredRegistration, InvalidArgument> => {
  const found = registrations.filter((one) => platform === undefined || one.platform === platform)
  if (Arr.isNonEmptyReadonlyArray(found) && found.length === 1) return Effect.succeed(found[0])
  const expected = registrations.map((one) => one.platform)
  const message = `${platform === undefined ? "Is missing" : "Does not apply"}: the rule watches ${watchedBy(registrations)}`
  return new InvalidArgument({ issues: [{ path: "platform", message, expected }] })
}

/** Looks for one event. */
class Search implements Visitor {
  found: LoggedEvent | undefined
  private readonly isWanted: (event: LoggedEvent) => boolean

  constructor(isWanted: (event: LoggedEvent) => boolean) {
    this.isWanted = isWanted
  }

  *visit(events: ReadonlyArray<LoggedEvent>): Turns<void> {
    for (const event of events) {
      if (this.found === undefined && this.isWanted(event)) this.found = event
      yield
    }
  }

  isDone(): boolean {
    return this.found !== undefined
  }
}
