/** The operations on platforms. */
import { Schema } from "effect"
import { optional } from "../core/model/optional.ts"
import { PlatformId } from "../core/model/PlatformId.ts"
import { SyntaxHelp } from "../core/platforms/Platform.ts"
import { Drill } from "../core/status/Drill.ts"
import { PlatformStatus } from "../core/status/PlatformStatus.ts"
import { contract } from "./Contract.ts"

export const platforms = {
  syntax: contract({
    method: "POST",
    path: "/platforms/syntax",
    name: "platformSyntax",
    scope: "read",
    tag: "platforms",
    summary: "Get the filter syntax of platforms",
    description:
      "Explains how to write a filter for each platform, for people and for agents. Without `platforms`: for all platforms.",
    input: Schema.Struct({
      platforms: optional(Schema.Array(PlatformId))
    }),
    output: Schema.Struct({ platforms: Schema.Record({ key: PlatformId, value: SyntaxHelp }) }),
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
    }
  }),

  status: contract({
    method: "GET",
    path: "/platforms/status",
    name: "platformStatus",
    scope: "read",
    tag: "platforms",
    summary: "Get the status of the platforms",
    description:
      "For each platform: whether its stream is open, the time of the last event, the last error, the number of rules it should hold and its limits. For a platform that charges: the posts of this month and what they cost, as far as they are the account's, and how much of the operator's budget is used.",
    input: Schema.Struct({}),
    output: Schema.Struct({
      platforms: Schema.Array(PlatformStatus),
      drill: optional(Drill, "Present if the server leaves the platforms or the webhooks alone, as in a drill")
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
    }
  })
}
