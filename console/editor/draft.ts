/** A rule while it is written, and what of it to send. */
import type { Rule } from "../client.ts"

export interface Draft {
  readonly name: string
  readonly intent: string
  /** In the order in which they were chosen. */
  readonly platforms: ReadonlyArray<string>
  /** Also of platforms that are not chosen: choosing one again brings its filter back. */
  readonly filters: Readonly<Record<string, string>>
}

/** A draft with the version of the rule that it changes; none for a new rule. */
export interface Work {
  readonly draft: Draft
  readonly version?: number
}

export const emptyDraft = (platform: string | undefined): Draft => ({
  name: "",
  intent: "",
  platforms: platform === undefined ? [] : [platform],
  filters: {}
})

export const draftOf = ({ name, intent, platforms }: Rule): Draft => ({
  name,
  intent,
  platforms: Object.keys(platforms),
  filters: Object.fromEntries(Object.entries(platforms).map(([id, { translated_value }]) => [id, translated_value]))
})

export const filterOf = ({ filters }: Draft, platform: string): string => filters[platform] ?? ""

export const withFilter = (draft: Draft, platform: string, text: string): Draft => ({
  ...draft,
  filters: { ...draft.filters, [platform]: text }
})

/** Also chooses the platform. */
export const withTranslation = (draft: Draft, platform: string, text: string): Draft =>
  withFilter(draft.platforms.includes(platform) ? draft : withPlatform(draft, platform, true), platform, text)

export const withPlatform = (draft: Draft, platform: string, isChosen: boolean): Draft => ({
  ...draft,
  platforms: isChosen ? [...draft.platforms, platform] : draft.platforms.filter((id) => id !== platform)
})

/** The platforms that still need a filter. */
export const withoutFilter = (draft: Draft): ReadonlyArray<string> =>
  draft.platforms.filter((platform) => filterOf(draft, platform).trim() === "")

export const toCreate = (draft: Draft) => ({
  name: draft.name.trim(),
  intent: draft.intent.trim(),
  platforms: [...draft.platforms],
  overrides: filtersOf(draft)
})

/** Only what differs: filters that are sent are registered again. */
export const toUpdate = (rule: Rule, draft: Draft) => {
  const [before, after] = [toCreate(draftOf(rule)), toCreate(draft)]
  const overrides = Object.entries(after.overrides).filter(([id, text]) => before.overrides[id] !== text)
  return {
    rule_id: rule.id,
    ...(after.name !== before.name && { name: after.name }),
    ...(after.intent !== before.intent && { intent: after.intent }),
    ...(!isSameSet(before.platforms, after.platforms) && { platforms: after.platforms }),
    ...(overrides.length > 0 && { overrides: Object.fromEntries(overrides) })
  }
}

export const isSame = (one: Draft, other: Draft): boolean => {
  const [a, b] = [toCreate(one), toCreate(other)]
  return (
    a.name === b.name &&
    a.intent === b.intent &&
    isSameSet(a.platforms, b.platforms) &&
    a.platforms.every((platform) => a.overrides[platform] === b.overrides[platform])
  )
}

/** Undefined for a text that is not a stored draft. */
export const readWork = (stored: string | null): Work | undefined => {
  try {
    const work: unknown = JSON.parse(stored ?? "null")
    return isWork(work) ? work : undefined
  } catch {
    return undefined
  }
}

// ---- helpers ----

const filtersOf = (draft: Draft): Record<string, string> =>
  Object.fromEntries(draft.platforms.map((platform) => [platform, filterOf(draft, platform).trim()]))

const isSameSet = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.length === other.length && one.every((platform) => other.includes(platform))

const isWork = (work: unknown): work is Work =>
  typeof work === "object" &&
  work !== null &&
  "draft" in work &&
  isDraft(work.draft) &&
  (!("version" in work) || typeof work.version === "number")

const isDraft = (draft: unknown): draft is Draft =>
  typeof draft === "object" &&
  draft !== null &&
  "name" in draft &&
  typeof draft.name === "string" &&
  "intent" in draft &&
  typeof draft.intent === "string" &&
  "platforms" in draft &&
  Array.isArray(draft.platforms) &&
  draft.platforms.every((platform) => typeof platform === "string") &&
  "filters" in draft &&
  typeof draft.filters === "object" &&
  draft.filters !== null &&
  Object.values(draft.filters).every((text) => typeof text === "string")
