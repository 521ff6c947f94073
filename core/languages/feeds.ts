/** The filter language and event format of the platform `feeds`. */
import { feedFields, fieldNames } from "../syntax/feeds/fields.ts"
import { feedsHelp } from "../syntax/feeds/help.ts"
import { itemEvent, itemId, itemTime } from "../syntax/feeds/item.ts"
import { feedsSchema } from "../syntax/feeds/schema.ts"
import { itemSummary } from "../syntax/feeds/summary.ts"
import { objectOf, textOf } from "../text/json.ts"
import { likeFirehose } from "./firehose.ts"
import type { Language } from "./Language.ts"

export const feeds: Language = {
  id: "feeds",
  name: "Feeds",
  watches: "items of RSS, Atom and JSON feeds",
  ruleType: "regular",
  ...likeFirehose("Feeds", feedFields),
  help: feedsHelp,
  fieldNames,
  events: {
    shape: 'a feed item has "feed" and "item"',
    schema: feedsSchema,
    recognizes: (record) => "item" in record && "feed" in record,
    read: itemEvent,
    idOf: itemId,
    timeOf: itemTime,
    titleOf: (record) => textOf(objectOf(objectOf(record)?.["item"])?.["title"]),
    summaryOf: itemSummary
  }
}
