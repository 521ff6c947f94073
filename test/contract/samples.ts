/** Accounts, rules and matches for tests. Every call makes new ones, so tests can share a store. */
import { Effect, Option } from "effect"
import { v7 } from "uuid"
import { KeyStore, type NewKey } from "../../core/keys/KeyStore.ts"
import type { Match } from "../../core/matches/Match.ts"
import { type AccountId, fromUuid, type RuleId } from "../../core/model/Ids.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import { type NewRule, RuleStore } from "../../core/rules/RuleStore.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import { Payload, toJson } from "../../core/matches/Payload.ts"
import type { JsonObject } from "../../core/text/json.ts"

/** Minutes after midnight of a fixed day. */
export const at = (minutes: number): Timestamp => fromDate(new Date(Date.UTC(2025, 0, 1, 0, minutes, 0, minutes)))

export const newKey = (overrides: Partial<NewKey> = {}): NewKey => ({
  id: fromUuid("key", v7()),
  accountId: fromUuid("acct", v7()),
  name: "a key",
  scope: "admin",
  hint: "es_abcde…",
  digest: `digest ${v7()}`,
  createdAt: at(0),
  expiresAt: Option.none(),
  ...overrides
})

/** The page with the newest rules. */
export const FIRST_RULES = { before: Option.none(), limit: 100 }

/** Stored in the key store. */
export const newAccount = Effect.gen(function* () {
  const keys = yield* KeyStore
  return yield* keys.account({ id: fromUuid("acct", v7()), name: `account ${v7()}`, createdAt: at(0) })
})

export const newRule = (accountId: AccountId, overrides: Partial<NewRule> = {}): NewRule => ({
  id: fromUuid("rule", v7()),
  accountId,
  name: "Cats",
  intent: "Know about cats",
  createdAt: at(1),
  filters: PLATFORM_IDS.map((platform) => ({ platform, text: `cat ${v7()}` })),
  ...overrides
})

export const noLimits: ReadonlyMap<PlatformId, number> = new Map()

export const registeredOf = (rule: NewRule) =>
  new Map(
    rule.filters.map(({ platform, text }) => [
      platform,
      { platformRuleId: `${platform} of ${rule.id}`, translatedValue: `${text} (translated)` }
    ])
  )

export const visibleRule = (accountId: AccountId, overrides: Partial<NewRule> = {}) =>
  Effect.gen(function* () {
    const rules = yield* RuleStore
    const rule = newRule(accountId, overrides)
    yield* rules.reserve(rule, noLimits)
    yield* rules.activate(rule.id, registeredOf(rule), at(2))
    return rule
  })

export const newMatch = (
  rule_id: RuleId,
  { payload = A_CAT, ...others }: Partial<Omit<Match, "payload">> & { readonly payload?: JsonObject } = {}
): Match => ({
  id: fromUuid("match", v7()),
  rule_id,
  rule_version: 1,
  created_at: at(3),
  platform: "x",
  platform_post_id: v7(),
  payload: Payload.of(payload),
  ...others
})

/** What clients get. Stores may change the spaces in payloads and the order of their fields. */
export const sent = (matches: ReadonlyArray<Match>): ReadonlyArray<unknown> => JSON.parse(toJson(matches))

// ---- helpers ----

const A_CAT = { text: "a cat", nested: { list: [1, "two", null, true] } }
