/** What the switches of a rule beside its query keep out. */
import { instantOf, type JsonObject, textOf, textsOf } from "../../../core/syntax/json.ts"
import type { FirehoseRule } from "./Tap.ts"

export const passes = (
  { nsfw, quality }: Pick<FirehoseRule, "nsfw" | "quality">,
  document: JsonObject,
  options: { readonly now: number; readonly keepsUndated: boolean }
): boolean => (nsfw || !isAdult(document)) && (!quality || isGood(document, options))

// ---- helpers ----

const WEEK = 7 * 86_400_000

const isAdult = (document: JsonObject): boolean =>
  textsOf(document["page_category"]).some((label) => label === "/Adult" || label.startsWith("/Adult/"))

const isGood = (
  document: JsonObject,
  { now, keepsUndated }: { readonly now: number; readonly keepsUndated: boolean }
): boolean => {
  const published = instantOf(document["publish_time"])
  const url = textOf(document["url"]) ?? ""
  const isNew = published === undefined ? keepsUndated : now - published <= WEEK
  return isNew && !url.includes("?") && !/\/page\/\d+/.test(url) && !/\/(tag|category)\//.test(url)
}
