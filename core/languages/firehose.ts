/** The filter language and event format of the platform `firehose`. */

import type { Checked } from "../syntax/expression/checked.ts"
import { edits } from "../syntax/firehose/edits.ts"
import { firehoseEvent, firehoseEventId, firehoseEventTime } from "../syntax/firehose/event.ts"
import { fieldNames } from "../syntax/firehose/fieldNames.ts"
import type { FieldSet } from "../syntax/firehose/fieldSet.ts"
import { firehoseFields, limits } from "../syntax/firehose/fields.ts"
import { firehoseHelp } from "../syntax/firehose/help.ts"
import { checkInTurns, type Options } from "../syntax/firehose/language.ts"
import { firehoseSchema } from "../syntax/firehose/schema.ts"
import { firehoseSummary } from "../syntax/firehose/summary.ts"
import type { FixOptions } from "../syntax/issues/Report.ts"
import { likeFirehoseTarget } from "../syntax/translation/toLikeFirehose.ts"
import { pages } from "../syntax/translation/witness/page.ts"
import { objectOf, textOf } from "../text/json.ts"
import { finish, type Turns } from "../work/turns.ts"
import type { Language } from "./Language.ts"

export const firehose: Language = {
  id: "firehose",
  name: "Firehose",
  watches: "web pages that change",
  ruleType: "regular",
  ...likeFirehose("Firehose", firehoseFields),
  help: firehoseHelp,
  fieldNames,
  events: {
    shape: 'a Firehose update has "document" with "url"',
    schema: firehoseSchema,
    recognizes: (record) => "document" in record,
    read: (record, now) => firehoseEvent(record, { now }),
    idOf: firehoseEventId,
    timeOf: firehoseEventTime,
    titleOf: (record) => {
      const document = objectOf(objectOf(record)?.["document"])
      return textOf(document?.["title"]) ?? textOf(document?.["url"])
    },
    summaryOf: firehoseSummary
  },
  examples: pages
}

/** What a language with Firehose's syntax and other fields has in common with it. */
export function likeFirehose(
  name: string,
  fields: FieldSet
): Pick<Language, "check" | "checkInTurns" | "edits" | "target"> {
  const checkOwn = (text: string, options?: FixOptions) => checkRuleInTurns(text, { ...options, fields })
  return {
    check: (text, options) => finish(checkOwn(text, options)),
    checkInTurns: checkOwn,
    edits: (text) => edits(text, fields),
    target: likeFirehoseTarget(name, fields)
  }
}

// ---- helpers ----

function* checkRuleInTurns(text: string, options: Options): Turns<Checked> {
  const { rule, ...found } = yield* checkInTurns(text, options)
  if (rule === undefined) return { ...found, rule }
  const { canonical, expression } = rule
  return { ...found, rule: { canonical: canonical.length <= limits.maxLength ? canonical : text, expression } }
}
