/** Routes calls to X's endpoints, after faults, authentication and rate limits. */
import { Effect } from "effect"
import type { XEndpoint } from "../endpoints.ts"
import type { Settings } from "../settings.ts"
import { bearerToken, type Call, Dropped, type Reply } from "../wire.ts"
import { killConnections, listConnections } from "./connections.ts"
import { countsRecent } from "./countsRecent.ts"
import { listRules, ruleCounts } from "./listRules.ts"
import { lookUpPosts } from "./lookUp.ts"
import { openStream } from "./openStream.ts"
import { creditsDepleted, invalidRequest, plainProblem, tooManyRequests, unauthorized } from "./problems.ts"
import { readUsage } from "./readUsage.ts"
import { updateRules } from "./updateRules.ts"
import type { XCall } from "./XCall.ts"
import type { XState } from "./XState.ts"

export const answerX = (state: XState, call: Call): Effect.Effect<Reply, Dropped> =>
  Effect.suspend(() => {
    const path = routes.find(({ pattern }) => pattern.test(call.path))
    if (path === undefined) return Effect.succeed(plainProblem(404, "Not Found"))
    const route = Object.hasOwn(path.methods, call.method) ? path.methods[call.method] : undefined
    if (route === undefined)
      return Effect.succeed(plainProblem(405, "Method Not Allowed", { allow: Object.keys(path.methods).join(", ") }))
    const { faults, ledger } = state.world
    const { now } = call
    if (faults.take("refuse", { platform: "x", endpoint: route.endpoint, now }) !== undefined) {
      ledger.recordReply("x", route.endpoint, 0, now)
      return new Dropped({ reason: "refused" })
    }
    // Before the answer, which may use up a fault.
    const skew = faults.peek("clock-skew", { platform: "x", now })?.skew_seconds ?? 0
    const reply = answer(state, call, route)
    ledger.recordReply("x", route.endpoint, reply.status, now)
    return Effect.succeed({
      ...reply,
      headers: {
        ...reply.headers,
        date: new Date(now + skew * 1_000).toUTCString(),
        "x-transaction-id": state.world.uuid().replaceAll("-", "").slice(0, 16)
      }
    })
  })

// ---- helpers ----

const WINDOW_MILLIS = 15 * 60_000

interface Route {
  readonly endpoint: XEndpoint
  /** The setting with the calls per window. */
  readonly limit: Exclude<Extract<keyof Settings["x"], `${string}_limit`>, "counts_share_limit">
  readonly handle: (call: XCall) => Reply
}

const killing: Route = { endpoint: "connections.kill", limit: "connections_limit", handle: killConnections }

const routes: ReadonlyArray<{ readonly pattern: RegExp; readonly methods: Readonly<Record<string, Route>> }> = [
  {
    pattern: /^\/2\/tweets\/search\/stream\/rules$/,
    methods: {
      GET: { endpoint: "rules.list", limit: "rules_get_limit", handle: listRules },
      POST: { endpoint: "rules.update", limit: "rules_post_limit", handle: updateRules }
    }
  },
  {
    pattern: /^\/2\/tweets\/search\/stream\/rules\/counts$/,
    methods: { GET: { endpoint: "rules.counts", limit: "rules_get_limit", handle: ruleCounts } }
  },
  {
    pattern: /^\/2\/tweets\/search\/stream$/,
    methods: { GET: { endpoint: "stream", limit: "stream_limit", handle: openStream } }
  },
  {
    pattern: /^\/2\/tweets\/counts\/recent$/,
    methods: { GET: { endpoint: "counts.recent", limit: "recent_counts_limit", handle: countsRecent } }
  },
  {
    pattern: /^\/2\/connections$/,
    methods: {
      GET: { endpoint: "connections.list", limit: "connections_limit", handle: listConnections },
      DELETE: killing
    }
  },
  { pattern: /^\/2\/connections\/\w+$/, methods: { DELETE: killing } },
  { pattern: /^\/2\/tweets$/, methods: { GET: { endpoint: "posts", limit: "posts_limit", handle: lookUpPosts } } },
  { pattern: /^\/2\/usage\/tweets$/, methods: { GET: { endpoint: "usage", limit: "usage_limit", handle: readUsage } } }
]

const answer = (state: XState, call: Call, { endpoint, limit: limitSetting, handle }: Route): Reply => {
  const { world } = state
  const { settings, faults, ledger } = world
  const { now } = call
  const limit = settings.x[limitSetting]
  const target = { platform: "x", endpoint, now } as const
  const serverError = faults.take("server-error", target)
  if (serverError !== undefined)
    return plainProblem(
      serverError.status,
      serverError.status === 503 ? "Service Unavailable" : "Internal Server Error"
    )
  if (bearerToken(call) !== settings.x.bearer_token) return unauthorized()

  const rateLimit = faults.take("rate-limit", target)
  if (rateLimit !== undefined) {
    const resetAt = world.reportedTime("x", now) + rateLimit.reset_seconds * 1_000
    return withHeaders(tooManyRequests(settings), rateLimit.headers ? limitHeaders(limit, 0, resetAt) : {})
  }
  // Calls with the same key share a rate limit.
  const key = endpoint === "rules.counts" && settings.x.counts_share_limit ? "rules.list" : endpoint
  const status = ledger.take(
    "x",
    key,
    { limit, windowMillis: WINDOW_MILLIS, penaltyMillis: settings.x.penalty_seconds * 1_000 },
    now
  )
  // The reset time is on the platform's reported clock, which may be skewed.
  const resetAt = status.resetAt + world.reportedTime("x", now) - now
  const headers = limitHeaders(status.limit, status.remaining, resetAt)
  if (status.isExceeded) return withHeaders(tooManyRequests(settings), headers)
  if (faults.take("payment-required", target) !== undefined) return withHeaders(creditsDepleted(settings), headers)
  const refuse = (name: string, message: string) =>
    invalidRequest(settings, { message, parameters: { [name]: [call.query.get(name) ?? ""] } })
  return withHeaders(handle({ state, call, refuse, refund: () => ledger.refund("x", key) }), headers)
}

const withHeaders = (reply: Reply, headers: Reply["headers"]): Reply => ({
  ...reply,
  headers: { ...headers, ...reply.headers }
})

const limitHeaders = (limit: number, remaining: number, resetAt: number) => ({
  "x-rate-limit-limit": String(limit),
  "x-rate-limit-remaining": String(remaining),
  "x-rate-limit-reset": String(Math.ceil(resetAt / 1_000))
})
