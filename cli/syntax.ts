/** `earshot check` and `earshot syntax`: the rule languages at the terminal. Nothing is stored or sent. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect } from "effect"
import { PLATFORM_IDS, type PlatformId } from "../core/model/PlatformId.ts"
import { helpFor } from "../core/platforms/syntaxHelp.ts"
import type { CheckedFilter } from "../core/rules/RuleCheck.ts"
import { checkRule } from "../core/syntax/language.ts"
import { translate } from "../core/syntax/translation/translate.ts"
import { toWireTranslation } from "../core/syntax/wire.ts"
import { draw } from "./drawing.ts"
import { AlreadyTold } from "./failures.ts"
import { type FilterActions, FROM_INPUT, filterText } from "./filter.ts"
import { jsonOption } from "./remote.ts"
import { visible } from "./terminal.ts"

export const checkCommand = <E>(actions: FilterActions<E>) =>
  Command.make(
    "check",
    {
      platform: Options.choice("platform", PLATFORM_IDS).pipe(
        Options.withAlias("p"),
        Options.withDescription("The platform whose language the filter is in")
      ),
      filter: Args.text({ name: "filter" }).pipe(Args.withDescription(`The filter, in quotes; ${FROM_INPUT}`)),
      json: jsonOption("Print what is wrong and what the filter means elsewhere, as JSON")
    },
    ({ platform, filter, json }) =>
      Effect.gen(function* () {
        const text = yield* filterText(actions, filter)
        const { issues, rule } = checkRule(platform, text)
        const others = PLATFORM_IDS.filter((other) => other !== platform)
        if (json) {
          yield* Console.log(JSON.stringify(jsonOf(platform, text, others), undefined, 2))
        } else {
          if (issues.length > 0) yield* Console.log(draw(text, issues))
          if (rule !== undefined) {
            yield* Console.log(
              `${issues.length > 0 ? "\n" : ""}The rule is valid on ${platform}: ${visible(rule.canonical)}`
            )
            for (const other of others) yield* Console.log(`\n${inOther(platform, text, other)}`)
          }
        }
        if (rule === undefined) return yield* new AlreadyTold()
      })
  ).pipe(
    Command.withDescription(
      "Check a filter: what is wrong, where, and how to mend it; exit code 1 if it is refused. Nothing is stored or sent"
    )
  )

export const syntaxCommand = Command.make(
  "syntax",
  {
    platform: Args.choice<PlatformId>(
      PLATFORM_IDS.map((id) => [id, id]),
      { name: "platform" }
    ).pipe(Args.withDescription("The platform whose language is wanted")),
    json: jsonOption("Print the help as data: operators, examples, limits")
  },
  ({ platform, json }) => {
    const help = helpFor(platform, {})
    return Console.log(json ? JSON.stringify(help, undefined, 2) : help.syntax)
  }
).pipe(Command.withDescription("Print how to write a filter for a platform, as Markdown"))

// ---- helpers ----

const jsonOf = (platform: PlatformId, text: string, others: ReadonlyArray<PlatformId>): CheckedFilter => {
  const { issues, rule } = checkRule(platform, text)
  if (rule === undefined) return { valid: false, issues, translations: {} }
  const translations = others.map((other) => [other, toWireTranslation(translate({ platform, text }, other))])
  return { valid: true, issues, canonical: rule.canonical, translations: Object.fromEntries(translations) }
}

const inOther = (platform: PlatformId, text: string, other: PlatformId): string => {
  const { text: translated, fidelity, clauses, reason } = translate({ platform, text }, other)
  const lines = clauses
    .filter((clause) => clause.fidelity !== "exact")
    .map(
      ({ span, fidelity, reason }) => `  ${fidelity}: ${visible(text.slice(span.start, span.end))} (${visible(reason)})`
    )
  const head =
    translated === undefined ? `On ${other}: none (${reason})` : `On ${other} (${fidelity}): ${visible(translated)}`
  return [head, ...lines].join("\n")
}
