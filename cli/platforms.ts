/** `earshot platforms`: shows the status of a server's platforms. */
import { Command } from "@effect/cli"
import { Console, Effect, type Option } from "effect"
import { callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import { describeNewer } from "../core/rules/reconcilePlatform.ts"
import { describeDrill } from "../core/status/Drill.ts"
import type { PlatformStatus } from "../core/status/PlatformStatus.ts"
import { describeWatched } from "./coverage.ts"
import { plural } from "./progress.ts"
import { jsonOption, printJson, type Remote, urlOption } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface PlatformsActions<E> {
  /** The configured server, or that of the local store as its operator; `url` overrides the setting. */
  readonly remote: (url: Option.Option<string>) => Effect.Effect<Remote, E>
}

export const platformsCommand = <E>(actions: PlatformsActions<E>) =>
  Command.make(
    "platforms",
    {
      url: urlOption,
      json: jsonOption("Print the response as JSON")
    },
    ({ url, json }) =>
      Effect.gen(function* () {
        const remote = yield* actions.remote(url)
        const status = yield* remote.request(callOf(contracts.platforms.status))
        const parts = [...describeDrill(status.drill), ...status.platforms.map(describe)]
        yield* json ? printJson(status) : Console.log(parts.join("\n\n"))
      })
  ).pipe(
    Command.withDescription(
      "Show the status of a server's platforms: streams, rules, limits, the last error, the posts of this month and their cost."
    )
  )

// ---- helpers ----

type Budget = NonNullable<PlatformStatus["budget"]>

const describe = ({
  platform,
  source,
  address,
  stream,
  owner,
  rules,
  coverage,
  usage,
  budget
}: PlatformStatus): string =>
  [
    `${platform}  ${stream.state}${source === "local" ? " (in process)" : ""} since ${stream.since}`,
    `  ${visible(stream.detail)}`,
    ...(address === undefined ? [] : [`  Connected to ${visible(address)}, not to the platform's own service`]),
    `  Last event: ${stream.last_event_at ?? "none since startup"}`,
    ...(stream.last_error === undefined
      ? []
      : [`  Last error, ${stream.last_error.at}: ${visible(stream.last_error.message)}`]),
    ...(owner === undefined ? [] : [`  Owner: ${describeOwner(owner)}`]),
    `  Watched: ${describeWatched(coverage)}`,
    `  Rules: ${describeRules(rules)}`,
    ...(rules.error === undefined || rules.error.message === stream.detail
      ? []
      : [`  Cannot check the rules, ${rules.error.at}: ${visible(rules.error.message)}`]),
    ...(usage === undefined
      ? []
      : [
          `  Events in this billing period: ${usage.used} of ${usage.limit}, as reported by ${platform} at ${usage.reported_at}`
        ]),
    ...(budget === undefined ? [] : describeBudget(budget))
  ].join("\n")

const describeOwner = ({ server, epoch, since, alive }: NonNullable<PlatformStatus["owner"]>): string =>
  `${server === undefined ? "" : `${visible(server)}, `}epoch ${epoch}, since ${since}${alive ? "" : " (has stopped)"}`

const describeBudget = ({ month, limit, warning, accounts, ...shown }: Budget): ReadonlyArray<string> => [
  `  Posts in ${month}: ${shown.used}${accounts === undefined ? " for the rules of this account" : ""}, $${dollars(shown.cost)} at $${shown.price_per_post} each`,
  ...(limit === undefined
    ? []
    : [
        `  Budget: ${warning === undefined ? `${shown.used_percent} % of ${limit} posts used` : `warning: ${warning}`}`
      ]),
  ...(accounts ?? []).map(({ name, used, cost }) => `    ${visible(name)}  ${used}, $${dollars(cost)}`)
]

const dollars = (amount: number): string => (Math.round(amount * 100 + 1e-6) / 100).toFixed(2)

const describeRules = ({ wanted, limit, drift }: PlatformStatus["rules"]): string =>
  [
    `${wanted}${limit === undefined ? "" : ` of at most ${limit}`}`,
    ...(drift === undefined
      ? []
      : [
          ...(drift.missing === 0
            ? []
            : [
                `${drift.missing} missing on the platform${drift.missing_since === undefined ? "" : ` since ${drift.missing_since}`} (earshot rules list shows why)`
              ]),
          ...(drift.orphaned === 0 ? [] : [`${drift.orphaned} to be removed from it`]),
          ...(drift.foreign === 0 ? [] : [`${plural(drift.foreign, "rule")} on it registered by others`]),
          ...(drift.newer === undefined ? [] : [describeNewer(drift.newer)]),
          `checked at ${drift.checked_at}`
        ])
  ].join(", ")
