/** How X wants to be called again after a connection ended, or was refused. */
import type { Ended } from "../http/supervised.ts"

/** Milliseconds before the next connection, after so many such endings in a row. */
export const pause = ({ kind, waitMillis = 0 }: Ended, inARow: number): number => {
  switch (kind) {
    case "cut":
      return Math.min(250 * (inARow - 1), 16_000)
    // We hung up ourselves, and X takes some seconds to notice: before that it has no room for another connection.
    case "planned":
    case "stalled":
      return Math.min(6_000 + 250 * (inARow - 1), 16_000)
    case "failed":
    case "unruled":
      return doubled(5_000, inARow, 320_000)
    case "limited":
      return Math.max(doubled(60_000, inARow, 900_000), waitMillis)
  }
}

// ---- helpers ----

const doubled = (first: number, inARow: number, most: number): number => Math.min(first * 2 ** (inARow - 1), most)
