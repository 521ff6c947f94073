/** What changed from one version of a rule to the next. */
import { RULE_DETAILS, type RuleVersion } from "./Rule.ts"
import type { StoredVersion } from "./RuleStore.ts"

/** Newest first. */
export const withChanges = (versions: ReadonlyArray<StoredVersion>): ReadonlyArray<RuleVersion> =>
  versions.map((version, index) => ({ ...version, changed: changesOf(version, versions[index + 1]) }))

// ---- helpers ----

const changesOf = (version: StoredVersion, before: StoredVersion | undefined): ReadonlyArray<string> => {
  if (before === undefined) return []
  const platforms = new Set([...Object.keys(version.overrides), ...Object.keys(before.overrides)])
  return [
    ...([...RULE_DETAILS, "paused"] as const).filter((field) => version[field] !== before[field]),
    ...[...platforms]
      .filter((platform) => version.overrides[platform] !== before.overrides[platform])
      .map((platform) => `overrides.${platform}`)
  ]
}
