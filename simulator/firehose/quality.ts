/** The filters that a rule's nsfw and quality flags turn on. */
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import { instantOf, type JsonObject, textOf, textsOf } from "../../core/text/json.ts"

export interface RuleFlags {
  /** Lets adult pages through. */
  readonly nsfw: boolean
  /** Drops old pages, list pages and URLs with a query. */
  readonly quality: boolean
}

export const passesFlags = (
  { nsfw, quality }: RuleFlags,
  document: JsonObject,
  options: { readonly now: number; readonly keepsUndated: boolean }
): boolean => (nsfw || !isAdult(document)) && (!quality || isQuality(document, options))

// ---- helpers ----

const WEEK_MILLIS = 7 * DAY_MILLIS

const isAdult = (document: JsonObject): boolean =>
  textsOf(document["page_category"]).some((label) => label === "/Adult" || label.startsWith("/Adult/"))

const isQuality = (
  document: JsonObject,
  { now, keepsUndated }: { readonly now: number; readonly keepsUndated: boolean }
): boolean => {
  const published = instantOf(document["publish_time"])
  const url = textOf(document["url"]) ?? ""
  const isRecent = published === undefined ? keepsUndated : now - published <= WEEK_MILLIS
  return isRecent && !url.includes("?") && !/\/page\/\d+/.test(url) && !/\/(tag|category)\//.test(url)
}
