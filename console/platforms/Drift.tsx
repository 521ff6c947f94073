/** Differences between our rules and those on the platform, and what is done about them. */

import { counted } from "../../core/text/counted.ts"
import type { PlatformStatus } from "../client.ts"
import { Time } from "../parts/Time.tsx"

export const Drift = ({ rules: { drift, error } }: { readonly rules: PlatformStatus["rules"] }) => (
  <>
    {drift === undefined ? (
      <p>Not checked yet</p>
    ) : (
      <>
        {drift.missing + drift.orphaned === 0 && (
          <p>
            All rules were in place at <Time at={drift.checked_at} />
          </p>
        )}
        {drift.missing > 0 && (
          <p class="warning">
            {counted(drift.missing, "rule")} missing on the platform
            {drift.missing_since !== undefined && (
              <>
                {" "}
                since <Time at={drift.missing_since} />
              </>
            )}
            . {AGAIN} tries to register {drift.missing === 1 ? "it" : "them"} again.
          </p>
        )}
        {drift.orphaned > 0 && (
          <p class="warning">
            The platform still has {counted(drift.orphaned, "rule")} that {drift.orphaned === 1 ? "was" : "were"}{" "}
            deleted or changed here. {AGAIN} removes {drift.orphaned === 1 ? "it" : "them"}.
          </p>
        )}
        {drift.foreign > 0 && (
          <p class="quiet">
            {counted(drift.foreign, "rule")} on the platform {drift.foreign === 1 ? "was" : "were"} registered by
            someone else. Earshot does not touch {drift.foreign === 1 ? "it" : "them"}.
          </p>
        )}
      </>
    )}
    {error !== undefined && (
      <p class="warning">
        The check at <Time at={error.at} /> failed: {error.message}
      </p>
    )}
  </>
)

// ---- helpers ----

const AGAIN = "The next check (every 20 seconds, or every two minutes with many rules)"
