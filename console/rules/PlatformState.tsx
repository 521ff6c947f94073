/** Whether a platform watches for a rule. */
import type { Rule } from "../client.ts"
import { platformName } from "../parts/platformName.ts"

export type Registration = Rule["platforms"][string]

export const PlatformState = ({
  platform,
  registration
}: {
  readonly platform: string
  readonly registration: Registration
}) => (
  <span class={`state ${registration.state}`} title={registration.reason ?? MEANINGS[registration.state]}>
    {platformName(platform)}
    <span class="state-word">{registration.state}</span>
  </span>
)

// ---- helpers ----

const MEANINGS: Readonly<Record<Registration["state"], string>> = {
  pending: "The platform is not watching for this rule yet",
  active: "The rule is registered on the platform",
  removing: "The rule is being removed from the platform",
  failed: "The platform rejected the rule",
  paused: "The rule is paused"
}
