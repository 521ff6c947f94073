/** The matches of the last hours and the coverage of every rule, in one query. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { type Rule, useTRPC } from "../client.ts"
import { coverageOfRule, type PlatformCoverage } from "../coverage/coverage.ts"

export interface Activity {
  /** Matches per hour, oldest first. */
  readonly counts: ReadonlyArray<number>
  readonly total: number
  readonly coverage: ReadonlyArray<PlatformCoverage>
}

/** Undefined while it is loading. */
export const useActivity = (): ((rule: Rule) => Activity) | undefined => {
  const { data } = useQuery(
    useTRPC().matches.histogram.queryOptions(
      { by: "rule" },
      { refetchInterval: REFRESH_MILLIS, placeholderData: keepPreviousData }
    )
  )
  if (data === undefined) return undefined
  const series = new Map(data.series.map((one) => [one.rule_id, one]))
  return (rule) => ({
    counts: [],
    total: 0,
    ...series.get(rule.id),
    coverage: data.coverage.platforms
      .filter(({ platform }) => platform in rule.platforms)
      .map((coverage) => coverageOfRule(coverage, rule))
  })
}

// ---- helpers ----

const REFRESH_MILLIS = 10_000
