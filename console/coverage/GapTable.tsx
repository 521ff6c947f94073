/** The gaps as a table: to read, and to copy. */
import { Link } from "wouter-preact"
import type { Rule } from "../client.ts"
import { duration } from "../parts/duration.ts"
import { platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { gapsIn, KINDS, type Period, type PlatformCoverage } from "./coverage.ts"

export const GapTable = ({
  platforms,
  period,
  rules
}: {
  readonly platforms: ReadonlyArray<PlatformCoverage>
  readonly period: Period
  readonly rules: ReadonlyArray<Rule>
}) => {
  const rows = platforms
    .flatMap((coverage) => gapsIn(coverage, period).map((gap) => ({ ...gap, platform: coverage.platform })))
    .sort((a, b) => b.from - a.from)
  if (rows.length === 0) return <p class="quiet">No gaps in this period.</p>
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach it */}
      <section class="scrolled" tabIndex={0} aria-label="Gaps">
        <table class="gaps">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">Duration</th>
              <th scope="col">Where</th>
              <th scope="col">Cause</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, platform, ruleId, kind, isOpen, from, to, cause }) => (
              <tr key={key}>
                <td>
                  <span class={`swatch gap ${kind}`} /> {KINDS[kind]}
                </td>
                <td data-name="From">
                  <Time at={new Date(from).toISOString()} form="full" />
                </td>
                <td data-name="To">{isOpen ? "still open" : <Time at={new Date(to).toISOString()} form="full" />}</td>
                <td data-name="Duration">{duration(to - from)}</td>
                <td data-name="Where">
                  {platformName(platform)}
                  {ruleId !== undefined && (
                    <>
                      , only{" "}
                      <Link href={`/rules/${ruleId}`}>{rules.find(({ id }) => id === ruleId)?.name ?? ruleId}</Link>
                    </>
                  )}
                </td>
                <td class="cause" data-name="Cause">
                  {cause}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {platforms.some(({ more_gaps }) => more_gaps) && (
        <p class="quiet">Only the newest gaps are listed. To see others, choose a rule or a shorter period.</p>
      )}
    </>
  )
}
