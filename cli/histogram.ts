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
        const found = yield* remote.request(callOf(contracts.matches.histogram, request))
        if (json) return yield* printJson(found)
        for (const line of drawBars(found)) yield* Console.log(line)
        const total = found.series.reduce((sum, series) => sum + series.total, 0)
        yield* Console.error(`${counted(total, "match", "matches")} from ${found.from} to ${found.to}`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Draw the number of matches per minute, hour or day, in UTC.")))

/** One line per bar, the oldest first: its start, its number of matches, and a bar. */
export const drawBars = ({
  unit,
  from,
  series
}: Pick<Histogram, "unit" | "from" | "series">): ReadonlyArray<string> => {
  const counts = series[0]?.counts ?? []
  const most = counts.reduce((a, b) => Math.max(a, b), 1)
  const digits = String(most).length
  return counts.map((count, i) => {
    const start = fromMillis(Date.parse(from) + i * UNIT_MILLIS[unit])
    const time = unit === "day" ? start.slice(0, 10) : start.slice(0, 16).replace("T", " ")
    return `${time}  ${String(count).padStart(digits)}  ${"#".repeat(Math.ceil((count / most) * LONGEST))}`.trimEnd()
  })
}

// ---- helpers ----

/** In columns. */
const LONGEST = 50
