/** `earshot rules`: creates, lists and deletes rules. */
import { Command, Options } from "@effect/cli"
import { Console, Effect, Option, Schema } from "effect"
import type { Language } from "../core/languages/Language.ts"
import { PlatformId } from "../core/model/PlatformId.ts"
import { WireIssue } from "../core/model/wire.ts"
import { Rule } from "../core/rules/Rule.ts"
import { deleteEach, deletionOptions } from "./deletion.ts"
import { draw } from "./drawing.ts"
import { AlreadyReported, UsageError } from "./failures.ts"
import { drawRefusal, type FilterActions, filterText, STDIN_HELP } from "./filter.ts"
import {
  jsonOption,
  post,
  printJson,
  type RemoteFailure,
  type TargetActions,
  targetHelp,
  targetOptions
} from "./remote.ts"
import { visible } from "./terminal.ts"

export interface RulesActions<E> extends TargetActions<E>, FilterActions<E> {}

export const rulesCommand = <E>(actions: RulesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make("rules").pipe(
    Command.withDescription("Create, list and delete rules"),
    Command.withSubcommands([createRule(actions, languages), listRules(actions, languages), deleteRules(actions)])
  )

// ---- helpers ----

const filterOption = (platform: PlatformId) =>
  Options.text(platform).pipe(
    Options.withPseudoName("filter"),
    Options.withDescription(
      `Filter on ${platform}, in quotes; ${STDIN_HELP} (default: the rule does not watch ${platform})`
    ),
    Options.optional
  )

const createRule = <E>(actions: RulesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "create",
    {
      name: Options.text("name").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("Name of the rule, 1 to 200 characters")
      ),
      intent: Options.text("intent").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("What the rule is for, in plain words, 1 to 4000 characters")
      ),
      filters: Object.fromEntries(languages.map(({ id }) => [id, filterOption(id)])),
      ...targetOptions,
      json: jsonOption("Print the response as JSON")
    },
    ({ name, intent, filters, json, ...target }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        const remote = yield* actions.connectTo(target)
        const draft = { name, intent, platforms: Object.keys(overrides), overrides }
        const create = remote.request(post("/api.CreateRule", draft, CreatedRule))
        const created = yield* json ? create : Effect.catchAll(create, drawIssues(overrides))
        if (json) return yield* printJson(created)
        const registered = Object.entries(created.platforms)
        const rows = registered.map(([platform, { translated_value }]) => row(platform, translated_value))
        yield* Console.log([created.rule_id, ...rows].join("\n"))
        for (const [platform, { warnings = [] }] of registered) {
          if (warnings.length > 0)
            yield* Console.error(`\nOn ${platform}\n${draw(overrides[platform] ?? "", warnings)}`)
        }
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(targetHelp("Create a rule, and print its id and the registered filter of each platform."))
  )

const CreatedRule = Schema.Struct({
  rule_id: Schema.String,
  platforms: Schema.Record({
    key: PlatformId,
    value: Schema.Struct({
      translated_value: Schema.String,
      warnings: Schema.optionalWith(Schema.Array(WireIssue), { exact: true })
    })
  })
})

const filtersOf = <E>(
  actions: FilterActions<E>,
  given: Readonly<Record<PlatformId, Option.Option<string>>>
): Effect.Effect<Record<PlatformId, string>, E | UsageError> =>
  Effect.gen(function* () {
    const present = Object.entries(given).flatMap(([platform, filter]) =>
      Option.toArray(filter).map((text) => [platform, text] as const)
    )
    if (present.length === 0) {
      const options = Object.keys(given).map((platform) => `--${platform}`)
      return yield* new UsageError({ message: `No filter: pass at least one of ${options.join(", ")}` })
    }
    if (present.filter(([, text]) => text === "-").length > 1) {
      return yield* new UsageError({ message: "Only one of the filters can come from standard input" })
    }
    const filters: Record<PlatformId, string> = {}
    for (const [platform, text] of present) filters[platform] = yield* filterText(actions, text)
    return filters
  })

/** Draws the issues of a filter. Other failures are reported as usual. */
const drawIssues =
  (filters: Readonly<Record<string, string>>) =>
  (failure: RemoteFailure): Effect.Effect<never, RemoteFailure | AlreadyReported> => {
    const drawing = failure._tag === "RemoteRefused" ? drawRefusal(failure.details, filters) : ""
    return drawing === "" ? Effect.fail(failure) : Effect.zipRight(Console.error(drawing), new AlreadyReported())
  }

const row = (platform: PlatformId, text: string): string => `  ${platform.padEnd(PLATFORM_COLUMNS)}  ${visible(text)}`

const PLATFORM_COLUMNS = 8

const listRules = <E>(actions: RulesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make("list", { ...targetOptions, json: jsonOption("Print the response as JSON") }, ({ json, ...target }) =>
    Effect.gen(function* () {
      const remote = yield* actions.connectTo(target)
      const { rules } = yield* remote.request({
        method: "GET",
        path: "/api.ListRules",
        answer: Schema.Struct({ rules: Schema.Array(Rule) })
      })
      if (json) return yield* printJson({ rules })
      if (rules.length === 0) return yield* Console.error("No rules yet: create one with: earshot rules create")
      yield* Console.log(rules.map((rule) => describe(rule, languages)).join("\n\n"))
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("List rules, newest first, with their state on each platform.")))

const describe = ({ id, name, intent, platforms, created_at }: Rule, languages: ReadonlyArray<Language>): string =>
  [
    `${id}  ${visible(name)}`,
    `  ${visible(intent)}`,
    `  Created ${created_at}`,
    ...languages.flatMap(({ id }) => {
      const registration = platforms[id]
      if (registration === undefined) return []
      const { state, translated_value, reason, failed_since } = registration
      const since = failed_since === undefined ? "" : ` since ${failed_since}`
      return [row(id, `${state}${since}  ${translated_value}${reason === undefined ? "" : ` (${reason})`}`)]
    })
  ].join("\n")

const deleteRules = <E>({ connectTo }: RulesActions<E>) =>
  Command.make("delete", { ...deletionOptions("rule"), ...targetOptions }, ({ ids, json, ...target }) =>
    Effect.flatMap(connectTo(target), (remote) =>
      deleteEach(remote, { path: "/api.DeleteRule", field: "rule_id", ids, json })
    ).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Delete rules and their matches, without confirmation. The exit code is 1 if one of them could not be deleted."
      )
    )
  )
