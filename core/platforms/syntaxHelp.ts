/** Help for writing filters, made from the tables that the checkers read, so that it cannot drift away from them. */
import type { Language } from "../syntax/language.ts"
import type { SyntaxHelp } from "./Platform.ts"

/** `limits`: those of this deployment by name, beside those of the language. */
export const helpFor = ({ id, help }: Language, limits: Readonly<Record<string, number>>): SyntaxHelp => {
  const all = { ...help.limits, ...limits }
  return {
    platform: id,
    rule_type: "rules_per_account" in limits ? "premium" : "regular",
    summary: help.summary,
    syntax: help.page(all),
    operators: help.operators,
    examples: help.examples,
    limits: all
  }
}
