/** What every server stores: rules, and matches with whole posts, of one account with one key. */

import { Random } from "../../fixtures/distributions.ts"
import type { Match } from "../../core/matches/Match.ts"
import { fromUuid } from "../../core/model/Ids.ts"
import { makeSecret } from "../../core/model/secretText.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import type { Rule } from "../../core/rules/Rule.ts"
import { makePost } from "../engine/workload/posts.ts"

const PLACES = ["Antofagasta", "Kathmandu", "Wellington", "Anchorage", "Sendai"]
const PAGE = 50

/** A valid key. */
export const KEY: string = makeSecret((length) => Uint8Array.from({ length }, (_, i) => i * 7))

/** Newest first. */
export const rules = Array.from({ length: 100 }, (_, i) => {
  const age = 100 - i
  const place = PLACES[i % PLACES.length]
  return {
    id: fromUuid("rule", uuid(age)),
    name: `Earthquakes near ${place}`,
    intent: "Hear of earthquakes within a minute of the first posts, before the agencies publish them",
    platforms: {
      x: {
        platform_rule_id: String(1_866_112_233_445_566_000n + BigInt(age)),
        translated_value: `(earthquake OR quake) ${place} lang:en -is:retweet near:${age}`,
        state: "active" as const
      }
    },
    created_at: time(age),
    version: 1
  } satisfies Rule
})

const random = new Random(11)

/** Which X adds to a post. */
const context_annotations = [
  {
    domain: {
      id: "45",
      name: "Brand Vertical",
      description: "Top level entities that describe an industry or a field"
    },
    entity: { id: "781974596752840", name: "Natural disasters" }
  }
]
const matching_rules = [{ id: "1866112233445566701", tag: "earthquakes" }]

/** Newest first, evenly spread over the rules. Payloads are posts of about 1.2 kB. */
export const matches = Array.from({ length: 2_000 }, (_, i) => {
  const age = 2_000 - i
  return {
    id: fromUuid("match", uuid(age)),
    rule_id: fromUuid("rule", uuid(1 + (age % rules.length))),
    rule_version: 1,
    created_at: time(100 + age),
    platform: "x" as const,
    platform_post_id: String(1_866_223_344_556_677_000n + BigInt(age)),
    payload: Object.assign({ context_annotations, matching_rules }, makePost(random, i).record)
  } satisfies typeof Match.Encoded
})

export interface Endpoint {
  readonly name: string
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body: string
  /** What each answer has, besides a cursor and, in ours, coverage. */
  readonly answer: Readonly<Record<string, unknown>>
  /** The peers, with the maximum ratio of our CPU time to theirs. */
  readonly targets: Readonly<Record<string, number>>
}

export const endpoints: ReadonlyArray<Endpoint> = [
  {
    name: "POST /matches",
    method: "POST",
    path: "/matches",
    body: JSON.stringify({ platform: "x", limit: PAGE }),
    answer: { matches: matches.slice(0, PAGE) },
    targets: { objects: 1, text: 1.4 }
  },
  {
    name: "GET /api.ListRules",
    method: "GET",
    path: "/api.ListRules",
    body: "",
    answer: { rules },
    targets: { objects: 1.2 }
  }
]

// ---- helpers ----

function uuid(n: number): string {
  return `01934f00-0000-7000-8000-${String(n).padStart(12, "0")}`
}

function time(seconds: number) {
  return Timestamp.fromDate(new Date(Date.UTC(2026, 10, 15, 8, 30, seconds, 402)))
}
