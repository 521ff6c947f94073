/** `earshot platforms`: how the platforms of a running Earshot are doing. */
import { Command, HelpDoc, Options } from "@effect/cli"
import { Console, Effect, type Option, Schema } from "effect"
import { PlatformStatus } from "../core/PlatformStatus.ts"
import { plural } from "./progress.ts"
import { type Remote, remoteSettings } from "./remote.ts"

export interface PlatformsActions<E> {
  /** The server that the settings name; the address here goes before theirs. */
  readonly remote: (url: Option.Option<string>) => Effect.Effect<Remote, E>
}

export const platformsCommand = <E>(actions: PlatformsActions<E>) =>
  Command.make(
    "platforms",
    {
      url: Options.text("url").pipe(
        Options.withDescription("Address of the server, instead of EARSHOT_URL"),
        Options.optional
      ),
      json: Options.boolean("json").pipe(Options.withDescription("Print what the server answers, as JSON"))
    },
    ({ url, json }) =>
      Effect.gen(function* () {
        const remote = yield* actions.remote(url)
        const { platforms } = yield* remote.request({ method: "GET", path: "/platforms/status", answer: Answer })
        yield* Console.log(json ? JSON.stringify({ platforms }, undefined, 2) : platforms.map(inWords).join("\n\n"))
      })
  ).pipe(
    Command.withDescription(
      HelpDoc.blocks([
        HelpDoc.p("Show how the platforms of a running Earshot are doing: streams, rules, limits, the last error."),
        remoteSettings
      ])
    )
  )

// ---- helpers ----

const Answer = Schema.Struct({ platforms: Schema.Array(PlatformStatus) })

const inWords = ({ platform, source, stream, rules, rules_error, usage }: PlatformStatus): string =>
  [
    `${platform}  ${stream.state}${source === "local" ? " (in process)" : ""} since ${stream.since}`,
    `  ${stream.detail}`,
    `  Last event: ${stream.last_event_at ?? "none since the start"}`,
    ...(stream.last_error === undefined ? [] : [`  Last error: ${stream.last_error.message}, ${stream.last_error.at}`]),
    ...(rules === undefined ? [] : [`  Rules: ${rulesInWords(rules)}`]),
    ...(rules_error === undefined ? [] : [`  Rules could not be compared: ${rules_error.message}, ${rules_error.at}`]),
    ...(usage === undefined ? [] : [`  Events of the billing period: ${usage.used} of ${usage.limit}`])
  ].join("\n")

const rulesInWords = (rules: NonNullable<PlatformStatus["rules"]>): string =>
  [
    `${rules.wanted} wanted${rules.limit === undefined ? "" : `, ${rules.limit} allowed`}`,
    ...(rules.missing === 0 ? [] : [`${rules.missing} that the platform does not take now`]),
    ...(rules.orphaned === 0 ? [] : [`${rules.orphaned} still to be removed there`]),
    ...(rules.foreign === 0 ? [] : [`${plural(rules.foreign, "rule")} there of someone else`]),
    `compared ${rules.checked_at}`
  ].join(", ")
