/** How much of a limit is used: as text, and as a bar for the eye. */
import type { ComponentChildren } from "preact"

export const Meter = ({
  share,
  children
}: {
  /** From 0 to 1; absent if there is no limit. */
  readonly share: number | undefined
  readonly children: ComponentChildren
}) => (
  <div class="meter">
    <span>{children}</span>
    {share !== undefined && (
      <span class={`meter-bar ${share >= 1 ? "full" : share >= 0.8 ? "high" : ""}`} aria-hidden="true">
        <span style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
    )}
  </div>
)
