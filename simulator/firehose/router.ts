/** Routes calls to Firehose's endpoints, after faults, authentication and rate limits. */
import { Effect } from "effect"
import type { FirehoseEndpoint } from "../endpoints.ts"
import { bearerToken, type Call, Dropped, type Reply } from "../wire.ts"
import type { ManagementCall, TapCall } from "./calls.ts"
import { failure, noCredit, notFound, tooManyAttempts, unauthenticated } from "./errors.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import { openStream } from "./openStream.ts"
import { createRule, deleteRule, getRule, listRules, updateRule, validate } from "./rules.ts"
import { createTap, deleteTap, getTap, listTaps, updateTap } from "./taps.ts"

export const answerFirehose = (state: FirehoseState, call: Call): Effect.Effect<Reply, Dropped> =>
  Effect.suspend(() => {
    const route = routes.find(({ pattern }) => pattern.test(call.path))
    if (route === undefined) return Effect.succeed(notFound(state.world.settings))
    const { pattern, endpoint, methods } = route
    const handler = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined
    if (handler === undefined) {
      const headers = { allow: Object.keys(methods).join(", ") }
      return Effect.succeed(failure(state.world.settings, 405, "Method not allowed.", { headers }))
    }
    const { faults, ledger } = state.world
    const { now } = call
    if (faults.take("refuse", { platform: "firehose", endpoint, now }) !== undefined) {
      ledger.recordReply("firehose", endpoint, 0, now)
      return new Dropped({ reason: "refused" })
    }
    const id = pattern.exec(call.path)?.[1] ?? ""
    const reply = answer(endpoint, handler, { state, call, id })
    ledger.recordReply("firehose", endpoint, reply.status, now)
    return Effect.succeed(reply)
  })

// ---- helpers ----

const WINDOW_MILLIS = 60_000

type Handler =
  | { readonly key: "management"; readonly handle: (call: ManagementCall) => Reply }
  | { readonly key: "tap"; readonly handle: (call: TapCall) => Reply }
  | { readonly key: "none"; readonly handle: (call: ManagementCall) => Reply }

interface Route {
  readonly pattern: RegExp
  readonly endpoint: FirehoseEndpoint
  readonly methods: Readonly<Record<string, Handler>>
}

const routes: ReadonlyArray<Route> = [
  {
    pattern: /^\/v1\/taps$/,
    endpoint: "taps",
    methods: { GET: withManagementKey(listTaps), POST: withManagementKey(createTap) }
  },
  {
    pattern: /^\/v1\/taps\/([\w-]+)$/,
    endpoint: "taps",
    methods: { GET: withManagementKey(getTap), PUT: withManagementKey(updateTap), DELETE: withManagementKey(deleteTap) }
  },
  {
    pattern: /^\/v1\/rules$/,
    endpoint: "rules",
    methods: { GET: withTapToken(listRules), POST: withTapToken(createRule) }
  },
  {
    pattern: /^\/v1\/rules\/([\w-]+)$/,
    endpoint: "rules",
    methods: { GET: withTapToken(getRule), PUT: withTapToken(updateRule), DELETE: withTapToken(deleteRule) }
  },
  {
    pattern: /^\/v1\/validate$/,
    endpoint: "validate",
    methods: { POST: withTapToken(({ state, call }) => validate(state, call.body)) }
  },
  {
    pattern: /^\/v1\/validate\/public$/,
    endpoint: "validate",
    methods: { POST: { key: "none", handle: ({ state, call }) => validate(state, call.body) } }
  },
  { pattern: /^\/v1\/stream$/, endpoint: "stream", methods: { GET: withTapToken(openStream) } }
]

function withManagementKey(handle: (call: ManagementCall) => Reply): Handler {
  return { key: "management", handle }
}

function withTapToken(handle: (call: TapCall) => Reply): Handler {
  return { key: "tap", handle }
}

const answer = (endpoint: FirehoseEndpoint, handler: Handler, call: ManagementCall): Reply => {
  const { state } = call
  const { settings, faults } = state.world
  const { now } = call.call
  const target = { platform: "firehose", endpoint, now } as const
  const serverError = faults.take("server-error", target)
  if (serverError !== undefined)
    return failure(settings, serverError.status, serverError.status === 502 ? "Bad Gateway" : "Server Error")
  const rateLimited = () => {
    const fault = faults.take("rate-limit", target)
    return fault === undefined ? undefined : tooManyAttempts(settings, fault.headers ? fault.reset_seconds : undefined)
  }
  const paymentRequired = () => (faults.take("payment-required", target) === undefined ? undefined : noCredit(settings))

  if (handler.key === "none") return rateLimited() ?? paymentRequired() ?? handler.handle(call)
  const token = bearerToken(call.call)
  const isManagement = token === settings.firehose.management_key
  const tap = state.tapByToken(token)
  if (handler.key === "management") {
    if (!isManagement) return unauthenticated(settings, tap === undefined ? 401 : settings.firehose.wrong_key_status)
    return (
      rateLimited() ??
      overLimit(state, "taps", settings.firehose.taps_limit, now) ??
      paymentRequired() ??
      handler.handle(call)
    )
  }
  if (tap === undefined) return unauthenticated(settings, isManagement ? settings.firehose.wrong_key_status : 401)
  tap.lastUsedAt = now
  const limits = { rules: settings.firehose.rules_limit, stream: settings.firehose.stream_limit }
  const limit = endpoint === "rules" || endpoint === "stream" ? limits[endpoint] : undefined
  return (
    rateLimited() ??
    (limit === undefined ? undefined : overLimit(state, `${endpoint}.${tap.id}`, limit, now)) ??
    paymentRequired() ??
    handler.handle({ ...call, tap })
  )
}

/** Counts the call. Returns the 429 reply if it is over the limit. */
const overLimit = (state: FirehoseState, key: string, limit: number, now: number): Reply | undefined => {
  const status = state.world.ledger.take("firehose", key, { limit, windowMillis: WINDOW_MILLIS }, now)
  if (!status.isExceeded) return undefined
  return tooManyAttempts(state.world.settings, Math.max(1, Math.ceil((status.resetAt - now) / 1_000)))
}
