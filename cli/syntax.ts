/** `earshot check` and `earshot syntax`: the rule languages at the terminal. Nothing is stored or sent. */
import { Args, Command, Options } from "@effect/cli"
import { Array as Arr, Console, Effect } from "effect"
import type { PlatformId } from "../core/model/PlatformId.ts"
import { helpFor } from "../core/platforms/syntaxHelp.ts"
import { type CheckedFilter, translations } from "../core/rules/RuleCheck.ts"
import type { Language } from "../core/syntax/language.ts"
import type { WireTranslation } from "../core/syntax/wire.ts"
import { draw } from "./drawing.ts"
import { AlreadyTold } from "./failures.ts"
import { type FilterActions, FROM_INPUT, filterText } from "./filter.ts"
import { platformOption } from "./platformOption.ts"
import { jsonOption } from "./remote.ts"
import { visible } from "./terminal.ts"

export const checkCommand = <E>(actions: FilterActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "check",
    {
      platform: platformOption(languages).pipe(
        Options.withAlias("p"),
        Options.withDescription("The platform whose language the filter is in")
      ),
      filter: Args.text({ name: "filter" }).pipe(Args.withDescription(`The filter, in quotes; ${FROM_INPUT}`)),
      json: jsonOption("Print what is wrong and what the filter means elsewhere, as JSON")
    },
    ({ platform, filter, json }) =>
      Effect.gen(function* () {
        const text = yield* filterText(actions, filter)
        const language = yield* languageOf(languages, platform)
        const { issues, rule } = language.check(text)
        if (json) {
          yield* Console.log(JSON.stringify(jsonOf({ language, text }, languages), undefined, 2))
        } else {
          if (issues.length > 0) yield* Console.log(draw(text, issues))
          if (rule !== undefined) {
            yield* Console.log(
              `${issues.length > 0 ? "\n" : ""}The rule is valid on ${platform}: ${visible(rule.canonical)}`
            )
            for (const [other, translation] of Object.entries(translations({ language, text }, languages))) {
              yield* Console.log(`\n${describeTranslation(text, other, translation)}`)
            }
          }
        }
        if (rule === undefined) return yield* new AlreadyTold()
      })
  ).pipe(
    Command.withDescription(
      "Check a filter: what is wrong, where, and how to mend it; exit code 1 if it is refused. Nothing is stored or sent"
    )
  )

export const syntaxCommand = (languages: ReadonlyArray<Language>) =>
  Command.make(
    "syntax",
    {
      platform: Args.choice(
        languages.map(({ id }) => [id, id]),
        { name: "platform" }
      ).pipe(Args.withDescription("The platform whose language is wanted")),
      json: jsonOption("Print the help as data: operators, examples, limits")
    },
    ({ platform, json }) =>
      Effect.gen(function* () {
        const help = helpFor(yield* languageOf(languages, platform), {})
        yield* Console.log(json ? JSON.stringify(help, undefined, 2) : help.syntax)
      })
  ).pipe(Command.withDescription("Print how to write a filter for a platform, as Markdown"))

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
    translated === undefined ? `On ${other}: none (${reason})` : `On ${other} (${fidelity}): ${visible(translated)}`
  return [head, ...lines].join("\n")
}
