/** The filter language and event format of the platform `firehose`. */
import { objectOf, textOf } from "../json.ts"
import type { Language } from "../language.ts"
import { isContradictory } from "../translation/partialRule.ts"
import { printFirehose } from "../translation/print.ts"
import { toFirehose } from "../translation/toFirehose.ts"
import { firehoseEvent, firehoseEventId, firehoseEventTime } from "./event.ts"
import { fieldNames } from "./fieldNames.ts"
import { limits } from "./fields.ts"
import { firehoseHelp } from "./help.ts"
import { check } from "./language.ts"

export const firehose: Language = {
  id: "firehose",
  name: "Firehose",
  watches: "web pages that change",
  check: (text) => {
    const { issues, rule } = check(text)
    if (rule === undefined) return { issues, rule }
    const { canonical, expression } = rule
    return { issues, rule: { canonical: canonical.length <= limits.maxLength ? canonical : text, expression } }
  },
  help: firehoseHelp,
  fieldNames,
  events: {
    shape: 'a Firehose update has "document" with "url"',
    schema: {
      type: "object",
      description: "A Firehose update. The added and removed text of the page is in document.diff",
      required: ["document"],
      properties: {
        document: {
          type: "object",
          required: ["url"],
          properties: {
            url: { type: "string" },
            title: { type: "string" },
            language: { type: "string" },
            diff: {
              type: "object",
              required: ["chunks"],
              properties: {
                chunks: {
                  type: "array",
                  items: {
                    type: "object",
                    required: ["typ", "text"],
                    properties: { typ: { type: "string", enum: ["ins", "del"] }, text: { type: "string" } }
                  }
                }
              }
            }
          },
          additionalProperties: true
        }
      },
      additionalProperties: true
    },
    recognizes: (record) => "document" in record,
    read: (record, now) => firehoseEvent(record, { now }),
    idOf: firehoseEventId,
    timeOf: firehoseEventTime,
    titleOf: (record) => {
      const document = objectOf(objectOf(record)?.["document"])
      return textOf(document?.["title"]) ?? textOf(document?.["url"])
    }
  },
  target: { clause: toFirehose, print: printFirehose, isUnsatisfiable: isContradictory }
}
