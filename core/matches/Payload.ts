/** The event of a match as JSON text. Most readers of a match send it on as it is: only some parse it. */
import { Schema } from "effect"
import type { JsonObject } from "../text/json.ts"

export class Payload {
  /** A JSON object. */
  readonly text: string
  #value: JsonObject | undefined

  constructor(text: string, value?: JsonObject) {
    this.text = text
    this.#value = value
  }

  static of(value: JsonObject): Payload {
    return new Payload(JSON.stringify(value), value)
  }

  /** Parses the text once. */
  get value(): JsonObject {
    this.#value ??= JSON.parse(this.text) as JsonObject
    return this.#value
  }

  /** `JSON.stringify` writes the value; `toJson` writes the text. */
  toJSON(): unknown {
    if (written === undefined) return this.value
    written.push(this.text)
    return MARK
  }
}

/** On the wire it is an object. */
export const PayloadFromObject = Schema.transform(
  Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  Schema.instanceOf(Payload),
  { strict: true, decode: (value) => Payload.of(value), encode: ({ value }) => value }
)

/** Like `JSON.stringify`, but does not parse the payloads in `value`. */
export const toJson = (value: unknown): string => {
  const texts: Array<string> = []
  written = texts
  let marked: string
  try {
    marked = JSON.stringify(value)
  } finally {
    written = undefined
  }
  if (texts.length === 0) return marked
  const [first = "", ...others] = marked.split(MARK_AS_JSON)
  // Other text can look like a mark.
  if (others.length !== texts.length) return JSON.stringify(value)
  let json = first
  for (const [index, other] of others.entries()) json += texts[index] + other
  return json
}

// ---- helpers ----

/** The texts that `toJson` takes, in order, while it runs. */
let written: Array<string> | undefined

const MARK = "\u0000payload"
const MARK_AS_JSON = JSON.stringify(MARK)
