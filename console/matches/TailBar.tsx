/** The state of the live tail, and its controls. Stays in view. */
import { Time } from "../parts/Time.tsx"
import type { LiveTail } from "./useTail.ts"

export const TailBar = ({
  connection,
  to,
  isPaused,
  waiting,
  onPause,
  onNewest,
  onHelp
}: {
  readonly connection: LiveTail["connection"]
  readonly to: string | undefined
  readonly isPaused: boolean
  /** How many matches are held back. */
  readonly waiting: number
  readonly onPause: () => void
  readonly onNewest: () => void
  readonly onHelp: () => void
}) => (
  <div class="tail-bar">
    {connection !== "off" && (
      <button type="button" class="tail-pause" onClick={onPause}>
        {isPaused ? "Resume" : "Pause"}
      </button>
    )}
    <span role="status" class={`tail-state ${isPaused && connection === "live" ? "paused" : connection}`}>
      {to !== undefined ? (
        <>
          Until <Time at={to} />
        </>
      ) : isPaused && connection === "live" ? (
        "Paused"
      ) : (
        STATES[connection]
      )}
    </span>
    {waiting > 0 && (
      <button type="button" class="main" onClick={onNewest}>
        {isPaused ? `${waiting} waiting` : `${waiting} new`}
      </button>
    )}
    <button type="button" class="plain tail-keys" onClick={onHelp}>
      Shortcuts
    </button>
  </div>
)

// ---- helpers ----

const STATES: Readonly<Record<LiveTail["connection"], string>> = {
  connecting: "Connecting…",
  live: "Live",
  reconnecting: "Reconnecting…",
  off: "Stored matches"
}
