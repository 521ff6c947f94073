/** The filter language and event format of the platform `x`. */
import { objectOf, textOf } from "../json.ts"
import type { Language } from "../language.ts"
import { printX } from "../translation/print.ts"
import { toX } from "../translation/toX.ts"
import { xEvent, xEventId, xEventTime } from "./event.ts"
import { fieldNames } from "./fieldNames.ts"
import { xHelp } from "./help.ts"
import { check, lower, print } from "./language.ts"
import { limits } from "./operators.ts"

export const x: Language = {
  id: "x",
  name: "X",
  watches: "X posts",
  check: (text) => {
    const { issues, rule } = check(text)
    if (rule === undefined) return { issues, rule }
    const canonical = print(rule.ast)
    return {
      issues,
      rule: { canonical: canonical.length <= limits.maxLength ? canonical : text, expression: lower(rule.ast) }
    }
  },
  help: xHelp,
  fieldNames,
  events: {
    shape: 'an X post has "data" with "id" and "text"',
    schema: {
      type: "object",
      description: "An X v2 post as the filtered stream delivers it",
      required: ["data"],
      properties: {
        data: {
          type: "object",
          required: ["id", "text"],
          properties: { id: { type: "string" }, text: { type: "string" }, lang: { type: "string" } },
          additionalProperties: true
        }
      },
      additionalProperties: true
    },
    recognizes: (record) => "data" in record,
    read: xEvent,
    idOf: xEventId,
    timeOf: xEventTime,
    titleOf: (record) => textOf(objectOf(objectOf(record)?.["data"])?.["text"])
  },
  target: { clause: toX, print: printX, isUnsatisfiable: () => false }
}
