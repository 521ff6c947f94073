/** Which language codes of the two platforms mean the same language. */
import { languages as firehoseLanguages, isLanguage } from "../firehose/labels.ts"
import { languages as xLanguages } from "../x/vocabulary.ts"

/** Firehose's codes for what posts carry in X's `lang`, in lower case. Posts do not tell the two scripts of Chinese apart. */
export const toFirehoseLanguages = (code: string): ReadonlyArray<string> => {
  if (code === "zh") {
    return firehoseLanguages.filter((language) => language.startsWith("zh-"))
  }
  const renamed = oldCodes.get(code) ?? code
  return isLanguage(renamed) ? [renamed] : []
}

interface XLanguage {
  readonly code: string
  /** Posts in it carry a code that other languages of Firehose share. */
  readonly shared: boolean
}

export const toXLanguage = (code: string): XLanguage | undefined => {
  if (!isLanguage(code)) {
    return undefined
  }
  const renamed = newCodes.get(code) ?? code
  const found = xLanguages.find((language) => language.code.toLowerCase() === renamed)
  return found && { code: found.code, shared: found.code.toLowerCase().startsWith("zh-") }
}

// ---- helpers ----

/** X keeps codes that the standard has replaced. */
const oldCodes: ReadonlyMap<string, string> = new Map([
  ["iw", "he"],
  ["in", "id"]
])

const newCodes: ReadonlyMap<string, string> = new Map([...oldCodes].map(([old, current]) => [current, old]))
