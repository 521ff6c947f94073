/** Parameters of statements: text that Postgres can store, and bytes for large ones. */

/** Postgres rejects NUL and lone surrogates: they become U+FFFD. */
export const storableText = <A extends string | null>(text: A): A =>
  // The cast is safe: null stays null.
  (text === null ? null : text.toWellFormed().replaceAll("\0", "\uFFFD")) as A

export const storableJson = (value: unknown): string => storable(JSON.stringify(value))

export const storable = (json: string): string =>
  maybeUnstorable.test(json) ? JSON.stringify(storableValue(JSON.parse(json))) : json

/** As bytes: the driver of PGlite counts the bytes of a string twice, character by character. */
export const textParameter = (text: string): Uint8Array => Buffer.from(text)

export const jsonbParameter = (json: string): Uint8Array => Buffer.from(`${JSONB_VERSION}${json}`)

// ---- helpers ----

/** The JSON escapes of what Postgres rejects. False positives, in plain text, are harmless. */
const maybeUnstorable = /\\u(?:0000|d[89a-f])/

const storableValue = (value: unknown): unknown => {
  if (typeof value === "string") return storableText(value)
  if (Array.isArray(value)) return value.map(storableValue)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), storableValue(inner)]))
}

/** Comes first in the binary form of jsonb. */
const JSONB_VERSION = "\u0001"
