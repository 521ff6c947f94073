/** Backoff between connections: X's documented one, and 6 s after we closed the connection. */
import { type Ended, exponential } from "../http/supervised.ts"

/** Milliseconds before the next connection. `inARow` counts consecutive endings of this kind, from 1. */
export const backoff = ({ kind, refusal, waitMillis = 0 }: Ended, inARow: number): number => {
  switch (kind) {
    case "cut":
      return Math.min(250 * (inARow - 1), 16_000)
    // X takes some seconds to notice that we closed it, and refuses another connection until then.
    case "planned":
    case "stalled":
      return Math.min(6_000 + 250 * (inARow - 1), 16_000)
    case "failed":
    case "unruled":
      return exponential(5_000, inARow, 320_000)
    case "limited":
      // A usage cap lasts for days. After one that came without its reset, the next answer says it.
      return Math.max(exponential(60_000, inARow, refusal === "cap" ? MAX_CAP_BACKOFF : 900_000), waitMillis)
  }
}

// ---- helpers ----

/** For a usage cap whose reset X does not say. */
const MAX_CAP_BACKOFF = 6 * 60 * 60_000
