/** The text and link of an update of a page, for a reader. */
import { objectOf, objectsOf, textOf } from "../../text/json.ts"
import type { EventSummary } from "../expression/eventFields.ts"

/** The title, then the changes: `+` before added text, `-` before removed text. */
export const firehoseSummary = (record: unknown): EventSummary => {
  const document = objectOf(objectOf(record)?.["document"])
  const link = textOf(document?.["url"])
  const changes = objectsOf(objectOf(document?.["diff"])?.["chunks"]).map(
    ({ typ, text }) => `${typ === "del" ? "-" : "+"} ${textOf(text) ?? ""}`
  )
  return {
    text: [textOf(document?.["title"]) ?? "", ...changes].filter((line) => line !== "").join("\n"),
    ...(link !== undefined && { link })
  }
}
