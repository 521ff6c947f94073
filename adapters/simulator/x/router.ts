/** X's front door: which endpoint a call is for, who may call it and how often. */
import { Effect } from "effect"
import type { XEndpoint } from "../endpoints.ts"
import type { Settings } from "../settings.ts"
import { bearerOf, type Call, Dropped, type Reply } from "../wire.ts"
import { killConnections, listConnections } from "./connections.ts"
import { listRules, ruleCounts } from "./listRules.ts"
import { openStream } from "./openStream.ts"
import { creditsDepleted, plainProblem, tooManyRequests, unauthorized } from "./problems.ts"
import { readUsage } from "./readUsage.ts"
import { updateRules } from "./updateRules.ts"
import type { XState } from "./XState.ts"

/** A call that may be answered. */
export interface XCall {
  readonly state: XState
  readonly call: Call
  /** Of the rate limit: they go with every answer. */
  readonly headers: Readonly<Record<string, string>>
  /** The call does not count towards the limit after all. */
  readonly refund: () => void
}

export const answerX = (state: XState, call: Call): Effect.Effect<Reply, Dropped> =>
  Effect.suspend(() => {
    const path = PATHS.find(({ pattern }) => pattern.test(call.path))
    if (path === undefined) return Effect.succeed(plainProblem(404, "Not Found"))
    const route = Object.hasOwn(path.methods, call.method) ? path.methods[call.method] : undefined
    if (route === undefined)
      return Effect.succeed(plainProblem(405, "Method Not Allowed", { allow: Object.keys(path.methods).join(", ") }))
    const { faults, ledger } = state.world
    const { now } = call
    if (faults.take("refuse", { platform: "x", endpoint: route.endpoint, now }) !== undefined) {
      ledger.answered("x", route.endpoint, 0, now)
      return new Dropped({ reason: "refused" })
    }
    const reply = answered(state, call, route)
    ledger.answered("x", route.endpoint, reply.status, now)
    return Effect.succeed({
      ...reply,
      headers: { ...reply.headers, "x-transaction-id": state.world.uuid().replaceAll("-", "").slice(0, 16) }
    })
  })

// ---- helpers ----

const WINDOW_MILLIS = 15 * 60_000

interface Route {
  readonly endpoint: XEndpoint
  /** Which calls are counted together. */
  readonly limitKey: (settings: Settings) => string
  readonly limit: (settings: Settings) => number
  readonly handle: (call: XCall) => Reply
}

const PATHS: ReadonlyArray<{ readonly pattern: RegExp; readonly methods: Readonly<Record<string, Route>> }> = [
  {
    pattern: /^\/2\/tweets\/search\/stream\/rules$/,
    methods: {
      GET: {
        endpoint: "rules.list",
        limitKey: () => "rules.list",
        limit: ({ x }) => x.rules_get_limit,
        handle: listRules
      },
      POST: {
        endpoint: "rules.update",
        limitKey: () => "rules.update",
        limit: ({ x }) => x.rules_post_limit,
        handle: updateRules
      }
    }
  },
  {
    pattern: /^\/2\/tweets\/search\/stream\/rules\/counts$/,
    methods: {
      GET: {
        endpoint: "rules.counts",
        limitKey: ({ x }) => (x.counts_share_limit ? "rules.list" : "rules.counts"),
        limit: ({ x }) => x.rules_get_limit,
        handle: ruleCounts
      }
    }
  },
  {
    pattern: /^\/2\/tweets\/search\/stream$/,
    methods: {
      GET: { endpoint: "stream", limitKey: () => "stream", limit: ({ x }) => x.stream_limit, handle: openStream }
    }
  },
  {
    pattern: /^\/2\/connections$/,
    methods: {
      GET: connections("connections.list", listConnections),
      DELETE: connections("connections.kill", killConnections)
    }
  },
  { pattern: /^\/2\/connections\/\w+$/, methods: { DELETE: connections("connections.kill", killConnections) } },
  {
    pattern: /^\/2\/usage\/tweets$/,
    methods: { GET: { endpoint: "usage", limitKey: () => "usage", limit: ({ x }) => x.usage_limit, handle: readUsage } }
  }
]

function connections(endpoint: XEndpoint, handle: (call: XCall) => Reply): Route {
  return { endpoint, limitKey: () => endpoint, limit: ({ x }) => x.connections_limit, handle }
}

const answered = (state: XState, call: Call, { endpoint, limitKey, limit, handle }: Route): Reply => {
  const { world } = state
  const { settings, faults, ledger } = world
  const { now } = call
  const place = { platform: "x", endpoint, now } as const
  const failing = faults.take("server-error", place)
  if (failing !== undefined)
    return plainProblem(failing.status, failing.status === 503 ? "Service Unavailable" : "Internal Server Error")
  if (bearerOf(call) !== settings.x.bearer_token) return unauthorized()

  const limited = faults.take("rate-limit", place)
  if (limited !== undefined) {
    const resetAt = world.told("x", now) + limited.reset_seconds * 1_000
    return tooManyRequests(settings, limited.headers ? limitHeaders(limit(settings), 0, resetAt) : {})
  }
  const key = limitKey(settings)
  const standing = ledger.take(
    "x",
    key,
    { limit: limit(settings), windowMillis: WINDOW_MILLIS, penaltyMillis: settings.x.penalty_seconds * 1_000 },
    now
  )
  // Both times in the same, perhaps wrong, time of the platform.
  const resetAt = standing.resetAt + world.told("x", now) - now
  const headers = limitHeaders(standing.limit, standing.remaining, resetAt)
  if (standing.isExceeded) return tooManyRequests(settings, headers)
  if (faults.take("payment-required", place) !== undefined) return creditsDepleted(settings, headers)
  return handle({ state, call, headers, refund: () => ledger.giveBack("x", key) })
}

const limitHeaders = (limit: number, remaining: number, resetAt: number) => ({
  "x-rate-limit-limit": String(limit),
  "x-rate-limit-remaining": String(remaining),
  "x-rate-limit-reset": String(Math.ceil(resetAt / 1_000))
})
