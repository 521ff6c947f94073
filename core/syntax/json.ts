/** Reads values of unknown make, as they come out of a JSON text: what is not of the asked kind is simply absent. */

export type JsonObject = Readonly<Record<string, unknown>>

export const objectOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined)

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const objectsOf = (value: unknown): ReadonlyArray<JsonObject> => {
  if (!Array.isArray(value) || value.length === 0) return nothing
  // Nearly every list holds nothing else, and this is read for every event.
  return value.every(isObject) ? value : value.filter(isObject)
}

/** The empty text counts as absent. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

export const textsOf = (value: unknown): ReadonlyArray<string> =>
  listOf(value).filter((one): one is string => typeof one === "string" && one !== "")

/** A number, or one written in plain digits: counters come both ways. */
export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === "string" && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) {
    return Number(value)
  }
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** Milliseconds. A time without a zone is read as UTC. */
export const instantOf = (value: unknown): number | undefined => {
  const found = moment.exec(textOf(value) ?? "")
  if (found === null) {
    return undefined
  }
  const [, date = "", time = "00:00", seconds = ":00", zone = "Z"] = found
  const at = Date.parse(`${date}T${time}${seconds.slice(0, 7)}${zone}`)
  return Number.isNaN(at) ? undefined : at
}

/** Far beyond any real event, and far below where writing JSON runs out of stack. */
export const MOST_LEVELS = 100

/** Nested more than `MOST_LEVELS` levels deep. */
export const isDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; depth < MOST_LEVELS; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []))
    if (level.length === 0) return false
  }
  return true
}

/** Undefined for a text that is no JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// ---- helpers ----

const moment = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,12})?)?(Z|[+-]\d\d:\d\d)?)?$/

const nothing: ReadonlyArray<never> = []

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
