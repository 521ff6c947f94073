/** `earshot matches histogram`: draws the number of matches over time. */
import { Command, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import type { Language } from "../core/languages/Language.ts"
import { UNIT_MILLIS, Unit } from "../core/matches/Bars.ts"
import type { Histogram } from "../core/matches/Histogram.ts"
import { fromMillis } from "../core/model/Timestamp.ts"
import { counted } from "../core/text/counted.ts"
import { matchSelection } from "./matchSelection.ts"
import { namingOptions, type OptionNames } from "./optionNames.ts"
import { jsonOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"

export const histogramCommand = <E>(actions: TargetActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "histogram",
    {
      ...matchSelection(languages),
      from: Options.text("from").pipe(
        Options.withPseudoName("time"),
        Options.withDescription("Start, such as 2027-01-31T12:00:00Z or 2027-01-31 (default: 24 hours before the end)"),
        Options.optional
      ),
      to: Options.text("to").pipe(
        Options.withPseudoName("time"),
        Options.withDescription("End (default: now)"),
        Options.optional
      ),
      unit: Options.choice("unit", Unit.literals).pipe(
        Options.withDescription("Length of a bar (default: hour)"),
        Options.withDefault("hour" as const)
      ),
      ...targetOptions,
      json: jsonOption("Print the response as JSON")
    },
    ({ rule, platform, from, to, unit, json, url, account }) =>
      Effect.gen(function* () {
        const remote = yield* actions.connectTo({ url, account })
        const request = {
          ...Option.match(rule, { onNone: () => ({}), onSome: (rule_id) => ({ rule_id }) }),
          ...Option.match(platform, { onNone: () => ({}), onSome: (platform) => ({ platform }) }),
          ...Option.match(from, { onNone: () => ({}), onSome: (from) => ({ from }) }),
          ...Option.match(to, { onNone: () => ({}), onSome: (to) => ({ to }) }),
          unit
        }
        const count = remote.request(callOf(contracts.matches.histogram, request))
        const found = yield* json ? count : Effect.mapError(count, namingOptions(OPTIONS))
        if (json) return yield* printJson(found)
        for (const line of drawBars(found)) yield* Console.log(line)
        const total = found.series.reduce((sum, series) => sum + series.total, 0)
        yield* Console.error(`${counted(total, "match", "matches")} from ${found.from} to ${found.to}`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Draw the number of matches per minute, hour or day, in UTC.")))

/** One line per bar, the oldest first: its start, its number of matches, and a bar. Many bars without a match share a line. */
export const drawBars = ({
  unit,
  from,
  series
}: Pick<Histogram, "unit" | "from" | "series">): ReadonlyArray<string> => {
  const counts = series[0]?.counts ?? []
  const most = counts.reduce((a, b) => Math.max(a, b), 1)
  const digits = String(most).length
  const lines: Array<string> = []
  for (let i = 0; i < counts.length; ) {
    const start = fromMillis(Date.parse(from) + i * UNIT_MILLIS[unit])
    const time = unit === "day" ? start.slice(0, 10) : start.slice(0, 16).replace("T", " ")
    const count = counts[i] ?? 0
    const next = counts.findIndex((count, at) => at >= i && count > 0)
    const zeros = (next === -1 ? counts.length : next) - i
    const isFolded = zeros >= FOLDED
    const bar = isFolded ? `for ${counted(zeros, unit)}` : "#".repeat(Math.ceil((count / most) * LONGEST))
    lines.push(`${time}  ${String(count).padStart(digits)}  ${bar}`.trimEnd())
    i += isFolded ? zeros : 1
  }
  return lines
}

// ---- helpers ----

const OPTIONS: OptionNames = { rule_id: "--rule", from: "--from", to: "--to", unit: "--unit" }

/** In columns. */
const LONGEST = 50

/** Fewer bars without a match in a row get a line each. */
const FOLDED = 4
