/** Plans changes of a rule: which registrations begin and which end. */
import { Struct } from "effect"
import type { PlatformId } from "../model/PlatformId.ts"
import type { CheckedFilter } from "./Drafting.ts"
import { RULE_DETAILS, type RuleDetails, type RulePatch } from "./Rule.ts"
import { isPausedByAccount, type RuleChange, type StoredRegistration } from "./RuleStore.ts"

/** A change of a rule. See `RuleChange`. */
export interface Plan extends Pick<RuleChange, "ended" | "paused">, Pick<RulePatch, keyof RuleDetails> {
  /** To register. */
  readonly filters: ReadonlyArray<CheckedFilter>
}

/** The platforms of the changed rule whose filters are in the patch, or should be: it has none there yet. */
export const platformsToCheck = (
  held: ReadonlyArray<StoredRegistration>,
  patch: RulePatch
): ReadonlyArray<PlatformId> => {
  const filters = textsOf(held)
  return platformsAfter(held, patch).filter((id) => !filters.has(id) || patch.overrides?.[id] !== undefined)
}

/** `checked`: the filters on `platformsToCheck`. A paused rule stays paused with them. */
export const planUpdate = (
  held: ReadonlyArray<StoredRegistration>,
  patch: RulePatch,
  checked: ReadonlyArray<CheckedFilter>
): Plan => {
  const texts = textsOf(held)
  const platforms = platformsAfter(held, patch)
  const changed = checked.filter(({ platform, text }) => texts.get(platform.id) !== text)
  const isPaused = held.some(isPausedByAccount)
  return {
    ...Struct.pick(patch, ...RULE_DETAILS),
    filters: isPaused ? [] : changed,
    paused: isPaused ? changed.map(({ platform, text }) => ({ platform: platform.id, text })) : [],
    ended: [...texts.keys()].filter(
      (id) => !platforms.includes(id) || changed.some(({ platform }) => platform.id === id)
    )
  }
}

export const planPause = (held: ReadonlyArray<StoredRegistration>): Plan => {
  const watched = held.filter((one) => !isPausedByAccount(one))
  return {
    filters: [],
    ended: watched.map(({ platform }) => platform),
    paused: watched.map(({ platform, text }) => ({ platform, text }))
  }
}

/** The platforms on which the account needs a free place for the plan: it has none for a paused filter. */
export const platformsToJoin = (
  held: ReadonlyArray<StoredRegistration>,
  { filters }: Plan
): ReadonlyArray<PlatformId> => {
  const counted = new Set(held.flatMap((one) => (isPausedByAccount(one) ? [] : [one.platform])))
  return filters.map(({ platform }) => platform.id).filter((id) => !counted.has(id))
}

// ---- helpers ----

const textsOf = (held: ReadonlyArray<StoredRegistration>): ReadonlyMap<PlatformId, string> =>
  new Map(held.map(({ platform, text }) => [platform, text]))

const platformsAfter = (held: ReadonlyArray<StoredRegistration>, patch: RulePatch): ReadonlyArray<PlatformId> =>
  patch.platforms ?? held.map(({ platform }) => platform)
