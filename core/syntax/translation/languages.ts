/** Maps language codes between X and Firehose. */
import { languages as firehoseLanguages, isLanguage } from "../firehose/labels.ts"
import { languages as xLanguages } from "../x/vocabulary.ts"

/** `code`: the `lang` of a post in lower case. `zh` stands for both of Firehose's Chinese scripts. */
export const toFirehoseLanguages = (code: string): ReadonlyArray<string> => {
  if (code === "zh") {
    return firehoseLanguages.filter((language) => language.startsWith("zh-"))
  }
  const current = currentCodes.get(code) ?? code
  return isLanguage(current) ? [current] : []
}

interface XLanguage {
  readonly code: string
  /** Posts carry only `zh`, so this code also selects the other Chinese script. */
  readonly shared: boolean
}

export const toXLanguage = (code: string): XLanguage | undefined => {
  if (!isLanguage(code)) {
    return undefined
  }
  const old = oldCode(code)
  const found = xLanguages.find((language) => language.code.toLowerCase() === old)
  return found && { code: found.code, shared: found.code.toLowerCase().startsWith("zh-") }
}

/** The code that X still uses for a language. */
export const oldCode = (code: string): string => oldCodes.get(code) ?? code

// ---- helpers ----

/** X still uses codes that ISO 639 has replaced. */
const currentCodes: ReadonlyMap<string, string> = new Map([
  ["iw", "he"],
  ["in", "id"]
])

const oldCodes: ReadonlyMap<string, string> = new Map([...currentCodes].map(([old, current]) => [current, old]))
