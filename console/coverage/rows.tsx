/** The timelines of the page: of each platform, and of each rule that has gaps of its own. */
import { Link } from "wouter-preact"
import type { Rule } from "../client.ts"
import { platformName } from "../parts/platformName.ts"
import { asOfPlatform, coverageOfRule, gapsIn, type Period, type PlatformCoverage } from "./coverage.ts"
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
      return [{ key: platform, name: platformName(platform), coverage: { ...coverage, gaps: gaps.map(asOfPlatform) } }]
    const withGaps = new Set(gapsIn(coverage, period).map((gap) => gap.ruleId))
    return [
      { key: platform, name: platformName(platform), coverage },
      ...rules
        .filter(({ id }) => withGaps.has(id))
        .map((rule) => ({
          key: `${platform} ${rule.id}`,
          name: (
            <>
              {platformName(platform)}, only <Link href={`/coverage?rule=${rule.id}`}>{rule.name}</Link>
            </>
          ),
          coverage: coverageOfRule(coverage, rule)
        }))
    ]
  })
