/** What is not watched at the moment, beside a list of matches. */
import { Link } from "wouter-preact"
import { counted } from "../../core/text/counted.ts"
import type { Answers, Rule } from "../client.ts"
import { platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { openGapsIn } from "./tail.ts"

export const OpenGaps = ({
  coverage,
  rules
}: {
  readonly coverage: Answers["matches"]["list"]["coverage"]
  /** By id. */
  readonly rules: ReadonlyMap<string, Rule>
}) => {
  const gaps = openGapsIn(coverage)
  return (
    <>
      {gaps.slice(0, MAX_GAPS).map(({ platform, ruleId, since, detail }) => (
        <p class="card warning match-gap" role="status" key={platform + ruleId + since}>
          {ruleId !== undefined && `The rule "${rules.get(ruleId)?.name ?? ruleId}" has not been watched on `}
          {platformName(platform)}
          {ruleId === undefined && " has not been watched"} since <Time at={since} />: {detail}. New matches may be
          missing. <Link href="/coverage">Coverage</Link>
        </p>
      ))}
      {gaps.length > MAX_GAPS && (
        <p class="card warning match-gap" role="status">
          {counted(gaps.length - MAX_GAPS, "more open gap")}. <Link href="/coverage">Coverage</Link>
        </p>
      )}
    </>
  )
}

// ---- helpers ----

/** Of many gaps only the first are shown: of single rules there may be hundreds. */
const MAX_GAPS = 3
