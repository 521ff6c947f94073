/** The options that select matches. */
import { Options } from "@effect/cli"
import type { Language } from "../core/languages/Language.ts"
import { platformOption } from "./platformOption.ts"

export const matchSelection = (languages: ReadonlyArray<Language>) => ({
  rule: Options.text("rule").pipe(
    Options.withPseudoName("rule-id"),
    Options.withDescription("Only matches of this rule (default: all rules)"),
    Options.optional
  ),
  platform: platformOption(languages).pipe(
    Options.withDescription("Only matches on this platform (default: all platforms)"),
    Options.optional
  )
})
