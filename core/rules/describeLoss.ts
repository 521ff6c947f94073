/** Describes what a translation loses, with an example for each loss. */
import type { WireTranslation } from "../model/wire.ts"
import { truncated } from "../text/truncated.ts"

type Clause = (typeof WireTranslation.Type)["clauses"][number]

export const isLoss = ({ fidelity }: Clause): boolean => fidelity !== "exact"

export interface Loss {
  readonly clause: Clause
  /** One line for each witness. */
  readonly examples: ReadonlyArray<string>
}

/**
 * The clauses that are left out or differ. Of the two events of a witness the one that shows the difference: what was left
 * out is only in the event of `platform`, for which the filter was written. Each event is shown once.
 */
export const lossesIn = (clauses: ReadonlyArray<Clause>, platform: string): ReadonlyArray<Loss> => {
  const shown = new Set<string>()
  return clauses.filter(isLoss).map((clause) => ({
    clause,
    examples: (clause.witnesses ?? []).map(({ effect, matched_by, events }) => {
      const event = events[clause.fidelity === "impossible" ? platform : matched_by]
      const example = truncated(factsIn(event).join(", "), MAX_EXAMPLE)
      const isRepeated = shown.has(example)
      shown.add(example)
      return `${effect === "wider" ? "the translation also matches" : "the translation misses"}: ${isRepeated ? "the same event" : example}`
    })
  }))
}

// ---- helpers ----

const MAX_EXAMPLE = 200

/** Ids that only connect the parts of an event. */
const LINKING_KEYS: ReadonlySet<string> = new Set([
  "id",
  "author_id",
  "media_key",
  "media_keys",
  "did",
  "collection",
  "rkey"
])

/** Of an account or a record in a distributed network. */
const LINKING_VALUE = /^(?:did:[a-z]+:|at:\/\/)\S+$/

/** The values of an event without its structure: `text "moon"`, `username "someone"`. */
const factsIn = (value: unknown, key = ""): ReadonlyArray<string> => {
  if (LINKING_KEYS.has(key) || (typeof value === "string" && LINKING_VALUE.test(value))) return []
  if (Array.isArray(value)) return value.flatMap((item) => factsIn(item, key))
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, item]) => factsIn(item, LINKING_VALUE.test(name) ? key : name))
  }
  return [`${key} ${JSON.stringify(value)}`]
}
