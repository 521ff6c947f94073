/** One rule in the list: where it is watched, how much it finds, and whether anything was missed. */
import { Link } from "wouter-preact"
import type { Rule } from "../client.ts"
import { CoverageBar } from "../coverage/CoverageBar.tsx"
import { byPlatform } from "../parts/platformName.ts"
import { Sparkline } from "../parts/Sparkline.tsx"
import { PlatformState } from "./PlatformState.tsx"
import type { Activity } from "./useActivity.ts"

export const RuleRow = ({ rule, activity }: { readonly rule: Rule; readonly activity: Activity | undefined }) => (
  <li class="row rule-row">
    <div class="row-main">
      <Link href={`/rules/${rule.id}`} class="row-title">
        {rule.name}
      </Link>
      <p class="quiet clipped">{rule.intent}</p>
    </div>
    <div class="rule-volume">
      {activity !== undefined && (
        <>
          <Sparkline counts={activity.counts} label={`${activity.total} matches in the last 24 hours, per hour`} />
          <Link href={`/matches?rule=${rule.id}`}>
            {activity.total.toLocaleString()} {activity.total === 1 ? "match" : "matches"}
            <span class="unseen"> of {rule.name} in the last 24 hours</span>
          </Link>
          <span class="quiet">{describeLast(activity)}</span>
        </>
      )}
    </div>
    <ul class="rule-platforms">
      {byPlatform(rule.platforms).map(([platform, registration]) => {
        const coverage = activity?.coverage.find((one) => one.platform === platform)
        return (
          <li key={platform}>
            <PlatformState platform={platform} registration={registration} />
            {coverage === undefined ? <span class="coverage" /> : <CoverageBar coverage={coverage} />}
          </li>
        )
      })}
    </ul>
  </li>
)

// ---- helpers ----

const describeLast = ({ counts }: Activity): string => {
  const hours = counts.toReversed().findIndex((count) => count > 0)
  return hours === -1 ? "none in 24 hours" : `last one less than ${hours + 1} h ago`
}
