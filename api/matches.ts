/** The operations on matches. */
import { Schema } from "effect"
import { ExplainRequest, ExplainResult } from "../core/explanations/Explanations.ts"
import { Histogram, HistogramQuery } from "../core/matches/Histogram.ts"
import { Match } from "../core/matches/Match.ts"
import { MatchList, MatchQuery, WaitQuery, WaitResult } from "../core/matches/Matches.ts"
import { contract } from "./Contract.ts"
import { EXAMPLE_MATCH, EXAMPLE_RULE, exampleMatch } from "./examples.ts"

export const matches = {
  list: contract({
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
        matches: [exampleMatch],
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
    }
  }),

  get: contract({
    method: "GET",
    path: "/matches/get",
    name: "getMatch",
    scope: "read",
    tag: "matches",
    summary: "Get a match",
    description: "One match with its whole payload. Of a redacted match, the payload is empty.",
    input: Schema.Struct({ match_id: Schema.String }),
    output: Schema.Struct({ match: Match }),
    example: {
      request: { match_id: EXAMPLE_MATCH },
      response: {
        match: exampleMatch
      }
    }
  }),

  wait: contract({
    method: "POST",
    path: "/matches/wait",
    name: "waitForMatches",
    scope: "read",
    isLong: true,
    tag: "matches",
    summary: "Wait for matches",
    description:
      "Long polling, for clients that cannot keep a stream open. Responds as soon as there are `at_least` matches, by default one, with all matches up to the limit, oldest first; after the timeout, with those that came, possibly none, and `timed_out`. `coverage` says when the platforms were watched since the cursor, as in `POST /matches`. `redacted` lists matches whose payload was removed since the cursor: remove your copies. Send the `cursor` of each response with the next request: then no match or redaction is missed or repeated.",
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
    }
  }),

  histogram: contract({
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
    }
  }),

  explain: contract({
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
    }
  })
}
