/** `earshot rules`: creates, lists and deletes rules. See `ruleCommands.ts` for the rest. */
import { Command, Options } from "@effect/cli"
import { Array as Arr, Console, Effect, Option, Schema } from "effect"
import { callOf, withKey } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import type { Language } from "../core/languages/Language.ts"
import { RuleId } from "../core/model/Ids.ts"
import { MAX_RULES_PER_PAGE } from "../core/rules/Rule.ts"
import { counted } from "../core/text/counted.ts"
import { deleteCommand } from "./deletion.ts"
import { draw } from "./drawing.ts"
import { UsageError } from "./failures.ts"
import type { FilterActions } from "./filter.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { namingOptions } from "./optionNames.ts"
import {
  jsonOption,
  keyOption,
  printJson,
  type Remote,
  type TargetActions,
  targetHelp,
  targetOptions
} from "./remote.ts"
import { ruleCommands } from "./ruleCommands.ts"
import { describeRule, drawIssues, filterOptions, filtersOf, noFilter, platformRow } from "./ruleOptions.ts"
import { visible } from "./terminal.ts"

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
        contract: contracts.rules.delete,
        preview: printPreview
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
  Command.make(
    "list",
    {
      query: Options.text("query").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("Only rules with this text in their id, name, intent or a filter (default: all)"),
        Options.optional
      ),
      state: Options.choice("state", ["active", "failed", "paused"]).pipe(
        Options.withDescription("Only rules in this state (default: all)"),
        Options.optional
      ),
      quietFor: Options.text("quiet-for").pipe(
        Options.withPseudoName("time"),
        Options.withDescription("Only rules without a match for so long, such as 12h or 7d (default: all)"),
        Options.optional
      ),
      sort: Options.choice("sort", ["created", "last_match", "matches_day"]).pipe(
        Options.withDescription(
          "Order: newest first, longest without a match first, or most matches of the last 24 hours first; the last two list up to 100 rules (default: created)"
        ),
        Options.optional
      ),
      limit: wholeNumberOption("limit", { min: 1, max: MAX_RULES_PER_PAGE }).pipe(
        Options.withDescription(`Maximum number to list, 1 to ${MAX_RULES_PER_PAGE} (default: all)`),
        Options.optional
      ),
      cursor: Options.text("cursor").pipe(
        Options.withPseudoName("rule-id"),
        Options.withDescription("List the rules after this one (default: start at the newest)"),
        Options.optional
      ),
      activity: Options.boolean("activity").pipe(
        Options.withDescription("Also print the last match of each rule, and its matches of the last hour and 24 hours")
      ),
      ...targetOptions,
      json: jsonOption("Print the response as JSON")
    },
    ({ query, state, quietFor, sort, limit, cursor, activity, json, ...target }) =>
      Effect.gen(function* () {
        if (Option.exists(cursor, (id) => !isRuleId(id))) {
          return yield* new UsageError({ message: "--cursor: expected the id of a rule, such as rule_…" })
        }
        const remote = yield* actions.connectTo(target)
        const wanted = {
          ...Option.match(query, { onNone: () => ({}), onSome: (query) => ({ query }) }),
          ...Option.match(state, { onNone: () => ({}), onSome: (state) => ({ state }) }),
          ...Option.match(quietFor, { onNone: () => ({}), onSome: (quiet_for) => ({ quiet_for }) }),
          ...Option.match(sort, { onNone: () => ({}), onSome: (sort) => ({ sort }) }),
          ...Option.match(limit, { onNone: () => ({}), onSome: (limit) => ({ limit }) }),
          ...Option.match(cursor, { onNone: () => ({}), onSome: (cursor) => ({ cursor }) }),
          ...(activity && { activity })
        }
        const list = remote.request(callOf(contracts.rules.list, wanted))
        const found = yield* json ? list : Effect.mapError(list, namingOptions(OPTION_NAMES))
        if (json) return yield* printJson(found)
        const { rules, next_cursor } = found
        if (rules.length === 0) {
          const isAll = Object.keys(wanted).every((name) => !NARROWING.includes(name))
          return yield* Console.error(isAll ? "No rules yet. Create one with: earshot rules create" : "No such rule")
        }
        yield* Console.log(rules.map((rule) => describeRule(rule, languages)).join("\n\n"))
        if (next_cursor !== undefined) yield* Console.error(`More with --cursor ${next_cursor}`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("List rules, newest first, with their state on each platform.")))

const isRuleId = Schema.is(RuleId)

const OPTION_NAMES = { quiet_for: "--quiet-for", cursor: "--cursor" }

/** Fields that leave rules out. */
const NARROWING = ["query", "state", "quiet_for", "cursor"]

/** Like the deletion, it has no limit on the number of ids. */
const printPreview = (remote: Remote, { ids, json }: { readonly ids: ReadonlyArray<string>; readonly json: boolean }) =>
  Effect.gen(function* () {
    const answers = yield* Effect.forEach(Arr.chunksOf(ids, MAX_DELETED), (rule_ids) =>
      remote.request(callOf(contracts.rules.deleteSeveral, { rule_ids, preview: true }))
    )
    const rules = answers.flatMap((answer) => answer.rules)
    const not_found = answers.flatMap((answer) => answer.not_found)
    if (json) return yield* printJson({ deleted: false, rules, not_found })
    for (const { rule_id, name, matches } of rules) {
      yield* Console.log(`${rule_id}  ${visible(name)}  ${counted(matches, "match", "matches")}`)
    }
    for (const id of not_found) yield* Console.error(`earshot: Cannot find rule ${visible(id)}`)
    yield* Console.error("Nothing was deleted")
  })

const MAX_DELETED = 100
