/** The rule use cases: the only way in for HTTP, tRPC, MCP and the CLI. */
import { Context, Effect, Layer, Option, Struct } from "effect"
import { answering, answeringWith } from "../idempotency/Idempotency.ts"
import { Actor } from "../keys/Key.ts"
import {
  type InvalidArgument,
  type PlatformNotConfigured,
  RuleNotFound,
  RuleNotReady,
  RuleVersionChanged,
  type StoreUnavailable
} from "../model/Errors.ts"
import { type AccountId, asRuleId, type RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { Platforms, type Registered } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import type { Issue } from "../syntax/issues/issue.ts"
import { type CheckedFilter, checkDraft, Drafting, type DraftingServices, warningsOf } from "./Drafting.ts"
import { type Plan, planPause, planUpdate, platformsToCheck, platformsToJoin } from "./planChange.ts"
import {
  MAX_RULES_PER_PAGE,
  type NewRuleDraft,
  RULE_DETAILS,
  type Rule,
  type RuleDetails,
  type RuleList,
  type RulePage,
  type RulePatch,
  type RuleVersion
} from "./Rule.ts"
import { type AddFailure, RuleChanges } from "./RuleChanges.ts"
import {
  BY_ACCOUNT,
  isPausedBy,
  isPausedByAccount,
  type NewRule,
  RuleStore,
  type StoredRegistration
} from "./RuleStore.ts"
import { withChanges } from "./versions.ts"

export interface CreatedRule {
  readonly id: RuleId
  /** The id is empty on a platform on which the rule is paused. */
  readonly platforms: ReadonlyMap<PlatformId, Registered>
  readonly warnings: ReadonlyMap<PlatformId, ReadonlyArray<Issue>>
}

export interface ChangedRule {
  readonly rule: Rule
  /** Of the filters that were sent. */
  readonly warnings: ReadonlyMap<PlatformId, ReadonlyArray<Issue>>
}

export type ChangeFailure = AddFailure | RuleNotFound | RuleNotReady | RuleVersionChanged | PlatformNotConfigured

/** A malformed id and another account's id fail with `RuleNotFound`, like an unknown one. */
export class Rules extends Context.Tag("core/Rules")<
  Rules,
  {
    /**
     * All or nothing: checks every filter before it stores anything, and rolls back if a platform rejects one. `id`: of the
     * new rule, if the caller has stored it already.
     */
    readonly create: (
      account: AccountId,
      draft: NewRuleDraft & { readonly id?: RuleId }
    ) => Effect.Effect<CreatedRule, InvalidArgument | PlatformNotConfigured | AddFailure>
    /** One page, newest first: the largest that is allowed, unless the query has a limit. */
    readonly list: (account: AccountId, page: RulePage) => Effect.Effect<RuleList, StoreUnavailable>
    readonly get: (account: AccountId, id: string) => Effect.Effect<Rule, RuleNotFound | StoreUnavailable>
    /** Newest first. */
    readonly versions: (
      account: AccountId,
      id: string
    ) => Effect.Effect<ReadonlyArray<RuleVersion>, RuleNotFound | StoreUnavailable>
    /**
     * Changes what the patch names, and nothing if it changes nothing. The platforms hold the new filters before they lose
     * the old ones. If one rejects its filter, the rule stands as it was.
     */
    readonly update: (
      account: AccountId,
      id: string,
      patch: RulePatch
    ) => Effect.Effect<ChangedRule, InvalidArgument | ChangeFailure>
    /** The platforms no longer hold the rule. It keeps its matches. */
    readonly pause: (account: AccountId, id: string) => Effect.Effect<Rule, ChangeFailure>
    readonly resume: (account: AccountId, id: string) => Effect.Effect<ChangedRule, ChangeFailure>
    /** Deletes the rule and its matches. */
    readonly delete: (account: AccountId, id: string) => Effect.Effect<RuleId, RuleNotFound | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Rules, never, RuleChanges | RuleStore | Platforms | DraftingServices> =
    Layer.effect(
      Rules,
      Effect.gen(function* () {
        const changes = yield* RuleChanges
        const store = yield* RuleStore
        const platforms = yield* Platforms
        const quotas = yield* Quotas
        const { limitsOf, withPauses, newRule } = yield* Drafting

        const create = Effect.fn("Rules.create")(function* (
          account: AccountId,
          draft: NewRuleDraft & { readonly id?: RuleId }
        ) {
          const checked = yield* checkDraft({ platforms, quotas }, account, draft)
          const filters: ReadonlyArray<CheckedFilter> =
            draft.paused === true
              ? checked.map((filter) => ({ ...filter, pause: BY_ACCOUNT }))
              : yield* withPauses(account, checked)
          const drafted = yield* newRule(account, draft, filters)
          const rule = draft.id === undefined ? drafted : { ...drafted, id: draft.id }
          const created = (registered: ReadonlyMap<PlatformId, Registered>): CreatedRule => ({
            id: rule.id,
            platforms: new Map(
              filters.map(({ platform, text }) => [
                platform.id,
                registered.get(platform.id) ?? { platformRuleId: "", translatedValue: text }
              ])
            ),
            warnings: warningsOf(filters)
          })
          const limits = yield* limitsOf(account, draft.platforms)
          return yield* changes.add(rule, filters, limits).pipe(answering(created))
        })

        const read = (account: AccountId, text: string) =>
          Effect.gen(function* () {
            const id = asRuleId(text)
            const rule = Option.isNone(id) ? Option.none() : yield* store.find(account, id.value)
            return yield* Option.match(rule, {
              onNone: () => new RuleNotFound({ ruleId: text }),
              onSome: (found) => Effect.succeed(found)
            })
          })

        // Untraced: a span would cost as much as the rest of a short request.
        const list = Effect.fnUntraced(function* (
          account: AccountId,
          { limit = MAX_RULES_PER_PAGE, cursor }: RulePage
        ) {
          const found = yield* store.list(account, { before: Option.fromNullable(cursor), limit: limit + 1 })
          const rules = found.slice(0, limit)
          const last = found.length > limit ? rules.at(-1)?.id : undefined
          return { rules, ...(last !== undefined && { next_cursor: last }) }
        })

        /** Plans a change and makes it. If someone else has changed the rule in between, plans it again. */
        const change = <E>(
          account: AccountId,
          id: string,
          expected: number | undefined,
          plan: (held: ReadonlyArray<StoredRegistration>, rule: Rule) => Effect.Effect<Plan, E>
        ) =>
          Effect.gen(function* () {
            const rule = yield* read(account, id)
            if (expected !== undefined && rule.version !== expected) {
              return yield* new RuleVersionChanged({ ruleId: id, expected, version: rule.version })
            }
            const held = yield* store.registrations(rule.id)
            const planned = yield* plan(held, rule)
            const { ended, paused } = planned
            const details: RuleDetails = Struct.pick({ ...rule, ...planned }, ...RULE_DETAILS)
            const filters = yield* withPauses(account, planned.filters)
            const warnings = warningsOf(filters)
            const isSame =
              RULE_DETAILS.every((field) => details[field] === rule[field]) &&
              filters.length + ended.length + paused.length === 0
            if (isSame) return { rule, warnings }
            const candidate: NewRule = {
              ...(yield* newRule(account, details, filters)),
              candidate: { of: rule.id, purpose: "update" }
            }
            const changed = Effect.map(read(account, id), (rule) => ({ rule, warnings }))
            const replacement = {
              ...(filters.length > 0 && { candidate: { rule: candidate, filters } }),
              limits: yield* limitsOf(account, platformsToJoin(held, planned)),
              change: {
                ...details,
                by: Option.fromNullable((yield* Actor).key),
                expectedVersion: rule.version,
                ended,
                paused,
                candidate: candidate.id,
                added: filters.map(({ platform }) => platform.id)
              }
            }
            return yield* changes.replace(account, rule.id, replacement).pipe(answeringWith(() => changed))
          }).pipe(
            Effect.retry({
              times: CHANGE_ATTEMPTS,
              while: (error) => expected === undefined && error instanceof RuleVersionChanged
            })
          )

        const update = Effect.fn("Rules.update")(function* (account: AccountId, id: string, patch: RulePatch) {
          return yield* change(account, id, patch.expected_version, (held) =>
            Effect.map(
              checkDraft({ platforms, quotas }, account, {
                platforms: platformsToCheck(held, patch),
                overrides: patch.overrides ?? {}
              }),
              (checked) => planUpdate(held, patch, checked)
            )
          )
        })

        const pause = Effect.fn("Rules.pause")(function* (account: AccountId, id: string) {
          return yield* change(account, id, undefined, (held, rule) =>
            rule.shadow === undefined
              ? Effect.succeed(planPause(held))
              : new RuleNotReady({ ruleId: id, reason: "has a shadow: promote or drop it first" })
          ).pipe(answering(({ rule }) => rule))
        })

        const resume = Effect.fn("Rules.resume")(function* (account: AccountId, id: string) {
          return yield* change(account, id, undefined, (held) =>
            Effect.gen(function* () {
              const paused = held.filter((one) => isPausedByAccount(one) || isPausedForMatching(one))
              const filters = yield* Effect.forEach(paused, ({ platform, text }) =>
                Effect.map(platforms.get(platform), (found) => ({ platform: found, text, sent: text, warnings: [] }))
              )
              return { filters, ended: paused.map(({ platform }) => platform), paused: [] }
            })
          )
        })

        const versions = Effect.fn("Rules.versions")(function* (account: AccountId, text: string) {
          const id = asRuleId(text)
          const found = Option.isNone(id) ? [] : yield* store.versions(account, id.value)
          return found.length > 0 ? withChanges(found) : yield* new RuleNotFound({ ruleId: text })
        })

        const remove = Effect.fn("Rules.delete")(function* (account: AccountId, text: string) {
          const id = asRuleId(text)
          if (Option.isNone(id)) return yield* new RuleNotFound({ ruleId: text })
          return yield* changes
            .remove(account, id.value)
            .pipe(
              answeringWith((isRemoved) => (isRemoved ? Effect.succeed(id.value) : new RuleNotFound({ ruleId: text })))
            )
        })

        return Rules.of({ create, list, get: read, versions, update, pause, resume, delete: remove })
      })
    )
}

// ---- helpers ----

/** Concurrent changes of one rule are rare. */
const CHANGE_ATTEMPTS = 5

const isPausedForMatching = isPausedBy("matching")
