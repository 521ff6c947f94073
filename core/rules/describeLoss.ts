/** Describes what a translation loses, with an example for each loss. */
import type { WireTranslation } from "../model/wire.ts"
import { truncated } from "../text/truncated.ts"

type Clause = (typeof WireTranslation.Type)["clauses"][number]

export const isLoss = ({ fidelity }: Clause): boolean => fidelity !== "exact"

/**
 * One line for each witness. Of its two events the one that shows the difference: what was left out is only in the event
 * of `platform`, for which the filter was written.
 */
export const describeWitnesses = ({ fidelity, witnesses = [] }: Clause, platform: string): ReadonlyArray<string> =>
  witnesses.map(({ effect, matched_by, events }) => {
    const event = events[fidelity === "impossible" ? platform : matched_by]
    const example = truncated(factsIn(event).join(", "), MAX_EXAMPLE)
    return `${effect === "wider" ? "the translation also matches" : "the translation misses"}: ${example}`
  })

// ---- helpers ----

const MAX_EXAMPLE = 200

/** Ids that only connect the parts of an event. */
const LINKING_KEYS: ReadonlySet<string> = new Set(["id", "author_id", "media_key", "media_keys"])

/** The values of an event without its structure: `text "moon"`, `username "someone"`. */
const factsIn = (value: unknown, key = ""): ReadonlyArray<string> => {
  if (LINKING_KEYS.has(key)) return []
  if (Array.isArray(value)) return value.flatMap((item) => factsIn(item, key))
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, item]) => factsIn(item, name))
  }
  return [`${key} ${JSON.stringify(value)}`]
}
