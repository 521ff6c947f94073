/** Text as Postgres can hold it: it refuses NUL and halves of surrogate pairs. */

/** With U+FFFD in place of what it refuses. */
export const storableText = <A extends string | null>(text: A): A =>
  // The type says that null stays null.
  (text === null ? null : text.toWellFormed().replaceAll("\0", "\uFFFD")) as A

/** JSON of the value, in which every text can be stored. */
export const storableJson = (value: unknown): string => {
  const json = JSON.stringify(value)
  return MAY_BE_UNSTORABLE.test(json) ? JSON.stringify(storable(value)) : json
}

// ---- helpers ----

/** How JSON writes what is refused. Also found where it is plain text. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/

const storable = (value: unknown): unknown => {
  if (typeof value === "string") return storableText(value)
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), storable(inner)]))
}
