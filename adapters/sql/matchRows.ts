/** Matches as rows: as parameters of an insert, and as the statements of `SqlMatchStore` return them. */
import { Option } from "effect"
import type { Match, RedactedMatch, RedactionReason } from "../../core/matches/Match.ts"
import type { Change, Page } from "../../core/matches/MatchStore.ts"
import { Payload } from "../../core/matches/Payload.ts"
import { fromUuid, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate } from "../../core/model/Timestamp.ts"
import { storable, storableJson } from "./parameters.ts"

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

export interface MatchRow {
  readonly id: string
  readonly rule_id: string
  readonly account_id: string
  readonly rule_version: number
  readonly reapplied: boolean
  readonly created_at: Date
  readonly platform: PlatformId
  readonly platform_post_id: string
  /** Null beyond the end of the page. */
  readonly payload: string | null
  /** The size of the payload. */
  readonly bytes: number
  readonly redacted_at: Date | null
  readonly redacted_reason: RedactionReason | null
  /** Of a redaction: the match that it redacts. */
  readonly match_id: string | null
}

export const toPage = <A>(rows: ReadonlyArray<MatchRow>, limit: number, toItem: (row: FullRow) => A): Page<A> => {
  const found = rows.slice(0, limit).filter(isOnPage)
  return {
    items: found.map(toItem),
    hasMore: found.length < rows.length,
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

export const toMatch = (row: FullRow): Match => ({
  id: fromUuid("match", row.id),
  rule_id: fromUuid("rule", row.rule_id),
  rule_version: row.rule_version,
  created_at: fromDate(row.created_at),
  platform: row.platform,
  platform_post_id: row.platform_post_id,
  payload: new Payload(row.payload),
  ...(row.reapplied && { reapplied: true as const }),
  ...redactedOf(row)
})

export const toChange = (row: FullRow): Change => {
  const id = fromUuid("match", row.id)
  const redacted = redactedOf(row)
  return row.match_id === null || redacted === undefined
    ? { _tag: "Matched", id, match: toMatch(row) }
    : { _tag: "Redacted", id, match: { ...toMatch({ ...row, id: row.match_id }), ...redacted } }
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
  const json = storable(payload.text)
  return `${rest.slice(0, -1)},"payload":${json},"bytes":${Buffer.byteLength(json)}}`
}

type FullRow = MatchRow & { readonly payload: string }

const isOnPage = (row: MatchRow): row is FullRow => row.payload !== null

const redactedOf = ({ redacted_at, redacted_reason }: MatchRow): Pick<RedactedMatch, "redacted"> | undefined =>
  redacted_at === null || redacted_reason === null
    ? undefined
    : { redacted: { at: fromDate(redacted_at), reason: redacted_reason } }
