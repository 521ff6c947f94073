/** `earshot check` and `earshot syntax`: check a filter and show the syntax, offline. */
import { Args, Command, Options } from "@effect/cli"
import { Array as Arr, Console, Effect } from "effect"
import type { Language } from "../core/languages/Language.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import type { WireTranslation } from "../core/model/wire.ts"
import { helpFor } from "../core/platforms/syntaxHelp.ts"
import { type CheckedFilter, translations } from "../core/rules/RuleCheck.ts"
import { draw } from "./drawing.ts"
import { AlreadyReported } from "./failures.ts"
import { type FilterActions, filterText, STDIN_HELP } from "./filter.ts"
import { platformOption } from "./platformOption.ts"
import { jsonOption, printJson } from "./remote.ts"
import { visible } from "./terminal.ts"

export const checkCommand = <E>(actions: FilterActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "check",
    {
      platform: platformOption(languages).pipe(
        Options.withAlias("p"),
        Options.withDescription("Platform of the filter")
      ),
      filter: Args.text({ name: "filter" }).pipe(Args.withDescription(`The filter, in quotes; ${STDIN_HELP}`)),
      json: jsonOption("Print the issues and the translations of the filter as JSON")
    },
    ({ platform, filter, json }) =>
      Effect.gen(function* () {
        const text = yield* filterText(actions, filter)
        const language = yield* languageOf(languages, platform)
        const { issues, rule } = language.check(text)
        if (json) {
          yield* printJson(jsonOf({ language, text }, languages))
        } else {
          if (issues.length > 0) yield* Console.log(draw(text, issues))
          if (rule !== undefined) {
            yield* Console.log(
              `${issues.length > 0 ? "\n" : ""}The filter is valid on ${platform}: ${visible(rule.canonical)}`
            )
            for (const [other, translation] of Object.entries(translations({ language, text }, languages))) {
              yield* Console.log(`\n${describeTranslation(text, other, translation)}`)
            }
          }
        }
        if (rule === undefined) return yield* new AlreadyReported()
      })
  ).pipe(
    Command.withDescription(
      "Check a filter: shows its issues with fixes, and its translation to other platforms. The exit code is 1 if it is not valid. Nothing is stored or sent."
    )
  )

export const syntaxCommand = (languages: ReadonlyArray<Language>) =>
  Command.make(
    "syntax",
    {
      platform: Args.choice(
        languages.map(({ id }) => [id, id]),
        { name: "platform" }
      ).pipe(Args.withDescription("Platform of the syntax")),
      json: jsonOption("Print operators, examples and limits as JSON")
    },
    ({ platform, json }) =>
      Effect.gen(function* () {
        const help = helpFor(yield* languageOf(languages, platform), {})
        yield* json ? printJson(help) : Console.log(help.syntax)
      })
  ).pipe(Command.withDescription("Print the filter syntax of a platform as Markdown"))

// ---- helpers ----

const languageOf = (languages: ReadonlyArray<Language>, platform: string) =>
  Effect.orDie(Arr.findFirst(languages, ({ id }) => id === platform))

const jsonOf = (
  { language, text }: { readonly language: Language; readonly text: string },
  languages: ReadonlyArray<Language>
): CheckedFilter => {
  const { issues, rule } = language.check(text)
  if (rule === undefined) return { valid: false, issues, translations: {} }
  return { valid: true, issues, canonical: rule.canonical, translations: translations({ language, text }, languages) }
}

const describeTranslation = (text: string, other: PlatformId, translation: typeof WireTranslation.Type): string => {
  const { text: translated, fidelity, clauses, reason } = translation
  const lines = clauses
    .filter((clause) => clause.fidelity !== "exact")
    .map(
      ({ span, fidelity, reason }) => `  ${fidelity}: ${visible(text.slice(span.start, span.end))} (${visible(reason)})`
    )
  const head =
    translated === undefined
      ? `On ${other}: no translation (${reason})`
      : `On ${other} (${fidelity}): ${visible(translated)}`
  return [head, ...lines].join("\n")
}
