/** The `--platform` option. */
import { Options } from "@effect/cli"
import type { Language } from "../core/languages/Language.ts"

export const platformOption = (languages: ReadonlyArray<Language>) =>
  Options.choice(
    "platform",
    languages.map(({ id }) => id)
  )
