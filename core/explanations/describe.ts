/** Describes hits per clause in words, for the command line and the agent tools. */
import type { PlatformId } from "../model/PlatformId.ts"
import { counted } from "../text/counted.ts"
import type { FilterHits } from "./Hits.ts"

/** `show` prepares the text of a filter. The lines have no text of events. */
export const describeHits = (
  platform: PlatformId,
  { filter, state, basis, tested, matched, clauses, note }: FilterHits,
  show: (text: string) => string
): ReadonlyArray<string> => [
  `On ${platform}, ${matched} of the newest ${counted(tested, "event")} match ${show(filter)}`,
  ...clauses.map(
    ({ text, negated, held, blocked }) =>
      `- ${show(text)} ${held} of ${tested}${negated ? ", which the filter excludes" : ""}${blocked === 0 ? "" : `; ${counted(blocked, "event")} missed because of this clause alone`}`
  ),
  ...(state === "active" ? [] : [`The rule is ${state} on ${platform}: list the rules to see why`]),
  ...(basis === "matched_events"
    ? [`${platform} sends only events that match some rule of this server, so others could not be tested`]
    : []),
  ...(note === undefined ? [] : [note])
]
