/** The operations that explain rules: on one event, and on the recent events. */
import { Effect } from "effect"
import {
  ExplainRequest,
  ExplainResult,
  Explanations,
  HitsRequest,
  HitsResult
} from "../core/explanations/Explanations.ts"
import { endpoint } from "./endpoint.ts"

const EXAMPLE_RULE = "rule_01kzyn3v8jf9g8w3q5r7t2x4c6"

export const explainMatch = endpoint({
  method: "POST",
  path: "/matches/explain",
  name: "explainMatch",
  needsFields: true,
  scope: "read",
  isLong: true,
  tag: "matches",
  summary: "Explain a match or a miss",
  description:
    "Why a rule matched an event or not. For a match, send `match_id`; for any other event, `rule_id` with `event` or with the `platform_post_id` of a recent event. For each clause: whether it held, the values that it was tested on, and where in the text it was found. `decisive` lists the clauses that decided. For a miss, `changes` has up to three changes of the filter with which it matches the event; each was tested on it. For a match, the version of the rule that matched is explained, otherwise the present one.",
  input: ExplainRequest,
  output: ExplainResult,
  example: {
    request: {
      rule_id: EXAMPLE_RULE,
      platform: "x",
      event: { data: { id: "1866223344556677889", text: "Felt a strong earthquake just now", lang: "de" } }
    },
    response: {
      rule_id: EXAMPLE_RULE,
      platform: "x",
      rule_version: 1,
      filter: "earthquake lang:en",
      matched: false,
      clauses: [
        {
          span: { start: 0, end: 10 },
          held: true,
          negated: false,
          description: 'The word "earthquake" in the text of the post',
          tested: {
            field: "x.text",
            values: ["Felt a strong earthquake just now"],
            count: 1,
            place: { value: 0, start: 14, end: 24, text: "earthquake" }
          }
        },
        {
          span: { start: 11, end: 18 },
          held: false,
          negated: false,
          description: 'The language of the post is "en"',
          tested: { field: "x.lang", values: ["de"], count: 1 }
        }
      ],
      decisive: [{ start: 11, end: 18 }],
      changes: [
        {
          kind: "change",
          message: "Change `lang:en` to `lang:de`",
          clauses: [{ start: 11, end: 18 }],
          text: "earthquake lang:de"
        },
        { kind: "remove", message: "Remove `lang:en`", clauses: [{ start: 11, end: 18 }], text: "earthquake" }
      ]
    }
  },
  handle: (account, request) => Effect.flatMap(Explanations, ({ explain }) => explain(account, request))
})

export const ruleHits = endpoint({
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
  },
  handle: (account, request) => Effect.flatMap(Explanations, ({ hits }) => hits(account, request))
})

export const explainEndpoints = [explainMatch, ruleHits]
