/** Builds a platform's help from its language and the deployment's limits. */
import type { Language } from "../languages/Language.ts"
import type { SyntaxHelp } from "./Platform.ts"

/** `limits`: the deployment's limits by name. They override the language's. */
export const helpFor = ({ id, ruleType, help }: Language, limits: Readonly<Record<string, number>>): SyntaxHelp => {
  const all = { ...help.limits, ...limits }
  return {
    platform: id,
    rule_type: ruleType,
    summary: help.summary,
    syntax: help.page(all),
    operators: help.operators,
    examples: help.examples,
    limits: all
  }
}
