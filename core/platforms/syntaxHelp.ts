/** Builds a platform's help from its language and the deployment's limits. */
import { Option } from "effect"
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

/** From a setting, in which 0 means no limit. */
export const ruleLimit = (rulesPerAccount: number): Option.Option<number> =>
  rulesPerAccount === 0 ? Option.none() : Option.some(rulesPerAccount)

/** For `helpFor`. */
export const ruleLimits = (rulesPerAccount: Option.Option<number>): Readonly<Record<string, number>> =>
  Option.isNone(rulesPerAccount) ? {} : { rules_per_account: rulesPerAccount.value }
