/** The coverage of all rules of the account, or of one rule, since a time. */
import { useQuery } from "@tanstack/react-query"
import type { Answers } from "../client.ts"
import { problemOf, useTRPC, useTRPCClient } from "../client.ts"
import { cursorAt } from "./matchCursor.ts"
import { LENGTHS, type PeriodName, STEP_MILLIS } from "./period.ts"

export type Coverage = Answers["matches"]["wait"]["coverage"]

export const useCoverage = ({
  ruleId,
  period
}: {
  readonly ruleId: string | undefined
  readonly period: PeriodName
}) => {
  const client = useTRPCClient()
  return useQuery({
    queryKey: [...useTRPC().matches.wait.queryKey(), ruleId, period],
    // Waiting for matches is the one query that gives the coverage since a time of choice. It ends with the first match.
    queryFn: async ({ signal }): Promise<Coverage> => {
      const since = async (time: number) => {
        const query = { ...(ruleId !== undefined && { rule_id: ruleId }), cursor: cursorAt(time) }
        const { coverage } = await client.matches.wait.query({ ...query, limit: 1, timeout_seconds: 1 }, { signal })
        return coverage
      }
      try {
        return await since(Date.now() - LENGTHS[period])
      } catch (error) {
        const floor = floorIn(error)
        if (floor === undefined) throw error
        return startingAt(await since(floor + 1), new Date(floor).toISOString())
      }
    },
    refetchInterval: STEP_MILLIS
  })
}

// ---- helpers ----

/** What was before is not known to have been watched: its gaps are not listed. */
const startingAt = (coverage: Coverage, start: string): Coverage => ({
  ...coverage,
  platforms: coverage.platforms.map((platform) =>
    platform.watched_since !== undefined && platform.watched_since < start
      ? { ...platform, watched_since: start }
      : platform
  )
})

/** Matches from before this time are deleted, if that is the error. */
const floorIn = (error: unknown): number | undefined => {
  const { code, details } = problemOf(error)
  if (code !== "failed_precondition" || typeof details !== "object" || details === null) return undefined
  return "floor" in details && typeof details.floor === "string" ? Date.parse(details.floor) : undefined
}
