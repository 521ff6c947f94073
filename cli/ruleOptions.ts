/** What the commands on rules share: the filters among their options, and how they print a rule. */
import { Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import type { RemoteFailure } from "../api/calls.ts"
import type { Language } from "../core/languages/Language.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import type { Rule } from "../core/rules/Rule.ts"
import { AlreadyReported, UsageError } from "./failures.ts"
import { drawRefusal, type FilterActions, filterText, STDIN_HELP } from "./filter.ts"
import { visible } from "./terminal.ts"

/** `otherwise`: what happens without the option. */
export const filterOptions = (languages: ReadonlyArray<Language>, otherwise: (platform: PlatformId) => string) =>
  Object.fromEntries(
    languages.map(({ id }) => [
      id,
      Options.text(id).pipe(
        Options.withPseudoName("filter"),
        Options.withDescription(`Filter on ${id}, in quotes; ${STDIN_HELP} (default: ${otherwise(id)})`),
        Options.optional
      )
    ])
  )

export const noFilter = (languages: ReadonlyArray<Language>) =>
  new UsageError({ message: `No filter: pass at least one of ${languages.map(({ id }) => `--${id}`).join(", ")}` })

/** Those that are given. */
export const filtersOf = <E>(
  actions: FilterActions<E>,
  given: Readonly<Record<PlatformId, Option.Option<string>>>
): Effect.Effect<Record<PlatformId, string>, E | UsageError> =>
  Effect.gen(function* () {
    const present = Object.entries(given).flatMap(([platform, filter]) =>
      Option.toArray(filter).map((text) => [platform, text] as const)
    )
    if (present.filter(([, text]) => text === "-").length > 1) {
      return yield* new UsageError({ message: "Only one of the filters can come from standard input" })
    }
    const filters: Record<PlatformId, string> = {}
    for (const [platform, text] of present) filters[platform] = yield* filterText(actions, text)
    return filters
  })

/** Draws the issues of a filter. Other failures are reported as usual. */
export const drawIssues =
  (filters: Readonly<Record<string, string>>) =>
  (failure: RemoteFailure): Effect.Effect<never, RemoteFailure | AlreadyReported> => {
    const drawing = failure._tag === "RemoteRefused" ? drawRefusal(failure.details, filters) : ""
    return drawing === "" ? Effect.fail(failure) : Effect.zipRight(Console.error(drawing), new AlreadyReported())
  }

export const platformRows = (
  rows: ReadonlyArray<readonly [platform: PlatformId, text: string]>
): ReadonlyArray<string> => {
  const columns = Math.max(MIN_PLATFORM_COLUMNS, ...rows.map(([platform]) => platform.length))
  return rows.map(([platform, text]) => `  ${platform.padEnd(columns)}  ${visible(text)}`)
}

export const describeRule = (
  { id, name, intent, platforms, created_at, version, shadow, activity }: Rule,
  languages: ReadonlyArray<Language>
): string => {
  const known = languages.map((language) => language.id)
  // The server may have platforms that the settings of this command do not turn on.
  const rows = (registrations: Rule["platforms"]) =>
    platformRows(
      [...known, ...Object.keys(registrations).filter((other) => !known.includes(other))].flatMap((id) => {
        const registration = registrations[id]
        if (registration === undefined) return []
        const { state, translated_value, reason, failed_since } = registration
        const since = failed_since === undefined ? "" : ` since ${failed_since}`
        return [[id, `${state}${since}  ${translated_value}${reason === undefined ? "" : ` (${reason})`}`]]
      })
    )
  return [
    `${id}  ${visible(name)}`,
    `  ${visible(intent)}`,
    `  Created ${created_at}, version ${version}`,
    ...(activity === undefined
      ? []
      : [
          `  ${activity.last_match_at === undefined ? "No stored match" : `Last match ${activity.last_match_at}, ${activity.matches_hour} in the last hour, ${activity.matches_day} in the last 24 hours`}`
        ]),
    ...rows(platforms),
    ...(shadow === undefined ? [] : [`  Shadow since ${shadow.since}`, ...rows(shadow.platforms)])
  ].join("\n")
}

// ---- helpers ----

/** One width for the platforms that every server has. */
const MIN_PLATFORM_COLUMNS = 8
