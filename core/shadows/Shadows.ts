/** The shadow use cases: watch other filters beside those of a rule, compare them, and take them over. */
import { Context, Effect, Either, Layer, Option, Schema, Struct } from "effect"
import { answeringWith, decisive } from "../idempotency/Idempotency.ts"
import { Actor } from "../keys/Key.ts"
import { explainFilterInTurns } from "../languages/explainFilter.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { PayloadFromObject } from "../matches/Payload.ts"
import {
  InvalidArgument,
  type RuleNotFound,
  RuleNotReady,
  ShadowNotFound,
  type StoreUnavailable
} from "../model/Errors.ts"
import { type AccountId, Ids, type RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { wholeNumber } from "../model/wholeNumber.ts"
import { WireExplanation } from "../model/wire.ts"
import { Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { checkDraft, Drafting, type DraftingServices, warningsOf } from "../rules/Drafting.ts"
import { RULE_DETAILS, type Rule, type RuleDraft, RuleVersionNumber } from "../rules/Rule.ts"
import { RuleChanges } from "../rules/RuleChanges.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { type ChangedRule, type ChangeFailure, Rules } from "../rules/Rules.ts"
import { firstAsNow } from "../rules/versions.ts"
import { inTurns } from "../work/turns.ts"
import { adopt } from "./adopt.ts"
import { type Compared, type Pair, ShadowStore } from "./ShadowStore.ts"

const Sample = Schema.Struct({
  platform: PlatformId,
  platform_post_id: Schema.String,
  payload: PayloadFromObject,
  explanation: optional(
    WireExplanation,
    "Why the other filters did not match the event: `decisive` are the clauses that made the difference"
  )
})

const SideResult = Schema.Struct({
  count: Schema.Int.annotations({ jsonSchema: { type: "integer", minimum: 0 } }),
  samples: Schema.Array(Sample).annotations({ description: "The newest of them" })
})

const Filters = Schema.Record({ key: PlatformId, value: Schema.String })

export const CompareRequest = Schema.Struct({
  rule_id: Schema.String,
  samples: wholeNumber({ min: 0, max: 20, fallback: 3 }).annotations({
    description: "How many events of each kind to return"
  })
})
export type CompareRequest = typeof CompareRequest.Type

/** Which events met the filters of the rule, those of its shadow, or both. */
export const ComparedRule = Schema.Struct({
  rule_id: Schema.String,
  since: Timestamp.Timestamp.annotations({
    description: "The start of the comparison: of the shadow or, if later, of the present filters of the rule"
  }),
  since_version: optional(
    RuleVersionNumber,
    "Set if the filters of the rule were changed after the shadow began: the version that has had the present ones first. What earlier versions met is left out"
  ),
  platforms: Schema.Array(PlatformId).annotations({ description: "The platforms of the shadow" }),
  present: Filters.annotations({ description: "The filters of the rule on these platforms" }),
  candidate: Filters.annotations({ description: "The filters of the shadow" }),
  present_only: SideResult.annotations({ description: "Events that only the rule matched" }),
  candidate_only: SideResult.annotations({ description: "Events that only the shadow matched" }),
  both: SideResult.annotations({ description: "Events that both matched" })
})
export type ComparedRule = typeof ComparedRule.Type

type Overrides = RuleDraft["overrides"]

export class Shadows extends Context.Tag("core/Shadows")<
  Shadows,
  {
    /** Watches other filters beside those of the rule, instead of those of an earlier shadow. */
    readonly start: (
      account: AccountId,
      id: string,
      overrides: Overrides
    ) => Effect.Effect<ChangedRule, InvalidArgument | ChangeFailure>
    readonly compare: (
      account: AccountId,
      request: CompareRequest
    ) => Effect.Effect<ComparedRule, RuleNotFound | ShadowNotFound | StoreUnavailable>
    /** Makes the filters of the shadow those of the rule. `since`: what the shadow has matched since then becomes matches of the rule. */
    readonly promote: (
      account: AccountId,
      id: string,
      since: Option.Option<Timestamp.Timestamp>
    ) => Effect.Effect<{ readonly rule: Rule; readonly added: number }, ShadowNotFound | ChangeFailure>
    /** The rule without its shadow. */
    readonly drop: (
      account: AccountId,
      id: string
    ) => Effect.Effect<Rule, RuleNotFound | ShadowNotFound | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<
    Shadows,
    never,
    Rules | RuleChanges | RuleStore | ShadowStore | MatchStore | Platforms | DraftingServices
  > = Layer.effect(
    Shadows,
    Effect.gen(function* () {
      const rules = yield* Rules
      const changes = yield* RuleChanges
      const store = yield* RuleStore
      const shadows = yield* ShadowStore
      const matches = yield* MatchStore
      const platforms = yield* Platforms
      const ids = yield* Ids
      const quotas = yield* Quotas
      const { limitsOf, withPauses, newRule } = yield* Drafting

      const shadowed = (account: AccountId, id: string) =>
        Effect.gen(function* () {
          const rule = yield* rules.get(account, id)
          const shadow = yield* store.shadowOf(rule.id)
          if (Option.isNone(shadow) || rule.shadow === undefined) return yield* new ShadowNotFound({ ruleId: id })
          const pair: Pair = {
            account,
            rule: rule.id,
            shadow: shadow.value,
            platforms: Object.keys(rule.shadow.platforms),
            since: rule.shadow.since
          }
          return { rule, pair }
        })

      const start = Effect.fn("Shadows.start")(function* (account: AccountId, id: string, overrides: Overrides) {
        const rule = yield* rules.get(account, id)
        if (isPaused(rule)) return yield* pausedError(id)
        const wanted = Object.keys(overrides)
        const foreign = wanted.filter((platform) => rule.platforms[platform] === undefined)
        const [first, ...rest] = foreign.map((platform) => ({
          path: `overrides.${platform}`,
          message: `The rule does not watch "${platform}", so there is nothing to compare with`
        }))
        if (first !== undefined) return yield* new InvalidArgument({ issues: [first, ...rest] })
        if (wanted.length === 0) {
          return yield* new InvalidArgument({ issues: [{ path: "overrides", message: "Is empty: send a filter" }] })
        }
        const filters = yield* withPauses(
          account,
          yield* checkDraft({ platforms, quotas }, account, { platforms: wanted, overrides })
        )
        const before = yield* store.shadowOf(rule.id)
        if (Option.isSome(before)) yield* changes.removeCandidate(before.value)
        const shadow = {
          ...(yield* newRule(account, rule, filters)),
          candidate: { of: rule.id, purpose: "shadow" } as const
        }
        const limits = yield* limitsOf(account, wanted)
        const started = Effect.map(rules.get(account, id), (rule) => ({ rule, warnings: warningsOf(filters) }))
        return yield* changes.add(shadow, filters, limits).pipe(answeringWith(() => started))
      })

      const compare = Effect.fn("Shadows.compare")(function* (
        account: AccountId,
        { rule_id, samples }: CompareRequest
      ) {
        const { rule, pair } = yield* shadowed(account, rule_id)
        const first = firstAsNow(yield* store.versions(account, rule.id), pair.platforms)
        const isCut = first !== undefined && first.at > pair.since
        const since = isCut ? first.at : pair.since
        const { counts, samples: found } = yield* shadows.compare(
          { ...pair, since, fromVersion: first?.version ?? 1 },
          samples
        )
        const texts = (of: RuleId) =>
          Effect.map(store.registrations(of), (all) => new Map(all.map(({ platform, text }) => [platform, text])))
        const present = yield* texts(rule.id)
        const candidate = yield* texts(pair.shadow)
        const explained = (side: Compared["samples"]["both"], other: ReadonlyMap<PlatformId, string>) =>
          Effect.forEach(side, (sample) =>
            Effect.map(explanationOf(sample, other.get(sample.platform)), (explanation) => ({
              ...sample,
              ...explanation
            }))
          )
        return {
          rule_id: rule.id,
          since,
          ...(isCut && { since_version: first.version }),
          platforms: pair.platforms,
          present: Object.fromEntries(pair.platforms.map((id) => [id, present.get(id) ?? ""])),
          candidate: Object.fromEntries(candidate),
          present_only: { count: counts.present_only, samples: yield* explained(found.present_only, candidate) },
          candidate_only: { count: counts.candidate_only, samples: yield* explained(found.candidate_only, present) },
          both: { count: counts.both, samples: found.both }
        }
      })

      /** Why a filter does not match the event. Nothing if our own reading of it does: a platform may read it differently. */
      const explanationOf = ({ platform, payload }: Compared["samples"]["both"][number], text: string | undefined) =>
        Effect.gen(function* () {
          const found = yield* Effect.option(platforms.get(platform))
          if (Option.isNone(found) || text === undefined) return {}
          const { language } = found.value
          const { rule } = language.check(text, { fixes: "none" })
          const event = language.events.read(payload.value, 0)
          if (rule === undefined || Either.isLeft(event)) return {}
          const explanation = yield* inTurns(
            explainFilterInTurns({ language, text, expression: rule.expression }, event.right)
          )
          return explanation.matched ? {} : { explanation }
        })

      const promote = Effect.fn("Shadows.promote")(function* (
        account: AccountId,
        id: string,
        since: Option.Option<Timestamp.Timestamp>
      ) {
        const { rule, pair } = yield* shadowed(account, id)
        if (isPaused(rule)) return yield* pausedError(id)
        let added = 0
        const handOver = Option.match(since, {
          onNone: () => Effect.void,
          onSome: (from) =>
            Effect.map(shadows.handOver({ ...pair, since: from }), (count) => {
              added += count
            })
        })
        const promoted = Effect.map(rules.get(account, id), (rule) => ({ rule, added }))
        const replacement = {
          limits: new Map(),
          // Once more: ingest may have stored an event for the shadow during the change.
          andThen: Effect.zipRight(
            handOver,
            adopt({ shadows, matches, ids }, { id: rule.id, version: rule.version + 1 })
          ),
          change: {
            ...Struct.pick(rule, ...RULE_DETAILS),
            by: Option.fromNullable((yield* Actor).key),
            expectedVersion: rule.version,
            ended: pair.platforms,
            paused: [],
            candidate: pair.shadow,
            added: pair.platforms,
            also: handOver,
            ...(Option.isSome(since) && { promotedSince: since.value })
          }
        }
        const promoting = changes.replace(account, rule.id, replacement).pipe(answeringWith(() => promoted))
        return yield* Effect.mapError(promoting, (error) =>
          error._tag === "RuleNotFound" && error.ruleId === pair.shadow ? new ShadowNotFound({ ruleId: id }) : error
        )
      })

      const drop = Effect.fn("Shadows.drop")(function* (account: AccountId, id: string) {
        const { pair } = yield* shadowed(account, id)
        const dropped = rules.get(account, id)
        return yield* changes.removeCandidate(pair.shadow).pipe(
          decisive(undefined),
          answeringWith(() => dropped)
        )
      })

      return Shadows.of({ start, compare, promote, drop })
    })
  )
}

// ---- helpers ----

const isPaused = ({ platforms }: Rule): boolean =>
  Object.values(platforms).some(({ paused_by }) => paused_by === "account")

const pausedError = (ruleId: string) => new RuleNotReady({ ruleId, reason: "is paused: resume it first" })
