/** Help for the filters that the local platforms understand today: words, all of which must occur. */
import { Option } from "effect"
import type { SyntaxHelp } from "../../core/Platform.ts"
import type { PlatformId } from "../../core/PlatformId.ts"

export const helpFor = (platform: PlatformId, rulesPerAccount: Option.Option<number>): SyntaxHelp => ({
  platform,
  rule_type: Option.isSome(rulesPerAccount) ? "premium" : "regular",
  summary: `Words, separated by spaces. ${subject[platform]} matches when it holds all of them, whatever their case.`,
  syntax: `# Filters on \`${platform}\`\n\nWrite one or more words, separated by spaces. ${subject[platform]} matches when it holds all of them as whole words, in any order and in upper or lower case.\n\n- \`earthquake\`: the word earthquake\n- \`earthquake tokyo\`: both words\n`,
  operators: [
    { name: "word", description: "The word occurs, as a whole word, whatever its case", example: "earthquake" }
  ],
  examples: [
    { rule: "earthquake", description: "Everything with the word earthquake" },
    { rule: "earthquake tokyo", description: "Everything with both words" }
  ],
  limits: Option.match(rulesPerAccount, { onNone: () => ({}), onSome: (limit) => ({ rules_per_account: limit }) })
})

// ---- helpers ----

const subject: Readonly<Record<PlatformId, string>> = {
  x: "A post",
  firehose: "A page change"
}
