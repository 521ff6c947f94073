/** `earshot rules`: creates, lists and deletes rules. See `ruleCommands.ts` for the rest. */
import { Command, Options } from "@effect/cli"
import { Console, Effect } from "effect"
import { callOf, withKey } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import type { Language } from "../core/languages/Language.ts"
import { deleteCommand } from "./deletion.ts"
import { draw } from "./drawing.ts"
import type { FilterActions } from "./filter.ts"
import { jsonOption, keyOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { ruleCommands } from "./ruleCommands.ts"
import { describeRule, drawIssues, filterOptions, filtersOf, noFilter, platformRow } from "./ruleOptions.ts"

export interface RulesActions<E> extends TargetActions<E>, FilterActions<E> {}

export const rulesCommand = <E>(actions: RulesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make("rules").pipe(
    Command.withDescription("Create, list, change and delete rules"),
    Command.withSubcommands([
      createRule(actions, languages),
      listRules(actions, languages),
      deleteCommand(actions, {
        kind: "rule",
        about: "Delete rules and their matches",
        contract: contracts.rules.delete
      }),
      ...ruleCommands(actions, languages)
    ])
  )

// ---- helpers ----

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
      filters: filterOptions(languages, (platform) => `the rule does not watch ${platform}`),
      paused: Options.boolean("paused").pipe(
        Options.withDescription(
          "Create the rule paused: it is not registered on any platform until earshot rules resume"
        )
      ),
      key: keyOption,
      ...targetOptions,
      json: jsonOption("Print the response as JSON")
    },
    ({ name, intent, filters, paused, key, json, ...target }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        if (Object.keys(overrides).length === 0) return yield* noFilter(languages)
        const remote = yield* actions.connectTo(target)
        const draft = { name, intent, platforms: Object.keys(overrides), overrides, ...(paused && { paused }) }
        const create = remote.request(withKey(callOf(contracts.rules.create, draft), key))
        const created = yield* json ? create : Effect.catchAll(create, drawIssues(overrides))
        if (json) return yield* printJson(created)
        const registered = Object.entries(created.platforms)
        const rows = registered.map(([platform, { translated_value }]) => platformRow(platform, translated_value))
        yield* Console.log([created.rule_id, ...rows].join("\n"))
        for (const [platform, { warnings = [] }] of registered) {
          if (warnings.length > 0)
            yield* Console.error(`\nOn ${platform}\n${draw(overrides[platform] ?? "", warnings)}`)
        }
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(targetHelp("Create a rule, and print its id and the registered filter of each platform."))
  )

const listRules = <E>(actions: RulesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make("list", { ...targetOptions, json: jsonOption("Print the response as JSON") }, ({ json, ...target }) =>
    Effect.gen(function* () {
      const remote = yield* actions.connectTo(target)
      const { rules } = yield* remote.request(callOf(contracts.rules.list))
      if (json) return yield* printJson({ rules })
      if (rules.length === 0) return yield* Console.error("No rules yet. Create one with: earshot rules create")
      yield* Console.log(rules.map((rule) => describeRule(rule, languages)).join("\n\n"))
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("List rules, newest first, with their state on each platform.")))
