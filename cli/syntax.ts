/** `earshot check` and `earshot syntax`: the rule languages at the terminal. Nothing is stored or sent. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Data, Effect } from "effect"
import { PLATFORM_IDS, type PlatformId } from "../core/PlatformId.ts"
import { draw } from "../core/syntax/drawing.ts"
import { helpFor } from "../core/syntax/help.ts"
import { checkRule } from "../core/syntax/language.ts"
import { translate } from "../core/syntax/translate.ts"

/** The rule is wrong, and the drawing has said so: only the exit code is left to set. */
export class RuleIsWrong extends Data.TaggedError("RuleIsWrong") {}

export const checkCommand = Command.make(
  "check",
  {
    platform: Options.choice("platform", PLATFORM_IDS).pipe(
      Options.withAlias("p"),
      Options.withDescription("The platform whose language the rule is in")
    ),
    rule: Args.text({ name: "rule" }).pipe(Args.withDescription("The filter, in quotes"))
  },
  ({ platform, rule: text }) =>
    Effect.gen(function* () {
      const { issues, rule } = checkRule(platform, text)
      if (issues.length > 0) yield* Console.log(draw(text, issues))
      if (rule === undefined) return yield* new RuleIsWrong()
      yield* Console.log(`${issues.length > 0 ? "\n" : ""}The rule is valid on ${platform}: ${rule.canonical}`)
      for (const other of PLATFORM_IDS) {
        if (other !== platform) yield* Console.log(`\n${inOther(platform, text, other)}`)
      }
    })
).pipe(Command.withDescription("Check a rule: what is wrong, where, and how to mend it; exit code 1 if it is refused"))

export const syntaxCommand = Command.make(
  "syntax",
  {
    platform: Args.choice<PlatformId>(
      [
        ["x", "x"],
        ["firehose", "firehose"]
      ],
      { name: "platform" }
    )
  },
  ({ platform }) => Console.log(helpFor(platform, {}).syntax)
).pipe(Command.withDescription("Print how to write a rule for a platform, as Markdown"))

// ---- helpers ----

const inOther = (platform: PlatformId, text: string, other: PlatformId): string => {
  const { text: translated, fidelity, clauses, reason } = translate({ platform, text }, other)
  const lines = clauses
    .filter((clause) => clause.fidelity !== "exact")
    .map(({ span, fidelity, reason }) => `  ${fidelity}: ${text.slice(span.start, span.end)} (${reason})`)
  const head = translated === undefined ? `On ${other}: none (${reason})` : `On ${other} (${fidelity}): ${translated}`
  return [head, ...lines].join("\n")
}
