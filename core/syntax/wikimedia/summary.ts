/** The author, text and link of a wiki change, for a reader. */
import { type JsonObject, objectOf, textOf } from "../../text/json.ts"
import type { EventSummary } from "../expression/eventFields.ts"

export const changeSummary = (record: unknown): EventSummary => {
  const change = objectOf(record) ?? {}
  const author = textOf(change["user"])
  const addresses = [change["notify_url"], objectOf(change["meta"])?.["uri"], change["title_url"]]
  const link = addresses.map(textOf).find((address) => address !== undefined && /^https?:\/\//.test(address))
  return {
    ...(author !== undefined && { author }),
    text: [textOf(change["title"]) ?? "", ...commentsOf(change)].filter((line) => line !== "").join("\n"),
    ...(link !== undefined && { link })
  }
}

export const commentsOf = (change: JsonObject): ReadonlyArray<string> =>
  [change["comment"], change["log_action_comment"]].flatMap((comment) => {
    const text = plainComment(textOf(comment) ?? "")
    return text === "" ? [] : [text]
  })

/** The text of an edit summary: `[[Page|text]]` and the name of the section, in place of their markup. */
export const plainComment = (comment: string): string =>
  comment
    .replace(/\/\*([^*]*)\*\//g, " $1 ")
    .replace(/\[\[:?([^[\]|]*)(?:\|([^[\]]*))?\]\]/g, (_, page: string, text?: string) => text || separated(page))
    .replace(/\[https?:\/\/[^\s[\]]+ ([^[\]]*)\]/g, "$1")
    .replace(/'{2,5}/g, "")
    .replace(/[^\S\n]+/g, " ")
    .trim()

/** `Talk:Berlin` has two words: a colon between letters would make it one. */
export const separated = (title: string): string => title.replaceAll(":", ": ")
