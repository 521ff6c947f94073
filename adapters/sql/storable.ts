/** Text that Postgres can store: it rejects NUL and lone surrogates. */

/** Replaces what Postgres rejects by U+FFFD. */
export const storableText = <A extends string | null>(text: A): A =>
  // The cast is safe: null stays null.
  (text === null ? null : text.toWellFormed().replaceAll("\0", "\uFFFD")) as A

export const storableJson = (value: unknown): string => {
  const json = JSON.stringify(value)
  return maybeUnstorable.test(json) ? JSON.stringify(storable(value)) : json
}

// ---- helpers ----

/** The JSON escapes of what Postgres rejects. False positives, in plain text, are harmless. */
const maybeUnstorable = /\\u(?:0000|d[89a-f])/

const storable = (value: unknown): unknown => {
  if (typeof value === "string") return storableText(value)
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), storable(inner)]))
}
