/** The rule language of each platform, behind one face. */
import type { PlatformId } from "../PlatformId.ts"
import type { Expression } from "./expression.ts"
import * as Firehose from "./firehose/language.ts"
import type { Issue } from "./issue.ts"
import * as X from "./x/language.ts"

/** A rule that its platform accepts. */
export interface Understood {
  /** Equal for two rules that differ only in how they are spelled. */
  readonly canonical: string
  readonly expression: Expression
}

export interface Checked {
  readonly issues: ReadonlyArray<Issue>
  /** Present if and only if no issue is an error. */
  readonly rule: Understood | undefined
}

/** Never throws, whatever the text. */
export const checkRule = (platform: PlatformId, text: string): Checked => check[platform](text)

// ---- helpers ----

const check: Readonly<Record<PlatformId, (text: string) => Checked>> = {
  x: (text) => {
    const { issues, rule } = X.check(text)
    return { issues, rule: rule && { canonical: X.print(rule.ast), expression: X.lower(rule.ast) } }
  },
  firehose: (text) => Firehose.check(text)
}
