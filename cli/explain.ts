/** `earshot explain`: why a rule matched an event or not, and why a rule matches nothing. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { callOf, type RemoteFailure } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import { sourceOf } from "../core/backtests/describe.ts"
import { describeHits } from "../core/explanations/describe.ts"
import type { ExplainResult, HitsResult } from "../core/explanations/Explanations.ts"
import type { Language } from "../core/languages/Language.ts"
import { counted } from "../core/text/counted.ts"
import { parseProblem } from "../core/text/json.ts"
import { issuesIn, UsageError } from "./failures.ts"
import { type FilterActions, textOrInput } from "./filter.ts"
import { namingOptions, type OptionNames } from "./optionNames.ts"
import { platformOption } from "./platformOption.ts"
import { jsonOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface ExplainActions<E> extends TargetActions<E>, FilterActions<E> {}

export const explainCommand = <E>(actions: ExplainActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "explain",
    {
      id: Args.text({ name: "id" }).pipe(
        Args.withDescription("Id of a match; or of a rule, to explain it on an event or on the recent events")
      ),
      post: Options.text("post").pipe(
        Options.withPseudoName("id"),
        Options.withDescription("With a rule: the platform's id of a recent event (default: all recent events)"),
        Options.optional
      ),
      event: Options.text("event").pipe(
        Options.withPseudoName("json"),
        Options.withDescription(
          "With a rule: the event as JSON, in quotes; - reads it from standard input (default: all recent events)"
        ),
        Options.optional
      ),
      platform: platformOption(languages).pipe(
        Options.withDescription("With a rule: only on this platform (default: all platforms of the rule)"),
        Options.optional
      ),
      ...targetOptions,
      json: jsonOption("Print the response as JSON")
    },
    ({ id, post: postId, event, platform, json, ...target }) =>
      Effect.gen(function* () {
        if (!/^(match|rule)_/.test(id)) {
          return yield* new UsageError({
            message: `"earshot explain" needs the id of a match (match_…) or of a rule (rule_…), not "${id}"`
          })
        }
        if (id.startsWith("match_") && Option.isSome(Option.firstSomeOf([postId, event, platform]))) {
          return yield* new UsageError({ message: "--post, --event and --platform are for the id of a rule" })
        }
        if (Option.isSome(postId) && Option.isSome(event)) {
          return yield* new UsageError({ message: "--post and --event both name the event: use one of them" })
        }
        const sent = Option.isSome(event)
          ? Option.some(yield* parsed(yield* textOrInput(actions, event.value, EVENT)))
          : event
        const remote = yield* actions.connectTo(target)
        const onPlatform = Option.isSome(platform) ? { platform: platform.value } : {}
        if (!id.startsWith("match_") && Option.isNone(postId) && Option.isNone(sent)) {
          const count = remote.request(callOf(contracts.rules.hits, { rule_id: id, ...onPlatform }))
          const hits = yield* json ? count : Effect.mapError(count, namingOptions(OPTIONS))
          return yield* json ? printJson(hits) : Console.log(describeAllHits(hits, languages))
        }
        const request = id.startsWith("match_")
          ? { match_id: id }
          : {
              rule_id: id,
              ...onPlatform,
              ...(Option.isSome(postId) && { platform_post_id: postId.value }),
              ...(Option.isSome(sent) && { event: sent.value })
            }
        const result = yield* Effect.mapError(remote.request(callOf(contracts.matches.explain, request)), (failure) => {
          const named = json ? failure : namingOptions(OPTIONS)(failure)
          return Option.isNone(platform) ? withPlatformOption(named) : named
        })
        yield* json ? printJson(result) : Console.log(describe(result))
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Explain why a rule matched an event or not, or why it matches nothing: earshot explain match_…, or earshot explain rule_… with --post or --event. Without them, count how many of the newest events each part of the rule matches."
      )
    )
  )

// ---- helpers ----

const OPTIONS: OptionNames = {
  rule_id: "<id>",
  platform: "--platform",
  platform_post_id: "--post",
  event: "--event"
}

/** As large as the body of a request may be. */
const EVENT = { what: "an event", max: 1_048_576 }

const parsed = (text: string): Effect.Effect<unknown, UsageError> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) => new UsageError({ message: `--event: expected an event as JSON: ${parseProblem(cause)}` })
  })

/** Names the option that is missing if the rule watches several platforms. */
const withPlatformOption = (failure: RemoteFailure): RemoteFailure | UsageError => {
  const issues = failure._tag === "RemoteRefused" ? issuesIn(failure.details) : []
  const choices = issues.find(({ path }) => path === "platform")?.expected ?? []
  if (choices.length === 0) return failure
  return new UsageError({
    message: `The rule watches ${choices.join(" and ")}: add ${choices.map((id) => `--platform ${id}`).join(" or ")}`
  })
}

const quoted = (text: string): string => `"${visible(text)}"`

const describeAllHits = ({ platforms }: HitsResult, languages: ReadonlyArray<Language>): string =>
  Object.entries(platforms)
    .flatMap(([platform, hits]) =>
      hits === undefined ? [] : [describeHits(sourceOf(languages, platform), hits, visible).map(visible).join("\n")]
    )
    .join("\n\n")

const describe = ({ platform, filter, matched, clauses, decisive, changes = [] }: ExplainResult): string => {
  const clauseAt = ({ start, end }: { readonly start: number; readonly end: number }) =>
    visible(filter.slice(start, end))
  return [
    `The filter on ${platform} ${matched ? "matches" : "does not match"}: ${visible(filter)}`,
    "",
    ...clauses.map(
      ({ span, held, negated, tested }) =>
        `  ${held ? "yes" : "no "}  ${clauseAt(span)}${negated ? " (excluded)" : ""}${describeTested(tested)}`
    ),
    "",
    // Of a miss, other clauses of an OR may have failed alike.
    `${matched ? "Decided by" : "It would match if this were different"}: ${decisive.map(clauseAt).join(", ")}`,
    ...(changes.length === 0 ? [] : ["", "It would match with any one of these changes:"]),
    ...changes.flatMap(({ message, text }) => [`  ${visible(message)}`, `    ${visible(text)}`]),
    ...(matched || changes.length > 0
      ? []
      : ["", "No small change makes the filter match this event without changing what it looks for"])
  ].join("\n")
}

const describeTested = (tested: ExplainResult["clauses"][number]["tested"]): string => {
  if (tested === undefined) return ""
  const { field, values, count, place } = tested
  if (place !== undefined) return `  in ${field} at ${place.start} to ${place.end}: ${quoted(place.text)}`
  if (values.length === 0) return `  the event has no ${field}`
  const more = count > values.length ? ` and ${counted(count - values.length, "more value")}` : ""
  return `  ${field} is ${values.map(quoted).join(", ")}${more}`
}
