/** The data that every server returns: rules and matches behind one key. */

import type { Key } from "../../core/keys/Key.ts"
import type { Match } from "../../core/matches/Match.ts"
import { fromUuid, timeOf } from "../../core/model/Ids.ts"
import { makeSecret } from "../../core/model/secretText.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import type { Rule } from "../../core/rules/Rule.ts"

const PLACES = ["Antofagasta", "Kathmandu", "Wellington", "Anchorage", "Sendai"]

/** A valid key. */
export const KEY: string = makeSecret((length) => Uint8Array.from({ length }, (_, i) => i * 7))

/** What is stored of it. */
export const apiKey = {
  id: fromUuid("key", uuid(1)),
  account_id: fromUuid("acct", uuid(1)),
  account: "default",
  name: "benchmark",
  scope: "admin",
  hint: KEY.slice(0, 8),
  created_at: time(0),
  last_used_at: null,
  expires_at: null,
  previous_secret_until: null,
  revoked_at: null
} satisfies Key

/** Newest first. */
export const rules = Array.from({ length: 20 }, (_, i) => {
  const age = 20 - i
  return {
    id: fromUuid("rule", uuid(age)),
    name: `Earthquakes near ${PLACES[i % PLACES.length]}`,
    intent: "Hear of earthquakes within a minute of the first posts, before the agencies publish them",
    platforms: {
      x: {
        platform_rule_id: `18661122334455667${String(age).padStart(2, "0")}`,
        translated_value: `(earthquake OR quake) ${PLACES[i % PLACES.length]} lang:en -is:retweet`,
        state: "active" as const
      }
    },
    created_at: time(age),
    version: 1
  } satisfies Rule
})

const newestRule = fromUuid("rule", uuid(rules.length))

/** Matches of the newest rule, newest first. */
export const matches = Array.from({ length: 50 }, (_, i) => {
  const age = 100 - i
  const post = `18662233445566778${String(age).padStart(2, "0")}`
  return {
    id: fromUuid("match", uuid(age)),
    rule_id: newestRule,
    rule_version: 1,
    created_at: time(age),
    platform: "x" as const,
    platform_post_id: post,
    payload: { data: { id: post, text: `Felt a strong earthquake in ${PLACES[i % PLACES.length]} just now` } }
  } satisfies typeof Match.Encoded
})

export interface Query {
  readonly rule_id?: string | undefined
  readonly platform?: string | undefined
  readonly limit: number
}

/** The query of all servers: none has a database. */
export const select = ({ rule_id, platform, limit }: Query) =>
  matches
    .filter((match) => match.rule_id === (rule_id ?? match.rule_id) && match.platform === (platform ?? match.platform))
    .slice(0, limit)

/** As of now. No platform is watched here. */
export const coverage = () => ({
  from: Timestamp.fromMillis(timeOf(newestRule)),
  to: Timestamp.fromMillis(Date.now()),
  platforms: [{ platform: "x" as const, gaps: [], more_gaps: false, suspected: [] }]
})

export interface Endpoint {
  readonly name: string
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body: string
  /** As of now. Always the same size. */
  readonly answer: () => unknown
  /** Maximum ratio of our time on Node to that of Fastify. */
  readonly timesFastify: number
}

export const endpoints: ReadonlyArray<Endpoint> = [
  {
    name: "POST /matches",
    method: "POST",
    path: "/matches",
    body: JSON.stringify({ rule_id: newestRule, platform: "x", limit: 50 }),
    answer: () => ({ matches, coverage: coverage() }),
    timesFastify: 1.6
  },
  {
    name: "GET /api.ListRules",
    method: "GET",
    path: "/api.ListRules",
    body: "",
    answer: () => ({ rules }),
    timesFastify: 1.5
  }
]

// ---- helpers ----

function uuid(n: number): string {
  return `01934f00-0000-7000-8000-${String(n).padStart(12, "0")}`
}

function time(seconds: number) {
  return Timestamp.fromDate(new Date(Date.UTC(2026, 10, 15, 8, 30, seconds, 402)))
}
