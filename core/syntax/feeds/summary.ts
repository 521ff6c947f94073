/** The author, text and link of a feed item, for a reader. */
import { objectOf, textOf, textsOf } from "../../text/json.ts"
import type { EventSummary } from "../expression/eventFields.ts"

export const itemSummary = (record: unknown): EventSummary => {
  const [feed = {}, item = {}] = [objectOf(objectOf(record)?.["feed"]), objectOf(objectOf(record)?.["item"])]
  const link = textOf(item["url"])
  const author = textsOf(item["authors"])[0] ?? textOf(feed["title"])
  return {
    ...(author !== undefined && { author }),
    text: [textOf(item["title"]) ?? "", textOf(item["summary"]) ?? ""].filter((line) => line !== "").join("\n"),
    ...(link !== undefined && /^https?:\/\//.test(link) && { link })
  }
}
