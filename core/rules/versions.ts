/** The versions of a rule: what changed from one to the next, and since when its filters are as they are. */
import type { PlatformId } from "../model/PlatformId.ts"
import { RULE_DETAILS, type RuleVersion } from "./Rule.ts"
import type { StoredVersion } from "./RuleStore.ts"

/** Newest first. */
export const withChanges = (versions: ReadonlyArray<StoredVersion>): ReadonlyArray<RuleVersion> =>
  versions.map((version, index) => ({ ...version, changed: changesOf(version, versions[index + 1]) }))

/** The first version since which the filters on these platforms are as they are now. `versions`: newest first. */
export const firstAsNow = <V extends Pick<RuleVersion, "overrides">>(
  versions: ReadonlyArray<V>,
  platforms: ReadonlyArray<PlatformId>
): V | undefined => {
  const [now] = versions
  const isChanged = ({ overrides }: V) => platforms.some((id) => overrides[id] !== now?.overrides[id])
  const changed = versions.findIndex(isChanged)
  return versions.at(changed === -1 ? -1 : changed - 1)
}

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
