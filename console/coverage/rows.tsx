/** The timelines of the page: of each platform, and of each rule that has gaps of its own. */
import { Link } from "wouter-preact"
import type { Rule } from "../client.ts"
import { gapsIn, type Period, type PlatformCoverage } from "./coverage.ts"
import type { TimelineRow } from "./Timeline.tsx"

export const rowsOf = ({
  platforms,
  rules,
  ruleId,
  period
}: {
  readonly platforms: ReadonlyArray<PlatformCoverage>
  readonly rules: ReadonlyArray<Rule>
  /** If only one rule was asked for, all gaps are of that rule. */
  readonly ruleId: string | undefined
  readonly period: Period
}): ReadonlyArray<TimelineRow> =>
  platforms.flatMap((coverage): ReadonlyArray<TimelineRow> => {
    const { platform, gaps } = coverage
    if (ruleId !== undefined)
      return [{ key: platform, name: platform, coverage: { ...coverage, gaps: gaps.map(asOfPlatform) } }]
    const withGaps = new Set(gapsIn(coverage, period).map((gap) => gap.ruleId))
    return [
      {
        key: platform,
        name: platform,
        coverage: { ...coverage, gaps: gaps.filter(({ rule_id }) => rule_id === undefined) }
      },
      ...rules
        .filter(({ id }) => withGaps.has(id))
        .map((rule) => ({
          key: `${platform} ${rule.id}`,
          name: (
            <>
              {platform}, only <Link href={`/coverage?rule=${rule.id}`}>{rule.name}</Link>
            </>
          ),
          coverage: ofRule(coverage, rule)
        }))
    ]
  })

// ---- helpers ----

type Gap = PlatformCoverage["gaps"][number]

/** The gaps of the platform since the rule was created, and those of the rule alone. */
const ofRule = (coverage: PlatformCoverage, { id, created_at }: Rule): PlatformCoverage => ({
  ...coverage,
  ...(coverage.watched_since !== undefined && {
    watched_since: created_at > coverage.watched_since ? created_at : coverage.watched_since
  }),
  gaps: coverage.gaps
    .filter(({ rule_id, to }) => (rule_id === undefined || rule_id === id) && (to === undefined || to > created_at))
    .map(asOfPlatform)
})

/** In the timeline of a rule, its own gaps count like those of the platform. */
const asOfPlatform = ({ rule_id: _, ...gap }: Gap): Gap => gap
