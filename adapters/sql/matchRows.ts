/** Rows of matches and redactions, as the statements of `SqlMatchStore` return them. */
import type { Match, RedactedMatch, RedactionReason } from "../../core/matches/Match.ts"
import type { Change, Page } from "../../core/matches/MatchStore.ts"
import { fromUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate } from "../../core/model/Timestamp.ts"

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
  readonly payload: Record<string, unknown> | null
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
  payload: row.payload,
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

type FullRow = MatchRow & { readonly payload: Record<string, unknown> }

const isOnPage = (row: MatchRow): row is FullRow => row.payload !== null

const redactedOf = ({ redacted_at, redacted_reason }: MatchRow): Pick<RedactedMatch, "redacted"> | undefined =>
  redacted_at === null || redacted_reason === null
    ? undefined
    : { redacted: { at: fromDate(redacted_at), reason: redacted_reason } }
