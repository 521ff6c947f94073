/** Matches as parameters of an insert. */
import { Option } from "effect"
import type { Match } from "../../core/matches/Match.ts"
import { toUuid } from "../../core/model/Ids.ts"
import { storableJson } from "./storable.ts"

/** A list of matches, with its smallest and largest id. */
export interface Records {
  readonly json: string
  readonly first: string
  readonly last: string
}

export interface Encoded {
  readonly match: Match
  readonly json: string
}

/**
 * Divides matches so that no statement takes long, in the order of their ids. Encodes them one batch at a time. There is
 * at least one batch, even without matches.
 */
export function* batchesOf(
  matches: ReadonlyArray<Match>
): Generator<{ readonly batch: ReadonlyArray<Encoded>; readonly isLast: boolean }> {
  let batch: Array<Encoded> = []
  let size = 0
  for (const match of [...matches].sort(byId)) {
    const json = toRecord(match)
    if (batch.length === MAX_BATCH_ROWS || (batch.length > 0 && size + json.length > MAX_BATCH_SIZE)) {
      yield { batch, isLast: false }
      batch = []
      size = 0
    }
    batch.push({ match, json })
    size += json.length
  }
  yield { batch, isLast: true }
}

/** `batch` is in the order of ids. None if it is empty. */
export const recordsOf = (batch: ReadonlyArray<Encoded>): Option.Option<Records> => {
  const first = batch[0]
  const last = batch.at(-1)
  if (first === undefined || last === undefined) return Option.none()
  return Option.some({
    json: `[${batch.map(({ json }) => json).join()}]`,
    first: toUuid(first.match.id),
    last: toUuid(last.match.id)
  })
}

// ---- helpers ----

/** In characters. */
const MAX_BATCH_SIZE = 1_048_576

/** As many as the events of a batch: more only if events match several rules. */
const MAX_BATCH_ROWS = 500

const byId = (one: Match, other: Match): number => (one.id < other.id ? -1 : 1)

/** As JSON. Joined from its parts to know the size of the payload. */
const toRecord = ({ payload, ...match }: Match): string => {
  const rest = storableJson({ ...match, id: toUuid(match.id), rule_id: toUuid(match.rule_id) })
  const json = storableJson(payload)
  return `${rest.slice(0, -1)},"payload":${json},"bytes":${Buffer.byteLength(json)}}`
}
