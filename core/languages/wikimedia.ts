/** The filter language and event format of the platform `wikimedia`. */

import { changeEvent, changeId, changeTime } from "../syntax/wikimedia/change.ts"
import { fieldNames, wikimediaFields } from "../syntax/wikimedia/fields.ts"
import { wikimediaHelp } from "../syntax/wikimedia/help.ts"
import { wikimediaSchema } from "../syntax/wikimedia/schema.ts"
import { changeSummary } from "../syntax/wikimedia/summary.ts"
import { objectOf, textOf } from "../text/json.ts"
import { likeFirehose } from "./firehose.ts"
import type { Language } from "./Language.ts"

export const wikimedia: Language = {
  id: "wikimedia",
  name: "Wikimedia",
  watches: "changes of Wikipedia and other wikis",
  ruleType: "regular",
  ...likeFirehose("Wikimedia", wikimediaFields),
  help: wikimediaHelp,
  fieldNames,
  events: {
    shape: 'a wiki change has "meta" and "wiki"',
    schema: wikimediaSchema,
    recognizes: (record) => "meta" in record && "wiki" in record,
    read: changeEvent,
    idOf: changeId,
    timeOf: changeTime,
    titleOf: (record) => textOf(objectOf(record)?.["title"]),
    summaryOf: changeSummary
  }
}
