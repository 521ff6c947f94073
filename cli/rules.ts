/** `earshot rules`: creates, lists and deletes rules. */
import { Command, Options } from "@effect/cli"
import { Console, Effect, Option, Schema } from "effect"
import { PLATFORM_IDS, PlatformId } from "../core/model/PlatformId.ts"
import { Rule } from "../core/rules/Rule.ts"
import { WireIssue } from "../core/syntax/wire.ts"
import { deleteEach, deletionOptions } from "./deletion.ts"
import { draw } from "./drawing.ts"
import { AlreadyTold, WrongUsage } from "./failures.ts"
import { drawRefusal, type FilterActions, FROM_INPUT, filterText } from "./filter.ts"
import { jsonOption, type PlaceActions, placeHelp, placeOptions, post, type RemoteFailure } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface RulesActions<E> extends PlaceActions<E>, FilterActions<E> {}

export const rulesCommand = <E>(actions: RulesActions<E>) =>
  Command.make("rules").pipe(
    Command.withDescription("Create, list and delete rules"),
    Command.withSubcommands([createRule(actions), listRules(actions), deleteRules(actions)])
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

const createRule = <E>(actions: RulesActions<E>) =>
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
      filters: { x: filterOption("x"), firehose: filterOption("firehose") },
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
        const rows = PLATFORM_IDS.flatMap((platform) => {
          const registered = created.platforms[platform]
          return registered === undefined ? [] : [row(platform, registered.translated_value)]
        })
        yield* Console.log([created.rule_id, ...rows].join("\n"))
        for (const platform of PLATFORM_IDS) {
          const warnings = created.platforms[platform]?.warnings ?? []
          if (warnings.length > 0)
            yield* Console.error(`\nOn ${platform}\n${draw(overrides[platform] ?? "", warnings)}`)
        }
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(placeHelp("Create a rule, and print its id and what is registered on each platform.")))

const CreatedRule = Schema.Struct({
  rule_id: Schema.String,
  platforms: Schema.partial(
    Schema.Record({
      key: PlatformId,
      value: Schema.Struct({
        translated_value: Schema.String,
        warnings: Schema.optionalWith(Schema.Array(WireIssue), { exact: true })
      })
    })
  )
})

const filtersOf = <E>(
  actions: FilterActions<E>,
  given: Readonly<Record<PlatformId, Option.Option<string>>>
): Effect.Effect<Partial<Record<PlatformId, string>>, E | WrongUsage> =>
  Effect.gen(function* () {
    const wanted = PLATFORM_IDS.flatMap((platform) =>
      Option.toArray(given[platform]).map((text) => [platform, text] as const)
    )
    if (wanted.length === 0) {
      return yield* new WrongUsage({
        message: "No filter is given: name one with --x, with --firehose, or one for each"
      })
    }
    if (wanted.filter(([, text]) => text === "-").length > 1) {
      return yield* new WrongUsage({ message: "Only one of the filters can come from standard input" })
    }
    const filters: Partial<Record<PlatformId, string>> = {}
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

const row = (platform: PlatformId, text: string): string => `  ${platform.padEnd(LONGEST_PLATFORM)}  ${visible(text)}`

const LONGEST_PLATFORM = Math.max(...PLATFORM_IDS.map((id) => id.length))

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
    ...PLATFORM_IDS.flatMap((platform) => {
      const registered = platforms[platform]
      if (registered === undefined) return []
      const { state, translated_value, reason } = registered
      return [row(platform, `${state}  ${translated_value}${reason === undefined ? "" : ` (${reason})`}`)]
    })
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
