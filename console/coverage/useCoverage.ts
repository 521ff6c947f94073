/** The coverage of all rules of the account, or of one rule, in a period that ends now. */
import { useQuery } from "@tanstack/react-query"
import { useTRPC } from "../client.ts"
import type { Period } from "./coverage.ts"
import { LENGTHS, type PeriodName, STEP_MILLIS } from "./period.ts"
import { firstBarOf, type Histogram } from "./volume.ts"

export type Coverage = Histogram["coverage"] & {
  /** When the oldest match was found, which may be one of a deleted rule. */
  readonly firstMatch: Period | undefined
}

export const useCoverage = ({
  ruleId,
  period
}: {
  readonly ruleId: string | undefined
  readonly period: PeriodName
}) => {
  const from = Math.floor((Date.now() - LENGTHS[period]) / HOUR_MILLIS) * HOUR_MILLIS
  return useQuery(
    useTRPC().matches.histogram.queryOptions(
      { ...(ruleId !== undefined && { rule_id: ruleId }), from: new Date(from).toISOString() },
      {
        refetchInterval: STEP_MILLIS,
        placeholderData: (previous) => previous,
        select: (found): Coverage => ({ ...found.coverage, firstMatch: firstBarOf(found) })
      }
    )
  )
}

// ---- helpers ----

/** The start of a query does not move with every drawing. */
const HOUR_MILLIS = 3_600_000
