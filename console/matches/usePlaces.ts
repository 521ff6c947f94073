/** The matched words of a match in the list. Computed while the browser is idle, and kept with the match. */
import { useEffect, useState } from "preact/hooks"
import type { Match, Rule } from "../client.ts"
import type { Place } from "./marks.ts"

/** Empty until they are known. */
export const usePlaces = (match: Match, rule: Rule | undefined): ReadonlyArray<Place> => {
  const [places, setPlaces] = useState(() => known.get(match) ?? NONE)
  const filter = filterOf(match, rule)
  useEffect(() => {
    if (filter === undefined || known.has(match)) return
    let isWanted = true
    whenIdle(async () => {
      if (!isWanted) return
      // Without a server nothing is marked, until the page is loaded again.
      const loaded = await import("./findPlaces.ts").catch(() => undefined)
      if (!isWanted || loaded === undefined) return
      const found = loaded.findPlaces(match, filter)
      known.set(match, found)
      if (found.length > 0) setPlaces(found)
    })
    return () => {
      isWanted = false
    }
  }, [match, filter])
  return match.redacted === undefined ? places : NONE
}

// ---- helpers ----

const NONE: ReadonlyArray<Place> = []

const known = new WeakMap<Match, ReadonlyArray<Place>>()

/** The rule's filter, if it is still the one that matched. */
const filterOf = ({ platform, rule_version, redacted }: Match, rule: Rule | undefined): string | undefined =>
  redacted === undefined && rule?.version === rule_version ? rule.platforms[platform]?.translated_value : undefined

/** Safari has no idle callbacks. */
const whenIdle = (work: () => void): void => {
  if ("requestIdleCallback" in window) window.requestIdleCallback(work, { timeout: 1_000 })
  else setTimeout(work, 50)
}
