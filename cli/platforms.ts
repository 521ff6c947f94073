/** `earshot platforms`: how the platforms of a running Earshot are doing. */
import { Command } from "@effect/cli"
import { Console, Effect, type Option, Schema } from "effect"
import { PlatformStatus } from "../core/status/PlatformStatus.ts"
import { plural } from "./progress.ts"
import { jsonOption, type Remote, urlOption } from "./remote.ts"

export interface PlatformsActions<E> {
  /** The server that the settings name; the address here goes before theirs. */
  readonly remote: (url: Option.Option<string>) => Effect.Effect<Remote, E>
}

export const platformsCommand = <E>(actions: PlatformsActions<E>) =>
  Command.make(
    "platforms",
    {
      url: urlOption,
      json: jsonOption("Print what the server answers, as JSON")
    },
    ({ url, json }) =>
      Effect.gen(function* () {
        const remote = yield* actions.remote(url)
        const { platforms } = yield* remote.request({ method: "GET", path: "/platforms/status", answer: Answer })
        yield* Console.log(json ? JSON.stringify({ platforms }, undefined, 2) : platforms.map(inWords).join("\n\n"))
      })
  ).pipe(
    Command.withDescription(
      "Show how the platforms of a running Earshot are doing: streams, rules, limits, the last error."
    )
  )

// ---- helpers ----

const Answer = Schema.Struct({ platforms: Schema.Array(PlatformStatus) })

const inWords = ({ platform, source, stream, rules, coverage, usage }: PlatformStatus): string =>
  [
    `${platform}  ${stream.state}${source === "local" ? " (in process)" : ""} since ${stream.since}`,
    `  ${stream.detail}`,
    `  Last event: ${stream.last_event_at ?? "none since the start"}`,
    ...(stream.last_error === undefined ? [] : [`  Last error, ${stream.last_error.at}: ${stream.last_error.message}`]),
    `  Watched: ${coverageInWords(coverage)}`,
    `  Rules: ${rulesInWords(rules)}`,
    ...(rules.error === undefined || rules.error.message === stream.detail
      ? []
      : [`  Rules could not be compared: ${rules.error.message}, ${rules.error.at}`]),
    ...(usage === undefined ? [] : [`  Events of the billing period: ${usage.used} of ${usage.limit}`])
  ].join("\n")

const rulesInWords = ({ wanted, limit, drift }: PlatformStatus["rules"]): string =>
  [
    `${wanted} wanted${limit === undefined ? "" : `, ${limit} allowed`}`,
    ...(drift === undefined
      ? []
      : [
          ...(drift.missing === 0 ? [] : [`${drift.missing} that the platform does not take now`]),
          ...(drift.orphaned === 0 ? [] : [`${drift.orphaned} still to be removed there`]),
          ...(drift.foreign === 0 ? [] : [`${plural(drift.foreign, "rule")} there of someone else`]),
          `compared with the platform ${drift.checked_at}`
        ])
  ].join(", ")

const coverageInWords = ({ watched_since, gaps, more_gaps }: PlatformStatus["coverage"]): string => {
  if (watched_since === undefined) return "never yet"
  const [newest] = gaps
  const lost = gaps.filter(({ recovered }) => !recovered).length
  const inAll =
    newest === undefined
      ? "no gap in the last 24 hours"
      : `${more_gaps ? "more than " : ""}${plural(gaps.length, "gap")} in the last 24 hours, ${lost} not made up for; the last from ${newest.from} ${newest.to === undefined ? "on" : `to ${newest.to}`} (${newest.cause})`
  return `since ${watched_since}; ${inAll}`
}
