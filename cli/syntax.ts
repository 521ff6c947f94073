/** `earshot check` and `earshot syntax`: check a filter, on request also on a server, and show the syntax. */
import { Args, Command, Options } from "@effect/cli"
import { Array as Arr, Console, Effect } from "effect"
import { callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import { describeBacktest, describeEstimate } from "../core/backtests/describe.ts"
import type { Language } from "../core/languages/Language.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import type { WireTranslation } from "../core/model/wire.ts"
import { helpFor } from "../core/platforms/syntaxHelp.ts"
import { lossesIn } from "../core/rules/describeLoss.ts"
import { describeVerdict } from "../core/rules/PlatformVerdict.ts"
import { type CheckedFilter, type CheckRequest, checkedInTurns } from "../core/rules/RuleCheck.ts"
import { finish } from "../core/work/turns.ts"
import { draw } from "./drawing.ts"
import { AlreadyReported } from "./failures.ts"
import { type FilterActions, filterText, STDIN_HELP } from "./filter.ts"
import { platformOption } from "./platformOption.ts"
import { jsonOption, printJson, type Remote, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface CheckActions<E> extends TargetActions<E>, FilterActions<E> {}

export const checkCommand = <E>(actions: CheckActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "check",
    {
      platform: platformOption(languages).pipe(
        Options.withAlias("p"),
        Options.withDescription("Platform of the filter")
      ),
      filter: Args.text({ name: "filter" }).pipe(Args.withDescription(`The filter, in quotes; ${STDIN_HELP}`)),
      backtest: Options.boolean("backtest").pipe(
        Options.withDescription("Also test the filter on the newest events of the server")
      ),
      askPlatforms: Options.boolean("ask-platforms").pipe(
        Options.withDescription(
          "Also ask the platform whether it accepts the filter, and on the real X how many posts matched it in the last seven days and what a month would cost"
        )
      ),
      ...targetOptions,
      json: jsonOption("Print the result as JSON")
    },
    ({ platform, filter, backtest, askPlatforms, json, ...target }) =>
      Effect.gen(function* () {
        const text = yield* filterText(actions, filter)
        const language = yield* languageOf(languages, platform)
        const checked =
          backtest || askPlatforms
            ? yield* checkOnServer(yield* actions.connectTo(target), platform, {
                overrides: { [platform]: text },
                ...(backtest && { backtest: {} }),
                ask_platforms: askPlatforms
              })
            : finish(checkedInTurns({ language, text }, languages)).checked
        yield* json ? printJson(checked) : Console.log(describeChecked({ language, text }, checked))
        if (!checked.valid) return yield* new AlreadyReported()
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Check a filter: shows its issues with fixes, and its translation to other platforms. The exit code is 1 if it is not valid. Nothing is stored, and without --backtest and --ask-platforms nothing is sent and no server is needed."
      )
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

interface OwnText {
  readonly language: Language
  readonly text: string
}

const checkOnServer = (remote: Remote, platform: PlatformId, request: typeof CheckRequest.Encoded) =>
  Effect.flatMap(remote.request(callOf(contracts.rules.check, request)), ({ platforms }) =>
    Effect.orDie(Effect.fromNullable(platforms[platform]))
  )

const describeChecked = ({ language, text }: OwnText, checked: CheckedFilter): string => {
  const { issues, fixed, incomplete, canonical, translations, backtest, platform_verdict } = checked
  const { id, events } = language
  const titled = (event: unknown) => `  - ${events.titleOf(event) ?? "an event without a title"}`
  const findings = [
    ...(backtest === undefined ? [] : [`Backtest: ${describeBacktest(language, backtest)}`]),
    ...(backtest?.samples ?? []).map(titled),
    ...(backtest?.newest === undefined
      ? []
      : ["The newest events, none of which matches:", ...backtest.newest.map(titled)]),
    ...(platform_verdict === undefined ? [] : [describeVerdict(id, platform_verdict)]),
    ...describeEstimate(id, checked)
  ].map(visible)
  return [
    ...(issues.length === 0 ? [] : [draw(text, issues)]),
    ...(fixed === undefined ? [] : [`With all fixes: ${visible(fixed)}`]),
    ...(incomplete === undefined ? [] : [incomplete]),
    ...(canonical === undefined ? [] : [`The filter is valid on ${id}: ${visible(canonical)}`]),
    ...Object.entries(translations).map(([other, translation]) =>
      describeTranslation({ id, text }, other, translation)
    ),
    ...(findings.length === 0 ? [] : [findings.join("\n")])
  ].join("\n\n")
}

const describeTranslation = (
  { id, text }: { readonly id: PlatformId; readonly text: string },
  other: PlatformId,
  translation: typeof WireTranslation.Type
): string => {
  const { text: translated, fidelity, clauses, reason, notes = [], incomplete } = translation
  const lines = lossesIn(clauses, id).flatMap(({ clause: { span, fidelity, reason }, examples }) => {
    return [
      `  ${fidelity}: ${visible(text.slice(span.start, span.end))} (${visible(reason)})`,
      ...examples.map((line) => `    ${visible(line)}`)
    ]
  })
  const head =
    translated === undefined
      ? `On ${other}: no translation (${reason})`
      : `On ${other} (${fidelity}): ${visible(translated)}`
  const remarks = [...notes, ...(incomplete === undefined ? [] : [incomplete])]
  return [head, ...lines, ...remarks.map((remark) => `  ${visible(remark)}`)].join("\n")
}
