/** Differences between the wanted rules and those that the platform holds, and what is done about them. */

import { counted } from "../../core/text/counted.ts"
import type { PlatformStatus } from "../client.ts"
import { Time } from "../parts/Time.tsx"

export const Drift = ({ rules: { drift, error } }: { readonly rules: PlatformStatus["rules"] }) => (
  <>
    {drift === undefined ? (
      <p>Not compared yet</p>
    ) : (
      <>
        {drift.missing + drift.orphaned === 0 && (
          <p>
            The platform held the wanted rules at <Time at={drift.checked_at} />
          </p>
        )}
        {drift.missing > 0 && (
          <p class="warning">
            The platform does not accept {counted(drift.missing, "rule")} now
            {drift.missing_since !== undefined && (
              <>
                , since <Time at={drift.missing_since} />
              </>
            )}
            . {AGAIN} tries to register {drift.missing === 1 ? "it" : "them"} again.
          </p>
        )}
        {drift.orphaned > 0 && (
          <p class="warning">
            The platform still holds {counted(drift.orphaned, "rule")} no longer wanted. {AGAIN} removes{" "}
            {drift.orphaned === 1 ? "it" : "them"}.
          </p>
        )}
        {drift.foreign > 0 && (
          <p class="quiet">
            {counted(drift.foreign, "rule")} there {drift.foreign === 1 ? "was" : "were"} registered by someone else.
            Earshot does not touch {drift.foreign === 1 ? "it" : "them"}.
          </p>
        )}
      </>
    )}
    {error !== undefined && (
      <p class="warning">
        The comparison at <Time at={error.at} /> failed: {error.message}
      </p>
    )}
  </>
)

// ---- helpers ----

const AGAIN = "The next comparison (every 20 seconds, or every two minutes with many rules)"
