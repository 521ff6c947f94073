/**
 * Reads parsed JSON of unknown shape. A value of the wrong type counts as absent. Not `Schema`: one wrong field must not
 * reject an event, and only the fields that rules use are read. Decoding a post costs 1.4 times the CPU.
 */

export type JsonObject = Readonly<Record<string, unknown>>

export const objectOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined)

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const objectsOf = (value: unknown): ReadonlyArray<JsonObject> => {
  if (!Array.isArray(value) || value.length === 0) return empty
  // Runs for every event, and nearly always returns the list as it is.
  for (const one of value) if (!isObject(one)) return value.filter(isObject)
  return value
}

/** An empty string counts as absent. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

export const textsOf = (value: unknown): ReadonlyArray<string> =>
  listOf(value).filter((one): one is string => typeof one === "string" && one !== "")

/** Also reads a string of plain digits: platforms send counters in both forms. */
export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === "string" && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) {
    return Number(value)
  }
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** In milliseconds. A timestamp without a zone is read as UTC. */
export const instantOf = (value: unknown): number | undefined => {
  const found = timestamp.exec(textOf(value) ?? "")
  if (found === null) {
    return undefined
  }
  const [, date = "", time = "00:00", seconds = ":00", zone = "Z"] = found
  const at = Date.parse(`${date}T${time}${seconds.slice(0, 7)}${zone}`)
  return Number.isNaN(at) ? undefined : at
}

/** Far deeper than any real event, and far below the depth at which `JSON.stringify` overflows the stack. */
export const MAX_DEPTH = 100

/** Nested more than `MAX_DEPTH` levels deep. */
export const isTooDeep = (value: unknown): boolean => hasItems(value, MAX_DEPTH)

/** `undefined` for invalid JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The reason in an error of `JSON.parse`, with the position. It differs between runtimes. */
export const parseProblem = (cause: unknown): string =>
  cause instanceof Error ? cause.message.slice(0, 200) : "it cannot be parsed"

// ---- helpers ----

const timestamp = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,12})?)?(Z|[+-]\d\d:\d\d)?)?$/

const empty: ReadonlyArray<never> = []

/** Whether there are items so many levels below the value. Runs for every event, so it makes no lists of them. */
const hasItems = (value: unknown, levels: number): boolean => {
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (hasItems(value[index], levels - 1)) return true
  } else if (isObject(value)) {
    for (const key in value) if (hasItems(value[key], levels - 1)) return true
  }
  return false
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
