/** All operations. The REST routes, the tRPC router and the OpenAPI document are derived from them. */
import { Effect, Option, Schema } from "effect"
import { answering } from "../core/idempotency/CurrentClaim.ts"
import { Histogram, HistogramQuery } from "../core/matches/Histogram.ts"
import { Matches, MatchList, MatchQuery, WaitQuery, WaitResult } from "../core/matches/Matches.ts"
import { RuleId } from "../core/model/Ids.ts"
import { PlatformId } from "../core/model/PlatformId.ts"
import { WireIssue } from "../core/model/wire.ts"
import { SyntaxHelp } from "../core/platforms/Platform.ts"
import { syntaxHelp } from "../core/platforms/Syntax.ts"
import { NewRuleDraft, RuleList, RuleQuery } from "../core/rules/Rule.ts"
import { CheckRequest, CheckResult, checkFilters } from "../core/rules/RuleCheck.ts"
import { type CreatedRule, Rules } from "../core/rules/Rules.ts"
import { Drill, DrillMode, isDrill } from "../core/status/Drill.ts"
import { PlatformStatus } from "../core/status/PlatformStatus.ts"
import { Status } from "../core/status/Status.ts"
import type { Issue } from "../core/syntax/issues/issue.ts"
import { getAccount } from "./accountOperations.ts"
import { type AnyEndpoint, endpoint } from "./endpoint.ts"
import { explainEndpoints } from "./explainOperations.ts"
import { keyEndpoints } from "./keyOperations.ts"
import { EXAMPLE_REGISTRATION, EXAMPLE_RULE, ruleChangeEndpoints } from "./ruleOperations.ts"
import { shadowEndpoints } from "./shadowOperations.ts"
import { webhookEndpoints } from "./webhookOperations.ts"

const EXAMPLE_MATCH = "match_01kzyn5a2me0vb6h9d4s8y1k3p"

const NoFields = Schema.Struct({})

export const createRule = endpoint({
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
    platforms: perPlatform(
      Schema.Struct({
        platform_rule_id: Schema.String.annotations({ description: "Empty while the rule is paused" }),
        translated_value: Schema.String,
        warnings: Schema.optionalWith(Schema.Array(WireIssue), { exact: true }).annotations({
          description:
            "Possible mistakes in the filter, or `paused` if the monthly budget is nearly used up and the rule is registered later; absent if there are none. Spans refer to the text that was sent"
        })
      }).annotations({ identifier: "PlatformRuleResult" })
    )
  }),
  example: {
    request: {
      name: "Earthquakes",
      intent: "Learn of earthquakes within a minute of the first posts",
      platforms: ["x"],
      overrides: { x: "earthquake lang:en" }
    },
    response: { rule_id: EXAMPLE_RULE, platforms: { x: EXAMPLE_REGISTRATION } }
  },
  handle: (account, draft) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.create(account, draft).pipe(answering(toWire))
    })
})

export const listRules = endpoint({
  method: "GET",
  path: "/api.ListRules",
  name: "listRules",
  scope: "read",
  tag: "rules",
  summary: "List the rules",
  description:
    "All rules of the account, newest first. A long list is sent while it is read: if the connection breaks, the list is not complete. With `limit`, one page: if there are more rules, the response has next_cursor, which leads to the next page as cursor.",
  input: RuleQuery,
  output: RuleList,
  pagedField: "rules",
  example: {
    response: {
      rules: [
        {
          id: EXAMPLE_RULE,
          name: "Earthquakes",
          intent: "Learn of earthquakes within a minute of the first posts",
          platforms: { x: { ...EXAMPLE_REGISTRATION, state: "active" } },
          created_at: "2026-11-15T08:30:00.000Z",
          version: 1
        }
      ]
    }
  },
  handle: (account, query) => Effect.flatMap(Rules, (rules) => rules.list(account, query))
})

export const deleteRule = endpoint({
  method: "POST",
  path: "/api.DeleteRule",
  name: "deleteRule",
  scope: "write",
  isLong: true,
  tag: "rules",
  summary: "Delete a rule",
  description: "Removes the rule from its platforms and deletes its matches.",
  input: Schema.Struct({ rule_id: Schema.String }),
  output: Schema.Struct({ rule_id: RuleId }),
  example: { request: { rule_id: EXAMPLE_RULE }, response: { rule_id: EXAMPLE_RULE } },
  handle: (account, { rule_id }) =>
    Effect.gen(function* () {
      const rules = yield* Rules
      return yield* rules.delete(account, rule_id).pipe(answering((id) => ({ rule_id: id })))
    })
})

