/** The operations on rules. */
import { Schema } from "effect"
import { DeletedRules, DeleteRulesRequest } from "../core/activity/deleteRules.ts"
import { CompareFilterRequest, CompareFilterResult } from "../core/comparison/compareFilter.ts"
import { HitsRequest, HitsResult } from "../core/explanations/Explanations.ts"
import { RuleId } from "../core/model/Ids.ts"
import { optional } from "../core/model/optional.ts"
import { PlatformId } from "../core/model/PlatformId.ts"
import * as Timestamp from "../core/model/Timestamp.ts"
import { WireIssue } from "../core/model/wire.ts"
import { Reapplied, ReapplyRequest } from "../core/reapply/Reapply.ts"
import { NewRuleDraft, Rule, RuleDraft, RuleList, RulePatch, RuleQuery, RuleVersion } from "../core/rules/Rule.ts"
import { CheckRequest, CheckResult } from "../core/rules/RuleCheck.ts"
import { ComparedRule, CompareRequest } from "../core/shadows/Shadows.ts"
import { contract } from "./Contract.ts"
import { EXAMPLE_MATCH, EXAMPLE_REGISTRATION, EXAMPLE_RULE, exampleDetails, exampleRule } from "./examples.ts"

const RuleRequest = Schema.Struct({ rule_id: Schema.String })

/** The rule after a change. */
const RuleResult = Schema.Struct({
  rule: Rule,
  warnings: optional(
    Schema.Record({ key: PlatformId, value: Schema.Array(WireIssue) }),
    "Possible mistakes in the filters that were sent, per platform; absent if there are none"
  )
})

const PlatformRuleResult = Schema.Struct({
  platform_rule_id: Schema.String.annotations({ description: "Empty while the rule is paused" }),
  translated_value: Schema.String,
  warnings: optional(
    Schema.Array(WireIssue),
    "Possible mistakes in the filter, or `paused` if the monthly budget is nearly used up and the rule is registered later; absent if there are none. Spans refer to the text that was sent"
  )
}).annotations({ identifier: "PlatformRuleResult" })

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

