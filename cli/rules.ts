/** `earshot rules`: creates, lists and deletes rules. */
import { Command, Options } from "@effect/cli"
import { Console, Effect, Option, Schema } from "effect"
import { PlatformId } from "../core/model/PlatformId.ts"
import { Rule } from "../core/rules/Rule.ts"
import type { Language } from "../core/syntax/language.ts"
import { WireIssue } from "../core/syntax/wire.ts"
import { deleteEach, deletionOptions } from "./deletion.ts"
import { draw } from "./drawing.ts"
import { AlreadyTold, WrongUsage } from "./failures.ts"
import { drawRefusal, type FilterActions, FROM_INPUT, filterText } from "./filter.ts"
import { jsonOption, type PlaceActions, placeHelp, placeOptions, post, type RemoteFailure } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface RulesActions<E> extends PlaceActions<E>, FilterActions<E> {}

export const rulesCommand = <E>(actions: RulesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make("rules").pipe(
    Command.withDescription("Create, list and delete rules"),
    Command.withSubcommands([createRule(actions, languages), listRules(actions), deleteRules(actions)])
  )

// ---- helpers ----

const filterOption = (platform: PlatformId) =>
  Options.text(platform).pipe(
    Options.withPseudoName("filter"),
    Options.withDescription(
      `Filter on ${platform}, in quotes; ${FROM_INPUT} (default: the rule does not watch ${platform})`
    ),
    Options.optional
  )

const createRule = <E>(actions: RulesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "create",
    {
      name: Options.text("name").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("What the rule is called, 1 to 200 characters")
      ),
      intent: Options.text("intent").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("What you want to hear of, in plain words, 1 to 4000 characters")
      ),
      filters: Object.fromEntries(languages.map(({ id }) => [id, filterOption(id)])),
      ...placeOptions,
      json: jsonOption("Print what the server answers, as JSON")
    },
    ({ name, intent, filters, json, ...place }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        const remote = yield* actions.at(place)
        const draft = { name, intent, platforms: Object.keys(overrides), overrides }
        const create = remote.request(post("/api.CreateRule", draft, CreatedRule))
        const created = yield* json ? create : Effect.catchAll(create, drawn(overrides))
        if (json) return yield* Console.log(JSON.stringify(created, undefined, 2))
        const registered = Object.entries(created.platforms)
        const rows = registered.map(([platform, { translated_value }]) => row(platform, translated_value))
        yield* Console.log([created.rule_id, ...rows].join("\n"))
        for (const [platform, { warnings = [] }] of registered) {
          if (warnings.length > 0)
            yield* Console.error(`\nOn ${platform}\n${draw(overrides[platform] ?? "", warnings)}`)
        }
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(placeHelp("Create a rule, and print its id and what is registered on each platform.")))

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
): Effect.Effect<Record<PlatformId, string>, E | WrongUsage> =>
  Effect.gen(function* () {
    const wanted = Object.entries(given).flatMap(([platform, filter]) =>
      Option.toArray(filter).map((text) => [platform, text] as const)
    )
    if (wanted.length === 0) {
      const options = Object.keys(given).map((platform) => `--${platform}`)
      return yield* new WrongUsage({ message: `No filter is given: use ${options.join(" or ")}, or several of them` })
    }
    if (wanted.filter(([, text]) => text === "-").length > 1) {
      return yield* new WrongUsage({ message: "Only one of the filters can come from standard input" })
    }
    const filters: Record<PlatformId, string> = {}
    for (const [platform, text] of wanted) filters[platform] = yield* filterText(actions, text)
    return filters
  })

/** A filter that is wrong is shown with the place; whatever else is wrong is told as always. */
const drawn =
  (filters: Readonly<Record<string, string>>) =>
  (failure: RemoteFailure): Effect.Effect<never, RemoteFailure | AlreadyTold> => {
    const drawing = failure._tag === "RemoteRefused" ? drawRefusal(failure.details, filters) : ""
    return drawing === "" ? Effect.fail(failure) : Effect.zipRight(Console.error(drawing), new AlreadyTold())
  }

const row = (platform: PlatformId, text: string): string => `  ${platform.padEnd(PLATFORM_COLUMNS)}  ${visible(text)}`

const PLATFORM_COLUMNS = 8

const listRules = <E>(actions: RulesActions<E>) =>
  Command.make(
    "list",
    { ...placeOptions, json: jsonOption("Print what the server answers, as JSON") },
    ({ json, ...place }) =>
      Effect.gen(function* () {
        const remote = yield* actions.at(place)
        const { rules } = yield* remote.request({
          method: "GET",
          path: "/api.ListRules",
          answer: Schema.Struct({ rules: Schema.Array(Rule) })
        })
        if (json) return yield* Console.log(JSON.stringify({ rules }, undefined, 2))
        if (rules.length === 0) return yield* Console.error("No rules yet: create one with: earshot rules create")
        yield* Console.log(rules.map(inWords).join("\n\n"))
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(placeHelp("List the rules, newest first, with the state of each on its platforms.")))

const inWords = ({ id, name, intent, platforms, created_at }: Rule): string =>
  [
    `${id}  ${visible(name)}`,
    `  ${visible(intent)}`,
    `  Created ${created_at}`,
    ...Object.entries(platforms).map(([platform, { state, translated_value, reason }]) =>
      row(platform, `${state}  ${translated_value}${reason === undefined ? "" : ` (${reason})`}`)
    )
  ].join("\n")

const deleteRules = <E>({ at }: RulesActions<E>) =>
  Command.make("delete", { ...deletionOptions("rule"), ...placeOptions }, ({ ids, json, ...place }) =>
    Effect.flatMap(at(place), (remote) =>
      deleteEach(remote, { path: "/api.DeleteRule", field: "rule_id", ids, json })
    ).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp(
        "Delete rules and their matches. Nothing is asked. The exit code is 1 if one of them could not be deleted."
      )
    )
  )
