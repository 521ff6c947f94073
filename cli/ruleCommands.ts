/** The commands that read and change one rule. */
import { Command, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import type { FilterComparison } from "../core/comparison/compareFilter.ts"
import type { Language } from "../core/languages/Language.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import type { Rule, RuleVersion } from "../core/rules/Rule.ts"
import type { ComparedRule } from "../core/shadows/Shadows.ts"
import { counted } from "../core/text/counted.ts"
import { draw } from "./drawing.ts"
import { UsageError } from "./failures.ts"
import type { FilterActions } from "./filter.ts"
import { idCommand, idOptions } from "./idCommand.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { printJson, type TargetActions, targetHelp } from "./remote.ts"
import { describeRule, drawIssues, filterOptions, filtersOf, noFilter, platformRows } from "./ruleOptions.ts"
import { visible } from "./terminal.ts"

interface Actions<E> extends TargetActions<E>, FilterActions<E> {}

export const ruleCommands = <E>(actions: Actions<E>, languages: ReadonlyArray<Language>) => {
  const common = idOptions("rule")
  const byId = idCommand(actions, "rule")
  const sinceOption = (about: string) =>
    Options.text("since").pipe(Options.withPseudoName("time"), Options.withDescription(about), Options.optional)

  const printRule = ({ rule }: { readonly rule: Rule }) => Console.log(describeRule(rule, languages))

  const update = Command.make(
    "update",
    {
      ...common,
      name: Options.text("name").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("New name (default: unchanged)"),
        Options.optional
      ),
      intent: Options.text("intent").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("New description of what the rule is for (default: unchanged)"),
        Options.optional
      ),
      filters: filterOptions(languages, () => "unchanged"),
      expected: wholeNumberOption("expected-version", { min: 1, max: 1_000_000_000 }).pipe(
        Options.withDescription("Fail if the rule has another version (default: any version)"),
        Options.optional
      )
    },
    ({ id, name, intent, filters, expected, json, ...target }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        if (Option.isNone(Option.orElse(name, () => intent)) && Object.keys(overrides).length === 0) {
          return yield* new UsageError({
            message: `Nothing to change: pass at least one of --name, --intent, ${languages.map(({ id }) => `--${id}`).join(", ")}`
          })
        }
        const remote = yield* actions.connectTo(target)
        const present = yield* remote.request(callOf(contracts.rules.get, { rule_id: id }))
        const added = Object.keys(overrides).filter((platform) => present.rule.platforms[platform] === undefined)
        const request = {
          rule_id: id,
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
        if (changed.rule.version === present.rule.version) {
          yield* Console.error("Nothing changed: the rule already has these values")
        }
        yield* printWarnings(changed.warnings, overrides)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Change a rule and keep its matches. The new filters are registered before the old ones are removed; if a platform rejects one, the rule stays unchanged. A filter for another platform adds that platform."
      )
    )
  )

  const shadow = Command.make(
    "shadow",
    { ...common, filters: filterOptions(languages, () => "not compared") },
    ({ id, filters, json, ...target }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        if (Object.keys(overrides).length === 0) return yield* noFilter(languages)
        const remote = yield* actions.connectTo(target)
        const start = remote.request(callOf(contracts.rules.shadow, { rule_id: id, overrides }))
        const started = yield* json ? start : Effect.catchAll(start, drawIssues(overrides))
        if (json) return yield* printJson(started)
        yield* printRule(started)
        yield* printWarnings(started.warnings, overrides)
        yield* Console.error(`Compare them later with: earshot rules compare ${visible(id)}`)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Try other filters alongside those of a rule. Their matches are stored separately and are not delivered."
      )
    )
  )

  const compareFilter = Command.make(
    "compare-filter",
    { ...common, filters: filterOptions(languages, () => "not compared") },
    ({ id, filters, json, ...target }) =>
      Effect.gen(function* () {
        const overrides = yield* filtersOf(actions, filters)
        if (Object.keys(overrides).length === 0) return yield* noFilter(languages)
        const remote = yield* actions.connectTo(target)
        const compare = remote.request(callOf(contracts.rules.compareFilter, { rule_id: id, overrides }))
        const compared = yield* json ? compare : Effect.catchAll(compare, drawIssues(overrides))
        if (json) return yield* printJson(compared)
        const all = Object.entries(compared.platforms)
        yield* Console.log(all.map(([platform, one]) => describeCompared(platform, one, languages)).join("\n\n"))
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Compare other filters with those of a rule on its stored matches and the recent events: what they keep, lose and gain. Changes nothing."
      )
    )
  )

  const promote = Command.make(
    "promote",
    {
      ...common,
      since: sinceOption(
        "Also keep the matches of the shadow since then, for example 2026-11-15T08:00:00Z (default: nothing)"
      )
    },
    ({ id, since, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* actions.connectTo(target)
        const request = { rule_id: id, ...(Option.isSome(since) && { since: since.value }) }
        const answer = yield* remote.request(callOf(contracts.rules.promote, request))
        if (json) return yield* printJson(answer)
        yield* printRule(answer)
        if (Option.isSome(since)) yield* Console.log(`Kept ${counted(answer.added, "match", "matches")} of the shadow`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Replace the filters of a rule with those of its shadow, without a gap.")))

  const reapply = Command.make(
    "reapply",
    {
      ...common,
      since: sinceOption(
        "Only events received since then, for example 2026-11-15T08:00:00Z (default: all recent events)"
      )
    },
    ({ id, since, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* actions.connectTo(target)
        const request = { rule_id: id, ...(Option.isSome(since) && { since: since.value }) }
        const answer = yield* remote.request(callOf(contracts.rules.reapply, request))
        if (json) return yield* printJson(answer)
        const rows = Object.entries(answer.platforms).map(
          ([platform, { tested, matched, added, is_complete }]) =>
            [
              platform,
              `${added} added: ${matched} of ${counted(tested, "recent event")} match${is_complete ? "" : "; older events were left out"}`
            ] as const
        )
        yield* Console.log(platformRows(rows).join("\n"))
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(targetHelp("Run the current filters of a rule on recent events, and add the matches."))
  )

  return [
    byId({ name: "show", about: "Show a rule.", contract: contracts.rules.get, print: printRule }),
    byId({
      name: "pause",
      about: "Pause a rule: it is removed from its platforms, and keeps its matches.",
      contract: contracts.rules.pause,
      print: printRule
    }),
    byId({ name: "resume", about: "Resume a paused rule.", contract: contracts.rules.resume, print: printRule }),
    byId({
      name: "versions",
      about: "List the versions of a rule, newest first, with what changed.",
      contract: contracts.rules.versions,
      print: ({ versions }) => Console.log(versions.map(describeVersion).join("\n\n"))
    }),
    byId({
      name: "compare",
      about: "Compare a rule with its shadow: how many events matched only one of them, or both.",
      contract: contracts.rules.compare,
      print: (compared) => Console.log(describeComparison(compared))
    }),
    byId({
      name: "drop-shadow",
      about: "Delete the shadow of a rule. The rule itself does not change.",
      contract: contracts.rules.dropShadow,
      print: printRule
    }),
    update,
    compareFilter,
    shadow,
    promote,
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
    ...platformRows(Object.entries(overrides))
  ].join("\n")

const describeCompared = (
  platform: PlatformId,
  { kept, lost, gained, basis, incomplete }: FilterComparison,
  languages: ReadonlyArray<Language>
): string => {
  const titleOf = languages.find(({ id }) => id === platform)?.events.titleOf
  const side = (name: string, { count, stored, decided_by, samples }: FilterComparison["lost"]) => [
    `  ${name.padEnd(6)}  ${count}${stored > 0 ? `, of them ${counted(stored, "stored match", "stored matches")}` : ""}`,
    ...decided_by.map(({ clause, count }) => `          ${visible(clause)} (${count})`),
    ...samples.map(({ payload }) => `          - ${visible(titleOf?.(payload) ?? "an event without a title")}`)
  ]
  return [
    `On ${platform}`,
    `  kept    ${kept.count}, of them ${counted(kept.stored, "stored match", "stored matches")}`,
    ...side("lost", lost),
    ...side("gained", gained),
    `  tested  ${counted(basis.stored.tested, "stored match", "stored matches")} and ${counted(basis.recent.tested, "other recent event")}`,
    ...basis.not_covered.map((text) => `  Not covered: ${visible(text)}`),
    ...(incomplete === undefined ? [] : [`  Incomplete: ${incomplete}`])
  ].join("\n")
}

const describeComparison = ({ since, since_version, present_only, candidate_only, both }: ComparedRule): string =>
  [
    `Since ${since}${since_version === undefined ? "" : `, when version ${since_version} changed the filters of the rule`}`,
    `  only the rule      ${present_only.count}`,
    `  only its shadow    ${candidate_only.count}`,
    `  both               ${both.count}`
  ].join("\n")
