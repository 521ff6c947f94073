/** The filter language and event format of the platform `bluesky`. */

import { blueskyEvent, blueskyEventId, blueskyEventTime, blueskyTitle } from "../syntax/bluesky/event.ts"
import { fieldNames } from "../syntax/bluesky/fieldNames.ts"
import { blueskyHelp } from "../syntax/bluesky/help.ts"
import { blueskyDialect, MAX_LENGTH } from "../syntax/bluesky/operators.ts"
import { blueskySchema } from "../syntax/bluesky/schema.ts"
import { blueskySummary } from "../syntax/bluesky/summary.ts"
import type { Checked } from "../syntax/expression/checked.ts"
import type { FixOptions } from "../syntax/issues/Report.ts"
import { printX } from "../syntax/translation/print.ts"
import { rawTextForBluesky, toBluesky } from "../syntax/translation/toBluesky.ts"
import { blueskyPosts } from "../syntax/translation/witness/blueskyPost.ts"
import { editsOf } from "../syntax/x/edits.ts"
import { checkInTurns, lower, print } from "../syntax/x/language.ts"
import { objectOf } from "../text/json.ts"
import { finish, type Turns } from "../work/turns.ts"
import type { Language } from "./Language.ts"

export const bluesky: Language = {
  id: "bluesky",
  name: "Bluesky",
  writtenAs: "X",
  watches: "Bluesky posts",
  ruleType: "regular",
  keepsOnlyMatches: true,
  check: (text, options) => finish(checkRuleInTurns(text, options)),
  checkInTurns: checkRuleInTurns,
  help: blueskyHelp,
  fieldNames,
  events: {
    shape: 'a Bluesky post has "did" and "commit" with "rkey" and "record"',
    schema: blueskySchema,
    recognizes: (record) => "did" in record && objectOf(record["commit"]) !== undefined,
    read: blueskyEvent,
    idOf: blueskyEventId,
    timeOf: blueskyEventTime,
    titleOf: blueskyTitle,
    summaryOf: blueskySummary
  },
  edits: editsOf(blueskyDialect, fieldNames),
  target: { clause: toBluesky, rawText: rawTextForBluesky, print: printX, isUnsatisfiable: () => false },
  examples: blueskyPosts
}

// ---- helpers ----

function* checkRuleInTurns(text: string, options?: FixOptions): Turns<Checked> {
  const { rule, ...found } = yield* checkInTurns(text, { ...options, dialect: blueskyDialect })
  if (rule === undefined) return { ...found, rule }
  const canonical = print(rule.ast)
  return {
    ...found,
    rule: { canonical: canonical.length <= MAX_LENGTH ? canonical : text, expression: lower(rule.ast) }
  }
}
