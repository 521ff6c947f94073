/** Help for writing rules, made from the tables that the checkers read, so that it cannot drift away from them. */

import type { PlatformId } from "../model/PlatformId.ts"
import { firehoseHelp } from "../syntax/firehose/help.ts"
import type { LanguageHelp } from "../syntax/helpPage.ts"
import { xHelp } from "../syntax/x/help.ts"
import type { SyntaxHelp } from "./Platform.ts"

/** `limits` are those of the deployment by name; they come beside those of the language, and before them. */
export const helpFor = (platform: PlatformId, limits: Readonly<Record<string, number>>): SyntaxHelp => {
  const help = languages[platform]
  const all = { ...help.limits, ...limits }
  return {
    platform,
    rule_type: "rules_per_account" in limits ? "premium" : "regular",
    summary: help.summary,
    syntax: help.page(all),
    operators: help.operators,
    examples: help.examples,
    limits: all
  }
}

// ---- helpers ----

const languages: Readonly<Record<PlatformId, LanguageHelp>> = { x: xHelp, firehose: firehoseHelp }
