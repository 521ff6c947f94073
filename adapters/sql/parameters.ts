/** Large parameters as bytes: the driver of PGlite counts the bytes of a string twice, character by character. */

export const textParameter = (text: string): Uint8Array => Buffer.from(text)

export const jsonbParameter = (json: string): Uint8Array => Buffer.from(`${JSONB_VERSION}${json}`)

// ---- helpers ----

/** Comes first in the binary form of jsonb. */
const JSONB_VERSION = "\u0001"
