/** The operations on the shadow of a rule. */
import { Effect, Option, Schema } from "effect"
import { answering } from "../core/idempotency/CurrentClaim.ts"
import * as Timestamp from "../core/model/Timestamp.ts"
import { Rule, RuleDraft } from "../core/rules/Rule.ts"
import { ComparedRule, CompareRequest, Shadows } from "../core/shadows/Shadows.ts"
import { type AnyEndpoint, endpoint } from "./endpoint.ts"
import { EXAMPLE_RULE, exampleRule, RuleRequest, RuleResult, toResult } from "./ruleOperations.ts"

const exampleShadow = {
  since: "2026-11-15T09:00:00.000Z",
  platforms: {
    x: {
      platform_rule_id: "1866112233445566779",
      translated_value: "earthquake lang:en -is:retweet",
      state: "active" as const
    }
  }
}

export const shadowRule = endpoint({
  method: "POST",
  path: "/api.ShadowRule",
  name: "shadowRule",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "Try other filters beside those of a rule",
  description:
    "Watches other filters in the shadow of the rule, on some or all of its platforms. What they match is stored apart: no list, stream, webhook or agent gets it. `POST /api.CompareRule` compares, `POST /api.PromoteRule` takes the filters over, `POST /api.DropShadow` ends the trial. A rule has one shadow: a new one replaces it. The shadow is a rule of its own on the platform and counts towards the limits there. The newest 10,000 matches of a shadow are kept.",
  input: Schema.Struct({ rule_id: Schema.String, overrides: RuleDraft.fields.overrides }),
  output: RuleResult,
  example: {
    request: { rule_id: EXAMPLE_RULE, overrides: { x: "earthquake lang:en -is:retweet" } },
    response: { rule: { ...exampleRule, shadow: exampleShadow } }
  },
  handle: (account, { rule_id, overrides }) =>
    Effect.gen(function* () {
      const shadows = yield* Shadows
      return yield* shadows.start(account, rule_id, overrides).pipe(answering(toResult))
    })
})

export const compareRule = endpoint({
  method: "POST",
  path: "/api.CompareRule",
  name: "compareRule",
  scope: "read",
  isLong: true,
  tag: "rules",
  summary: "Compare a rule with its shadow",
  description:
    "How many events only the rule matched, only its shadow, and both, since the shadow began or, if that is later, since the rule has its present filters. Samples of the first two explain which clauses made the difference.",
  input: CompareRequest,
  output: ComparedRule,
  example: {
    request: { rule_id: EXAMPLE_RULE, samples: 1 },
    response: {
      rule_id: EXAMPLE_RULE,
      since: "2026-11-15T09:00:00.000Z",
      platforms: ["x"],
      present: { x: "earthquake lang:en" },
      candidate: { x: "earthquake lang:en -is:retweet" },
      present_only: {
        count: 214,
        samples: [
          {
            platform: "x",
            platform_post_id: "1866223344556677889",
            payload: { data: { id: "1866223344556677889", text: "RT @quakes: Felt a strong earthquake just now" } },
            explanation: {
              matched: false,
              clauses: [
                {
                  span: { start: 0, end: 10 },
                  held: true,
                  negated: false,
                  description: 'The word "earthquake" in the text'
                },
                { span: { start: 11, end: 18 }, held: true, negated: false, description: 'lang is "en"' },
                { span: { start: 20, end: 30 }, held: true, negated: true, description: 'is is "retweet"' }
              ],
              decisive: [{ start: 20, end: 30 }],
              changes: [
                {
                  kind: "remove",
                  message: "Remove -is:retweet",
                  text: "earthquake lang:en",
                  clauses: [{ start: 19, end: 30 }]
                }
              ]
            }
          }
        ]
      },
      candidate_only: { count: 0, samples: [] },
      both: { count: 97, samples: [] }
    }
  },
  handle: (account, request) => Effect.flatMap(Shadows, ({ compare }) => compare(account, request))
})

export const promoteRule = endpoint({
  method: "POST",
  path: "/api.PromoteRule",
  name: "promoteRule",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "Take over the filters of the shadow",
  description:
    "Makes the filters of the shadow those of the rule, as its next version. They are registered already, so no event is missed. With `since`, what the shadow has matched since then becomes matches of the rule, marked `reapplied`.",
  input: Schema.Struct({
    rule_id: Schema.String,
    since: Schema.optionalWith(Timestamp.FromRequest, { exact: true }).annotations({
      description: "Also take over what the shadow has matched since then"
    })
  }),
  output: Schema.Struct({
    rule: Rule,
    added: Schema.Int.annotations({
      jsonSchema: { type: "integer", minimum: 0 },
      description: "How many matches of the shadow the rule got"
    })
  }),
  example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: { ...exampleRule, version: 3 }, added: 0 } },
  handle: (account, { rule_id, since }) =>
    Effect.flatMap(Shadows, ({ promote }) => promote(account, rule_id, Option.fromNullable(since)))
})

export const dropShadow = endpoint({
  method: "POST",
  path: "/api.DropShadow",
  name: "dropShadow",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "End the trial of other filters",
  description: "Removes the shadow of the rule and what it has matched. The rule stays as it is.",
  input: RuleRequest,
  output: Schema.Struct({ rule: Rule }),
  example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: exampleRule } },
  handle: (account, { rule_id }) =>
    Effect.gen(function* () {
      const shadows = yield* Shadows
      return yield* shadows.drop(account, rule_id).pipe(answering((rule) => ({ rule })))
    })
})

export const shadowEndpoints: ReadonlyArray<AnyEndpoint> = [shadowRule, compareRule, promoteRule, dropShadow]
