/** The operations that read and change one rule. */
import { Effect, Schema } from "effect"
import { answering } from "../core/idempotency/CurrentClaim.ts"
import { PlatformId } from "../core/model/PlatformId.ts"
import { WireIssue } from "../core/model/wire.ts"
import { Reapplied, Reapply, ReapplyRequest } from "../core/reapply/Reapply.ts"
import { Rule, RulePatch, RuleVersion } from "../core/rules/Rule.ts"
import { type ChangedRule, Rules } from "../core/rules/Rules.ts"
import { type AnyEndpoint, endpoint } from "./endpoint.ts"

export const EXAMPLE_RULE = "rule_01kzyn3v8jf9g8w3q5r7t2x4c6"
export const EXAMPLE_REGISTRATION = {
  platform_rule_id: "1866112233445566778",
  translated_value: "earthquake lang:en"
}

export const RuleRequest = Schema.Struct({ rule_id: Schema.String })

export const exampleRule = {
  id: EXAMPLE_RULE,
  name: "Earthquakes",
  intent: "Learn of earthquakes within a minute of the first posts",
  platforms: { x: { ...EXAMPLE_REGISTRATION, state: "active" as const } },
  created_at: "2026-11-15T08:30:00.000Z",
  version: 2
}

/** The rule after a change. */
export const RuleResult = Schema.Struct({
  rule: Rule,
  warnings: Schema.optionalWith(Schema.Record({ key: PlatformId, value: Schema.Array(WireIssue) }), {
    exact: true
  }).annotations({
    description: "Possible mistakes in the filters that were sent, per platform; absent if there are none"
  })
})

export const getRule = endpoint({
  method: "GET",
  path: "/api.GetRule",
  name: "getRule",
  scope: "read",
  tag: "rules",
  summary: "Get a rule",
  description: "The rule as it is now, with its version.",
  input: RuleRequest,
  output: Schema.Struct({ rule: Rule }),
  example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: exampleRule } },
  handle: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return { rule: yield* rules.get(account, rule_id) }
    })
})

export const updateRule = endpoint({
  method: "POST",
  path: "/api.UpdateRule",
  name: "updateRule",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "Change a rule",
  description:
    "Changes the fields that are sent and keeps the matches. Every filter is checked first. The platforms get the new filters before the old ones are removed, so that no event that both match is missed; if a platform refuses, the rule stays as it was. Each change gives the rule a new `version`, which its matches carry as `rule_version`. A request that changes nothing gives no new version. A filter needs a free place on its platform until the old one is removed.",
  input: Schema.Struct({ rule_id: Schema.String, ...RulePatch.fields }),
  output: RuleResult,
  example: {
    request: { rule_id: EXAMPLE_RULE, overrides: { x: "earthquake lang:en" }, expected_version: 1 },
    response: { rule: exampleRule }
  },
  handle: (account, { rule_id, ...patch }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.update(account, rule_id, patch).pipe(answering(toResult))
    })
})

export const pauseRule = endpoint({
  method: "POST",
  path: "/api.PauseRule",
  name: "pauseRule",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "Pause a rule",
  description:
    "Removes the rule from its platforms. It keeps its matches and its filters, and its coverage has a gap with the cause `paused`. A paused rule does not count towards the limit on rules.",
  input: RuleRequest,
  output: Schema.Struct({ rule: Rule }),
  example: {
    request: { rule_id: EXAMPLE_RULE },
    response: {
      rule: { ...exampleRule, platforms: { x: { ...EXAMPLE_REGISTRATION, platform_rule_id: "", state: "paused" } } }
    }
  },
  handle: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.pause(account, rule_id).pipe(answering((rule) => ({ rule })))
    })
})

export const resumeRule = endpoint({
  method: "POST",
  path: "/api.ResumeRule",
  name: "resumeRule",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "Resume a paused rule",
  description: "Registers the rule on its platforms again. If one refuses, the rule stays paused.",
  input: RuleRequest,
  output: RuleResult,
  example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: exampleRule } },
  handle: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.resume(account, rule_id).pipe(answering(toResult))
    })
})

export const listRuleVersions = endpoint({
  method: "GET",
  path: "/api.ListRuleVersions",
  name: "listRuleVersions",
  scope: "read",
  tag: "rules",
  summary: "List the versions of a rule",
  description: "What the rule was after each change, by which key it was made, and what changed. Newest first.",
  input: RuleRequest,
  output: Schema.Struct({ versions: Schema.Array(RuleVersion) }),
  example: {
    request: { rule_id: EXAMPLE_RULE },
    response: {
      versions: [
        {
          version: 1,
          at: "2026-11-15T08:30:00.000Z",
          key_id: "key_01kzyn1t6ge7d5t0n2m4p8q3r9",
          name: exampleRule.name,
          intent: exampleRule.intent,
          overrides: { x: "earthquake lang:en" },
          paused: false,
          changed: []
        }
      ]
    }
  },
  handle: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return { versions: yield* rules.versions(account, rule_id) }
    })
})

export const reapplyRule = endpoint({
  method: "POST",
  path: "/rules/reapply",
  name: "reapplyRule",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "Add matches of recent events to a rule",
  description:
    "Runs the present filters of the rule over the recent events that the server keeps, and adds what they match, in the order of the events. Such matches are marked `reapplied`. Events that the rule has already are not added again. Coverage stays as it is: events of a gap are not there to be tested. A real platform sends only events that match some rule, so only those are tested.",
  input: ReapplyRequest,
  output: Reapplied,
  example: {
    request: { rule_id: EXAMPLE_RULE, since: "2026-11-15T08:00:00Z" },
    response: {
      rule_id: EXAMPLE_RULE,
      platforms: {
        x: { tested: 1204, matched: 17, added: 5, from: "2026-11-15T08:00:02.114Z", is_complete: true }
      }
    }
  },
  handle: (account, request) => Effect.flatMap(Reapply, ({ run }) => run(account, request))
})

export const ruleChangeEndpoints: ReadonlyArray<AnyEndpoint> = [
  getRule,
  updateRule,
  pauseRule,
  resumeRule,
  listRuleVersions,
  reapplyRule
]

/** Without empty warnings. */
export const toResult = ({ rule, warnings }: ChangedRule) => {
  const found = [...warnings].filter(([, issues]) => issues.length > 0)
  return { rule, ...(found.length > 0 && { warnings: Object.fromEntries(found) }) }
}
