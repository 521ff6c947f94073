/** Prepares rules that are to be registered. */
import { Effect, Option, Struct } from "effect"
import { Actor } from "../keys/Key.ts"
import { type AccountId, Ids } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { rulesOn } from "../quotas/Limit.ts"
import { Quotas } from "../quotas/Quotas.ts"
import type { Issue } from "../syntax/issues/issue.ts"
import type { CheckedFilter } from "./checkDraft.ts"
import { Pauses } from "./Pauses.ts"
import { RULE_DETAILS, type RuleDetails } from "./Rule.ts"
import type { LimitPause } from "./RuleStore.ts"

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

/** Its span is the whole filter. */
const pauseWarning = ({ reason }: LimitPause, sent: string): Issue => ({
  severity: "warning",
  code: "paused",
  span: { start: 0, end: sent.length },
  message: `The rule is ${reason}`
})
