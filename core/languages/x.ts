/** The filter language and event format of the platform `x`. */

import type { Checked, CheckOptions } from "../syntax/expression/checked.ts"
import { printX } from "../syntax/translation/print.ts"
import { rawTextOfFirehose, toX } from "../syntax/translation/toX.ts"
import { posts } from "../syntax/translation/witness/post.ts"
import { xDialect } from "../syntax/x/Dialect.ts"
import { editsOf } from "../syntax/x/edits.ts"
import { xEvent, xEventId, xEventTime } from "../syntax/x/event.ts"
import { fieldNames } from "../syntax/x/fieldNames.ts"
import { xHelp } from "../syntax/x/help.ts"
import { checkInTurns, lower, print } from "../syntax/x/language.ts"
import { limits } from "../syntax/x/operators.ts"
import { xSchema } from "../syntax/x/schema.ts"
import { xSummary } from "../syntax/x/summary.ts"
import { objectOf, textOf } from "../text/json.ts"
import { finish, type Turns } from "../work/turns.ts"
import type { Language } from "./Language.ts"

/** With the rule length of pay-per-use and Pro. */
export const x: Language = languageWith(limits.maxLength)

/** With the rule length of Enterprise. */
export const xEnterprise: Language = languageWith(limits.maxLengthEnterprise)

// ---- helpers ----

function languageWith(maxLength: number): Language {
  return {
    id: "x",
    name: "X",
    watches: "X posts",
    ruleType: "premium",
    check: (text, options) => finish(checkRuleInTurns(text, { ...options, maxLength })),
    checkInTurns: (text, options) => checkRuleInTurns(text, { ...options, maxLength }),
    help: { ...xHelp, limits: { ...xHelp.limits, rule_length: maxLength } },
    fieldNames,
    events: {
      shape: 'an X post has "data" with "id" and "text"',
      schema: xSchema,
      recognizes: (record) => "data" in record,
      read: xEvent,
      idOf: xEventId,
      timeOf: xEventTime,
      titleOf: (record) => textOf(objectOf(objectOf(record)?.["data"])?.["text"]),
      summaryOf: xSummary
    },
    edits: editsOf(xDialect, fieldNames),
    target: { clause: toX, rawText: rawTextOfFirehose, print: printX, isUnsatisfiable: () => false },
    examples: posts
  }
}

function* checkRuleInTurns(text: string, options: CheckOptions & { readonly maxLength: number }): Turns<Checked> {
  const { rule, ...found } = yield* checkInTurns(text, options)
  if (rule === undefined) return { ...found, rule }
  const canonical = print(rule.ast)
  return {
    ...found,
    rule: { canonical: canonical.length <= options.maxLength ? canonical : text, expression: lower(rule.ast) }
  }
}
