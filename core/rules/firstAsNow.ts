/** Since when a rule has its present filters. */
import type { PlatformId } from "../model/PlatformId.ts"
import type { RuleVersion } from "./Rule.ts"

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
