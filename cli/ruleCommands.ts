/** The commands that read and change one rule. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { type Call, callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import type { Language } from "../core/languages/Language.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import type { Rule, RuleVersion } from "../core/rules/Rule.ts"
import type { ComparedRule } from "../core/shadows/Shadows.ts"
import { counted } from "../core/text/counted.ts"
import { draw } from "./drawing.ts"
import type { FilterActions } from "./filter.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { jsonOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { describeRule, drawIssues, filterOptions, filtersOf, noFilter, platformRow } from "./ruleOptions.ts"
import { visible } from "./terminal.ts"

interface Actions<E> extends TargetActions<E>, FilterActions<E> {}

export const ruleCommands = <E>(actions: Actions<E>, languages: ReadonlyArray<Language>) => {
  const rule = Args.text({ name: "rule-id" }).pipe(Args.withDescription("Id of the rule, as shown by rules list"))
  const common = { rule, ...targetOptions, json: jsonOption("Print the response as JSON") }
  const sinceOption = (about: string) =>
    Options.text("since").pipe(Options.withPseudoName("time"), Options.withDescription(about), Options.optional)

  const printRule = ({ rule }: { readonly rule: Rule }) => Console.log(describeRule(rule, languages))

  /** A command with one request. */
  const simple = <A, I>(
    name: string,
    about: string,
    call: (rule: string) => Call<A, I>,
    print: (answer: A) => Effect.Effect<void>
  ) =>
    Command.make(name, common, ({ rule, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* actions.connectTo(target)
        const answer = yield* remote.request(call(rule))
        yield* json ? printJson(answer) : print(answer)
      }).pipe(Effect.scoped)
    ).pipe(Command.withDescription(targetHelp(about)))

  const update = Command.make(
    "update",
    {
      ...common,
      name: Options.text("name").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("New name (default: stays as it is)"),
        Options.optional
      ),
      intent: Options.text("intent").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("New description of what the rule is for (default: stays as it is)"),
        Options.optional
      ),
      filters: filterOptions(languages, () => "stays as it is"),
      expected: wholeNumberOption("expected-version", { min: 1, max: 1_000_000_000 }).pipe(
        Options.withDescription("Fail if the rule has another version (default: any version)"),
        Options.optional
      )
    },
    ({ rule, name, intent, filters, expected, json, ...target }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        const remote = yield* actions.connectTo(target)
        const present = yield* remote.request(callOf(contracts.rules.get, { rule_id: rule }))
        const added = Object.keys(overrides).filter((platform) => present.rule.platforms[platform] === undefined)
        const request = {
          rule_id: rule,
          ...(Option.isSome(name) && { name: name.value }),
          ...(Option.isSome(intent) && { intent: intent.value }),
          ...(added.length > 0 && { platforms: [...Object.keys(present.rule.platforms), ...added] }),
          overrides,
          ...(Option.isSome(expected) && { expected_version: expected.value })
        }
        const change = remote.request(callOf(contracts.rules.update, request))
        const changed = yield* json ? change : Effect.catchAll(change, drawIssues(overrides))
        if (json) return yield* printJson(changed)
        yield* printRule(changed)
        yield* printWarnings(changed.warnings, overrides)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Change a rule and keep its matches. The platforms get new filters before they lose the old ones; if one refuses, the rule stays as it was. A filter for another platform adds that platform."
      )
    )
  )

  const shadow = Command.make(
    "shadow",
    { ...common, filters: filterOptions(languages, () => "not compared") },
    ({ rule, filters, json, ...target }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        if (Object.keys(overrides).length === 0) return yield* noFilter(languages)
        const remote = yield* actions.connectTo(target)
        const start = remote.request(callOf(contracts.rules.shadow, { rule_id: rule, overrides }))
        const started = yield* json ? start : Effect.catchAll(start, drawIssues(overrides))
        if (json) return yield* printJson(started)
        yield* printRule(started)
        yield* printWarnings(started.warnings, overrides)
        yield* Console.error(`Compare them later with: earshot rules compare ${visible(rule)}`)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp("Try other filters beside those of a rule. What they match is stored apart and reaches nobody.")
    )
  )

  const promote = Command.make(
    "promote",
    {
      ...common,
      since: sinceOption(
        "Also take over what the shadow has matched since then, for example 2026-11-15T08:00:00Z (default: nothing)"
      )
    },
    ({ rule, since, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* actions.connectTo(target)
        const request = { rule_id: rule, ...(Option.isSome(since) && { since: since.value }) }
        const answer = yield* remote.request(callOf(contracts.rules.promote, request))
        if (json) return yield* printJson(answer)
        yield* printRule(answer)
        if (Option.isSome(since)) yield* Console.log(`Took over ${counted(answer.added, "match", "matches")}`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Make the filters of the shadow those of the rule, without a gap.")))

  const reapply = Command.make(
    "reapply",
    {
      ...common,
      since: sinceOption(
        "Only events received since then, for example 2026-11-15T08:00:00Z (default: all recent events)"
      )
    },
    ({ rule, since, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* actions.connectTo(target)
        const request = { rule_id: rule, ...(Option.isSome(since) && { since: since.value }) }
        const answer = yield* remote.request(callOf(contracts.rules.reapply, request))
        if (json) return yield* printJson(answer)
        for (const [platform, { tested, matched, added, is_complete }] of Object.entries(answer.platforms)) {
          const rest = is_complete ? "" : "; older events were left out"
          yield* Console.log(
            platformRow(platform, `${added} added: ${matched} of ${counted(tested, "recent event")} match${rest}`)
          )
        }
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp("Run the present filters of a rule over the recent events, and add what they match.")
    )
  )

  return [
    simple("show", "Show a rule.", (id) => callOf(contracts.rules.get, { rule_id: id }), printRule),
    update,
    simple(
      "pause",
      "Pause a rule: its platforms no longer hold it, and it keeps its matches.",
      (id) => callOf(contracts.rules.pause, { rule_id: id }),
      printRule
    ),
    simple("resume", "Resume a paused rule.", (id) => callOf(contracts.rules.resume, { rule_id: id }), printRule),
    simple(
      "versions",
      "List the versions of a rule, newest first, with what changed.",
      (id) => callOf(contracts.rules.versions, { rule_id: id }),
      ({ versions }) => Console.log(versions.map(describeVersion).join("\n\n"))
    ),
    shadow,
    simple(
      "compare",
      "Compare a rule with its shadow: how many events met only one of them, and both.",
      (id) => callOf(contracts.rules.compare, { rule_id: id }),
      (compared) => Console.log(describeComparison(compared))
    ),
    promote,
    simple(
      "drop-shadow",
      "End the trial of other filters. The rule stays as it is.",
      (id) => callOf(contracts.rules.dropShadow, { rule_id: id }),
      printRule
    ),
    reapply
  ] as const
}

// ---- helpers ----

const printWarnings = (
  warnings: (typeof contracts.rules.update.output.Type)["warnings"] = {},
  overrides: Readonly<Record<PlatformId, string>>
) =>
  Effect.forEach(
    Object.entries(warnings),
    ([platform, issues]) => Console.error(`\nOn ${platform}\n${draw(overrides[platform] ?? "", issues)}`),
    { discard: true }
  )

const describeVersion = ({ version, at, key_id, changed, name, overrides, paused }: RuleVersion): string =>
  [
    `Version ${version}  ${at}${key_id === undefined ? "" : `  ${key_id}`}`,
    `  ${changed.length === 0 ? "Created" : `Changed: ${changed.join(", ")}`}`,
    `  ${visible(name)}${paused ? " (paused)" : ""}`,
    ...Object.entries(overrides).map(([platform, text]) => platformRow(platform, text))
  ].join("\n")

const describeComparison = ({ since, since_version, present_only, candidate_only, both }: ComparedRule): string =>
  [
    `Since ${since}${since_version === undefined ? "" : `, when version ${since_version} changed the filters of the rule`}`,
    `  only the rule      ${present_only.count}`,
    `  only its shadow    ${candidate_only.count}`,
    `  both               ${both.count}`
  ].join("\n")