export const listMatches = endpoint({
  method: "POST",
  path: "/matches",
  name: "listMatches",
  scope: "read",
  tag: "matches",
  summary: "List matches",
  description:
    "Newest first, of one rule or of all rules of the account. If there are more, the response has next_cursor: send it as cursor to get the next page. `coverage` lists when the platforms were watched and the gaps, so that a quiet time can be told from a gap. The server deletes matches after its retention time: a cursor that points to deleted matches fails with failed_precondition. A match with `redacted` has an empty payload: its post was deleted, withheld or edited on the platform, or the operator removed it.",
  input: MatchQuery,
  output: MatchList,
  example: {
    request: { rule_id: EXAMPLE_RULE, platform: "x", limit: 50 },
    response: {
      matches: [
        {
          id: EXAMPLE_MATCH,
          rule_id: EXAMPLE_RULE,
          rule_version: 1,
          created_at: "2026-11-15T08:31:07.402Z",
          platform: "x",
          platform_post_id: "1866223344556677889",
          payload: { data: { id: "1866223344556677889", text: "Felt a strong earthquake just now" } }
        }
      ],
      coverage: {
        from: "2026-11-15T08:30:00.000Z",
        to: "2026-11-15T09:00:00.000Z",
        platforms: [
          {
            platform: "x",
            watched_since: "2026-11-14T10:00:00.000Z",
            watched_until: "2026-11-15T08:59:58.120Z",
            gaps: [
              {
                from: "2026-11-15T08:40:12.000Z",
                to: "2026-11-15T08:40:18.000Z",
                cause: "outage",
                detail: "The connection failed: the connection was cut",
                recovered: false
              }
            ],
            more_gaps: false,
            suspected: []
          }
        ]
      }
    }
  },
  handle: (account, query) => Effect.flatMap(Matches, (matches) => matches.list(account, query))
})

export const matchHistogram = endpoint({
  method: "POST",
  path: "/matches/histogram",
  name: "matchHistogram",
  scope: "read",
  tag: "matches",
  summary: "Count matches over time",
  description:
    "The number of matches per minute, hour or day, of one rule or of all rules of the account, by the time at which they were created. With `by`, one series per rule or per platform. Counts the matches that are stored: redacted ones too, but not those that were deleted after the retention time or with their rule. At most 1,500 bars. `coverage` says when the platforms were watched in that time, as in `POST /matches`. The cost does not depend on the number of matches.",
  input: HistogramQuery,
  output: Histogram,
  example: {
    request: { from: "2026-11-15T06:00:00Z", to: "2026-11-15T09:00:00Z", unit: "hour", by: "rule" },
    response: {
      unit: "hour",
      from: "2026-11-15T06:00:00.000Z",
      to: "2026-11-15T09:00:00.000Z",
      series: [{ rule_id: EXAMPLE_RULE, total: 45, counts: [0, 3, 42] }],
      coverage: {
        from: "2026-11-15T06:00:00.000Z",
        to: "2026-11-15T09:00:00.000Z",
        platforms: [
          {
            platform: "x",
            watched_since: "2026-11-14T10:00:00.000Z",
            watched_until: "2026-11-15T08:59:52.018Z",
            gaps: [],
            more_gaps: false,
            suspected: []
          }
        ]
      }
    }
  },
  handle: (account, query) => Effect.flatMap(Matches, (matches) => matches.histogram(account, query))
})

export const waitForMatches = endpoint({
  method: "POST",
  path: "/matches/wait",
  name: "waitForMatches",
  scope: "read",
  isLong: true,
  tag: "matches",
  summary: "Wait for matches",
  description:
    "Long polling, for clients that cannot keep a stream open. Responds as soon as there is a match, with all matches up to the limit, oldest first; after the timeout, with no matches and `timed_out`. `coverage` says when the platforms were watched since the cursor, as in `POST /matches`. `redacted` lists matches whose payload was removed since the cursor: remove your copies. Send the `cursor` of each response with the next request: then no match or redaction is missed or repeated.",
  input: WaitQuery,
  output: WaitResult,
  example: {
    request: { rule_id: EXAMPLE_RULE, cursor: EXAMPLE_MATCH, timeout_seconds: 25 },
    response: {
      matches: [
        {
          id: "match_01kzyn6b3nf1wc7j0e5t9z2m4q",
          rule_id: EXAMPLE_RULE,
          rule_version: 1,
          created_at: "2026-11-15T08:31:12.018Z",
          platform: "x",
          platform_post_id: "1866223344556677890",
          payload: { data: { id: "1866223344556677890", text: "There was another earthquake" } }
        }
      ],
      cursor: "match_01kzyn6b3nf1wc7j0e5t9z2m4q",
      timed_out: false,
      coverage: {
        from: "2026-11-15T08:31:07.402Z",
        to: "2026-11-15T08:31:12.051Z",
        platforms: [
          {
            platform: "x",
            watched_since: "2026-11-14T10:00:00.000Z",
            watched_until: "2026-11-15T08:31:12.018Z",
            gaps: [],
            more_gaps: false,
            suspected: []
          }
        ]
      }
    }
  },
  handle: (account, query) => Effect.flatMap(Matches, (matches) => matches.wait(account, query))
})