export const rules = {
  create: contract({
    method: "POST",
    path: "/api.CreateRule",
    name: "createRule",
    scope: "write",
    isLong: true,
    tag: "rules",
    summary: "Create a rule",
    description:
      "Checks every filter, then registers the rule on each of its platforms. If one platform refuses, the rule is removed from the others again.",
    input: NewRuleDraft,
    output: Schema.Struct({
      rule_id: RuleId,
      platforms: Schema.Record({ key: PlatformId, value: PlatformRuleResult })
    }),
    example: {
      request: {
        ...exampleDetails,
        platforms: ["x"],
        overrides: { x: "earthquake lang:en" }
      },
      response: { rule_id: EXAMPLE_RULE, platforms: { x: EXAMPLE_REGISTRATION } }
    }
  }),

  list: contract({
    method: "GET",
    path: "/api.ListRules",
    name: "listRules",
    scope: "read",
    tag: "rules",
    summary: "List the rules",
    description:
      "All rules of the account, newest first. A long list is sent while it is read: if the connection breaks, the list is not complete. With `limit`, one page: if there are more rules, the response has next_cursor, which leads to the next page as cursor. `query`, `state` and `quiet_for` leave out other rules, and `sort` changes the order.",
    input: RuleQuery,
    output: RuleList,
    pagedField: "rules",
    example: {
      response: {
        rules: [{ ...exampleRule, version: 1 }]
      }
    }
  }),

  delete: contract({
    method: "POST",
    path: "/api.DeleteRule",
    name: "deleteRule",
    scope: "write",
    isLong: true,
    tag: "rules",
    summary: "Delete a rule",
    description: "Removes the rule from its platforms and deletes its matches.",
    input: RuleRequest,
    output: Schema.Struct({ rule_id: RuleId }),
    example: { request: { rule_id: EXAMPLE_RULE }, response: { rule_id: EXAMPLE_RULE } }
  }),

  deleteSeveral: contract({
    method: "POST",
    path: "/api.DeleteRules",
    name: "deleteRules",
    scope: "write",
    isLong: true,
    tag: "rules",
    summary: "Delete several rules",
    description:
      "Removes up to 100 rules from their platforms and deletes their matches. With `preview`, deletes nothing and returns what would go. An id that no rule has is no error: it is in `not_found`. If the request fails, some of the rules may be gone: send it again.",
    input: DeleteRulesRequest,
    output: DeletedRules,
    example: {
      request: { rule_ids: [EXAMPLE_RULE], preview: true },
      response: {
        deleted: false,
        rules: [{ rule_id: EXAMPLE_RULE, name: exampleRule.name, matches: 1204 }],
        not_found: []
      }
    }
  }),

  get: contract({
    method: "GET",
    path: "/api.GetRule",
    name: "getRule",
    scope: "read",
    tag: "rules",
    summary: "Get a rule",
    description: "The rule as it is now, with its version.",
    input: Schema.Struct({ ...RuleRequest.fields, activity: RuleQuery.fields.activity }),
    output: Schema.Struct({ rule: Rule }),
    example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: exampleRule } }
  }),

  update: contract({
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
    }
  }),

  pause: contract({
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
        rule: {
          ...exampleRule,
          platforms: { x: { ...EXAMPLE_REGISTRATION, platform_rule_id: "", state: "paused", paused_by: "account" } }
        }
      }
    }
  }),

  resume: contract({
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
    example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: exampleRule } }
  }),

  versions: contract({
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
            ...exampleDetails,
            overrides: { x: "earthquake lang:en" },
            paused: false,
            changed: []
          }
        ]
      }
    }
  }),

  reapply: contract({
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
    }
  }),

  shadow: contract({
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
    }
  }),

  compare: contract({
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
    }
  }),

  compareFilter: contract({
    method: "POST",
    path: "/rules/compare",
    name: "compareFilter",
    scope: "read",
    isLong: true,
    tag: "rules",
    summary: "Compare a filter with that of a rule",
    description:
      "Tests a candidate filter on the stored matches of a rule and on the recent events, at once: what it keeps, loses and gains, and which clauses decide. `basis` says what was tested and what was not. Nothing is saved or registered. Unlike a shadow, it cannot see what a real platform does not send.",
    input: CompareFilterRequest,
    output: CompareFilterResult,
    example: {
      request: { rule_id: EXAMPLE_RULE, overrides: { x: "earthquake lang:en -is:retweet" }, samples: 1 },
      response: {
        rule_id: EXAMPLE_RULE,
        platforms: {
          x: {
            present: "earthquake lang:en",
            candidate: "earthquake lang:en -is:retweet",
            kept: { count: 97, stored: 90 },
            lost: {
              count: 214,
              stored: 201,
              decided_by: [{ clause: "is:retweet", count: 214 }],
              samples: [
                {
                  match_id: EXAMPLE_MATCH,
                  payload: {
                    data: { id: "1866223344556677889", text: "RT @quakes: Felt a strong earthquake just now" }
                  }
                }
              ]
            },
            gained: { count: 0, stored: 0, decided_by: [], samples: [] },
            basis: {
              stored: { tested: 291, from: "2026-11-14T10:02:11.512Z" },
              recent: { tested: 9709, from: "2026-11-15T02:10:00.871Z", basis: "all_events" },
              not_covered: []
            }
          }
        }
      }
    }
  }),

  promote: contract({
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
      since: optional(Timestamp.FromRequest, "Also take over what the shadow has matched since then")
    }),
    output: Schema.Struct({
      rule: Rule,
      added: Schema.Int.annotations({
        jsonSchema: { type: "integer", minimum: 0 },
        description: "How many matches of the shadow the rule got"
      })
    }),
    example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: { ...exampleRule, version: 3 }, added: 0 } }
  }),

  dropShadow: contract({
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
    example: { request: { rule_id: EXAMPLE_RULE }, response: { rule: exampleRule } }
  }),

  check: contract({
    method: "POST",
    path: "/rules/check",
    name: "checkRule",
    scope: "read",
    isLong: true,
    tag: "rules",
    summary: "Check filters before a rule is created",
    description:
      "Returns the issues of each filter and its translation to the other platform. Each loss of a translation comes with an example (`witnesses`): the same content on both platforms, on which the two filters differ. On request it also explains the filter on an event of yours (`events`), tests it on the newest events (`backtest`), and asks the platform itself (`ask_platforms`) whether it accepts the filter and, on X, how many posts it had in the last seven days, with the price of a month. Nothing is saved. A backtest uses, and shows as samples, the events that all accounts share and those that your account sent; `basis` says whether these are all events or only those that already match some rule.",
    input: CheckRequest,
    output: CheckResult,
    example: {
      request: {
        overrides: { x: "earthquake from:usgs" },
        backtest: { events: 1000, samples: 1 },
        ask_platforms: true
      },
      response: {
        platforms: {
          x: {
            valid: true,
            issues: [],
            canonical: "earthquake from:usgs",
            translations: {
              firehose: {
                text: "earthquake",
                fidelity: "wider",
                clauses: [
                  {
                    span: { start: 0, end: 10 },
                    fidelity: "exact",
                    reason: "The same word in the added text of the page"
                  },
                  {
                    span: { start: 11, end: 20 },
                    fidelity: "impossible",
                    reason: "Firehose has no accounts; left out, which makes the rule wider",
                    effects: ["wider"],
                    witnesses: [
                      {
                        effect: "wider",
                        matched_by: "firehose",
                        events: {
                          x: {
                            data: { id: "1", text: "earthquake", author_id: "2" },
                            includes: { users: [{ id: "2", username: "someone" }] }
                          },
                          firehose: {
                            document: {
                              url: "https://example.org/",
                              diff: { chunks: [{ typ: "ins", text: "earthquake" }] }
                            }
                          }
                        }
                      }
                    ]
                  }
                ]
              }
            },
            backtest: {
              basis: "matched_events",
              tested: 1000,
              matched: 12,
              already_matched: 4,
              from: "2026-11-15T08:00:00.000Z",
              to: "2026-11-15T08:08:20.000Z",
              samples: [{ data: { id: "1866223344556677889", text: "Felt a strong earthquake just now", lang: "en" } }]
            },
            platform_verdict: { accepted: true, asked: true, judged_by: "platform" },
            counts: {
              total: 14515,
              per_hour: 86.4,
              from: "2026-11-08T08:08:00.000Z",
              to: "2026-11-15T08:08:00.000Z",
              note: "X may leave retweets out of its counts, but the stream delivers them unless the filter has -is:retweet"
            },
            price: { per_month: 311.04, currency: "USD" }
          }
        }
      }
    }
  }),

  hits: contract({
    method: "POST",
    path: "/rules/hits",
    name: "ruleHits",
    scope: "read",
    isLong: true,
    tag: "rules",
    summary: "Count the hits of each clause",
    description:
      "Why a rule catches little or nothing: tests its filters on the newest events and counts, for each clause, on how many it held and how many the filter missed because of it alone. Like a backtest, it uses the events that all accounts share and those that your account sent; `basis` says whether these are all events or only those that already match some rule.",
    input: HitsRequest,
    output: HitsResult,
    example: {
      request: { rule_id: EXAMPLE_RULE, events: 1000 },
      response: {
        rule_id: EXAMPLE_RULE,
        platforms: {
          x: {
            filter: "from:nasa lang:de",
            state: "active",
            basis: "all_events",
            tested: 463,
            matched: 0,
            clauses: [
              {
                span: { start: 0, end: 9 },
                text: "from:nasa",
                description: 'The author is "nasa"',
                negated: false,
                held: 0,
                blocked: 12
              },
              {
                span: { start: 10, end: 17 },
                text: "lang:de",
                description: 'The language of the post is "de"',
                negated: false,
                held: 12,
                blocked: 0
              }
            ],
            parts: [
              { span: { start: 0, end: 9 }, text: "from:nasa", held: 0, blocked: 12 },
              { span: { start: 10, end: 17 }, text: "lang:de", held: 12, blocked: 0 }
            ]
          }
        }
      }
    }
  })
}
