/** The rule language of each platform, behind one face. */
import type { PlatformId } from "../model/PlatformId.ts"
import type { Expression } from "./expression/expression.ts"
import { limits as firehoseLimits } from "./firehose/fields.ts"
import * as Firehose from "./firehose/language.ts"
import type { Issue } from "./issue.ts"
import * as X from "./x/language.ts"
import { limits as xLimits } from "./x/operators.ts"

/** A rule that its platform accepts. */
export interface Understood {
  /**
   * Equal for two rules that differ only in how they are spelled. A rule whose canonical text would be longer than the
   * platform takes keeps its own.
   */
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
    return { issues, rule: rule && understood(text, X.print(rule.ast), xLimits.maxLength, X.lower(rule.ast)) }
  },
  firehose: (text) => {
    const { issues, rule } = Firehose.check(text)
    return { issues, rule: rule && understood(text, rule.canonical, firehoseLimits.maxLength, rule.expression) }
  }
}

const understood = (text: string, canonical: string, maxLength: number, expression: Expression): Understood => ({
  canonical: canonical.length <= maxLength ? canonical : text,
  expression
})