export const platformSyntax = endpoint({
  method: "POST",
  path: "/platforms/syntax",
  name: "platformSyntax",
  scope: "read",
  tag: "platforms",
  summary: "Get the filter syntax of platforms",
  description:
    "Explains how to write a filter for each platform, for people and for agents. Without `platforms`: for all platforms.",
  input: Schema.Struct({
    platforms: Schema.optionalWith(Schema.Array(PlatformId), { exact: true })
  }),
  output: Schema.Struct({ platforms: perPlatform(SyntaxHelp) }),
  example: {
    request: { platforms: ["x"] },
    response: {
      platforms: {
        x: {
          platform: "x",
          rule_type: "premium",
          summary: "Words and operators, joined by a space for and, by OR for or",
          syntax: "# Filters on X\n…",
          operators: [{ name: "keyword", description: "A word of the post", example: "earthquake" }],
          examples: [{ rule: "earthquake lang:en", description: "Posts in English with the word earthquake" }],
          limits: { rules_per_account: 25 }
        }
      }
    }
  },
  handle: (_account, { platforms }) =>
    Effect.map(syntaxHelp(platforms), (help) => ({ platforms: Object.fromEntries(help) }))
})

export const platformStatus = endpoint({
  method: "GET",
  path: "/platforms/status",
  name: "platformStatus",
  scope: "read",
  tag: "platforms",
  summary: "Get the status of the platforms",
  description:
    "For each platform: whether its stream is open, the time of the last event, the last error, the number of rules it should hold and its limits. For a platform that charges: the posts of this month and what they cost, as far as they are the account's, and how much of the operator's budget is used.",
  input: NoFields,
  output: Schema.Struct({
    platforms: Schema.Array(PlatformStatus),
    drill: Schema.optionalWith(Drill, { exact: true }).annotations({
      description: "Present if the server leaves the platforms or the webhooks alone, as in a drill"
    })
  }),
  example: {
    response: {
      platforms: [
        {
          platform: "x",
          source: "upstream",
          summary:
            "The stream is open. 3 rules to watch for, 1000 allowed. Last event received at 2026-11-15T08:31:07.402Z",
          stream: {
            state: "live",
            detail: "The stream is open",
            since: "2026-11-15T08:30:00.000Z",
            last_event_at: "2026-11-15T08:31:07.402Z"
          },
          rules: {
            wanted: 3,
            limit: 1000,
            drift: { checked_at: "2026-11-15T08:31:00.000Z", missing: 0, orphaned: 0, foreign: 0 }
          },
          coverage: {
            platform: "x",
            watched_since: "2026-11-14T10:00:00.000Z",
            watched_until: "2026-11-15T08:31:05.000Z",
            gaps: [],
            more_gaps: false,
            suspected: []
          },
          usage: { used: 41_204, limit: 3_000_000, reported_at: "2026-11-15T08:31:00.000Z" },
          budget: {
            month: "2026-11",
            limit: 100_000,
            used_percent: 41,
            used: 12_804,
            price_per_post: 0.005,
            cost: 64.02,
            paused: 0
          }
        }
      ]
    }
  },
  handle: (account) =>
    Effect.gen(function* () {
      const status = yield* Status
      const drill = yield* DrillMode
      return { platforms: yield* status.platforms(Option.some(account)), ...(isDrill(drill) && { drill }) }
    })
})

export const checkRule = endpoint({
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
  },
  handle: checkFilters
})

export const endpoints: ReadonlyArray<AnyEndpoint> = [
  createRule,
  listRules,
  deleteRule,
  ...ruleChangeEndpoints,
  ...shadowEndpoints,
  checkRule,
  listMatches,
  matchHistogram,
  waitForMatches,
  platformSyntax,
  platformStatus,
  ...explainEndpoints,
  ...webhookEndpoints,
  ...keyEndpoints,
  getAccount
]

// ---- helpers ----

const toWire = ({ id, platforms, warnings }: CreatedRule) => ({
  rule_id: id,
  platforms: Object.fromEntries(
    [...platforms].map(([platform, { platformRuleId, translatedValue }]) => [
      platform,
      {
        platform_rule_id: platformRuleId,
        translated_value: translatedValue,
        ...withWarnings(warnings.get(platform) ?? [])
      }
    ])
  )
})

const withWarnings = (issues: ReadonlyArray<Issue>) => (issues.length === 0 ? {} : { warnings: issues })

function perPlatform<A, I>(value: Schema.Schema<A, I>) {
  return Schema.Record({ key: PlatformId, value })
}
