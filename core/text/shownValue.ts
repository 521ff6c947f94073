/** A value that a caller sent, short enough for an error message. */
import { truncated } from "./truncated.ts"

/** `"text"`, `12`, `null`, `an array`, `an object` */
export const shownValue = (value: unknown): string => {
  if (typeof value === "string") return `"${truncated(value, MAX_SHOWN)}"`
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" && value !== null ? "an object" : String(value)
}

// ---- helpers ----

/** In characters. */
const MAX_SHOWN = 50
