/** Quotes a part of the rule in a message. */
import { truncated } from "../../text/truncated.ts"

/** In double quotes, truncated. */
export const quoted = (text: string): string => {
  const piece = truncated(text, MAX_QUOTED_LENGTH)
  return piece.startsWith('"') && piece.endsWith('"') ? piece : `"${piece}"`
}

// ---- helpers ----

const MAX_QUOTED_LENGTH = 60
