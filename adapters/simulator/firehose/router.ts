/** Firehose's front door: which endpoint a call is for, who may call it and how often. */
import { Effect } from "effect"
import type { FirehoseEndpoint } from "../endpoints.ts"
import { bearerOf, type Call, Dropped, type Reply } from "../wire.ts"
import { failure, noCredit, notFound, tooManyAttempts, unauthenticated } from "./errors.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import { openStream } from "./openStream.ts"
import { createRule, deleteRule, getRule, listRules, updateRule, validate } from "./rules.ts"
import type { Tap } from "./Tap.ts"
import { createTap, deleteTap, getTap, listTaps, updateTap } from "./taps.ts"

/** A call with a management key. */
export interface ManagementCall {
  readonly state: FirehoseState
  readonly call: Call
  /** Last part of the path, where it has one. */
  readonly id: string
}

/** A call with the token of a tap. */
export interface TapCall extends ManagementCall {
  readonly tap: Tap
}

export const answerFirehose = (state: FirehoseState, call: Call): Effect.Effect<Reply, Dropped> =>
  Effect.suspend(() => {
    const path = PATHS.find(({ pattern }) => pattern.test(call.path))
    if (path === undefined) return Effect.succeed(notFound(state.world.settings))
    const route = Object.hasOwn(path.methods, call.method) ? path.methods[call.method] : undefined
    if (route === undefined) {
      const headers = { allow: Object.keys(path.methods).join(", ") }
      return Effect.succeed(failure(state.world.settings, 405, "Method not allowed.", { headers }))
    }
    const { faults, ledger } = state.world
    const { now } = call
    if (faults.take("refuse", { platform: "firehose", endpoint: path.endpoint, now }) !== undefined) {
      ledger.answered("firehose", path.endpoint, 0, now)
      return new Dropped({ reason: "refused" })
    }
    const id = path.pattern.exec(call.path)?.[1] ?? ""
    const reply = answered(path.endpoint, route, { state, call, id })
    ledger.answered("firehose", path.endpoint, reply.status, now)
    return Effect.succeed(reply)
  })

// ---- helpers ----

const MINUTE = 60_000

type Route =
  | { readonly key: "management"; readonly handle: (call: ManagementCall) => Reply }
  | { readonly key: "tap"; readonly handle: (call: TapCall) => Reply }
  | { readonly key: "none"; readonly handle: (call: ManagementCall) => Reply }

interface PathRoutes {
  readonly pattern: RegExp
  readonly endpoint: FirehoseEndpoint
  readonly methods: Readonly<Record<string, Route>>
}

const PATHS: ReadonlyArray<PathRoutes> = [
  { pattern: /^\/v1\/taps$/, endpoint: "taps", methods: { GET: managed(listTaps), POST: managed(createTap) } },
  {
    pattern: /^\/v1\/taps\/([\w-]+)$/,
    endpoint: "taps",
    methods: { GET: managed(getTap), PUT: managed(updateTap), DELETE: managed(deleteTap) }
  },
  { pattern: /^\/v1\/rules$/, endpoint: "rules", methods: { GET: tapped(listRules), POST: tapped(createRule) } },
  {
    pattern: /^\/v1\/rules\/([\w-]+)$/,
    endpoint: "rules",
    methods: { GET: tapped(getRule), PUT: tapped(updateRule), DELETE: tapped(deleteRule) }
  },
  {
    pattern: /^\/v1\/validate$/,
    endpoint: "validate",
    methods: { POST: tapped(({ state, call }) => validate(state, call.body)) }
  },
  {
    pattern: /^\/v1\/validate\/public$/,
    endpoint: "validate",
    methods: { POST: { key: "none", handle: ({ state, call }) => validate(state, call.body) } }
  },
  { pattern: /^\/v1\/stream$/, endpoint: "stream", methods: { GET: tapped(openStream) } }
]

function managed(handle: (call: ManagementCall) => Reply): Route {
  return { key: "management", handle }
}

function tapped(handle: (call: TapCall) => Reply): Route {
  return { key: "tap", handle }
}

const answered = (endpoint: FirehoseEndpoint, route: Route, call: ManagementCall): Reply => {
  const { state } = call
  const { settings, faults } = state.world
  const { now } = call.call
  const place = { platform: "firehose", endpoint, now } as const
  const failing = faults.take("server-error", place)
  if (failing !== undefined)
    return failure(settings, failing.status, failing.status === 502 ? "Bad Gateway" : "Server Error")
  const limited = () => {
    const fault = faults.take("rate-limit", place)
    return fault === undefined ? undefined : tooManyAttempts(settings, fault.headers ? fault.reset_seconds : undefined)
  }
  const unpaid = () => (faults.take("payment-required", place) === undefined ? undefined : noCredit(settings))

  if (route.key === "none") return limited() ?? unpaid() ?? route.handle(call)
  const token = bearerOf(call.call)
  const isManagement = token === settings.firehose.management_key
  const tap = state.tapOf(token)
  if (route.key === "management") {
    if (!isManagement) return unauthenticated(settings, tap === undefined ? 401 : settings.firehose.wrong_key_status)
    return limited() ?? exceeded(state, "taps", settings.firehose.taps_limit, now) ?? unpaid() ?? route.handle(call)
  }
  if (tap === undefined) return unauthenticated(settings, isManagement ? settings.firehose.wrong_key_status : 401)
  tap.lastUsedAt = now
  const limits = { rules: settings.firehose.rules_limit, stream: settings.firehose.stream_limit }
  const own = endpoint === "rules" || endpoint === "stream" ? limits[endpoint] : undefined
  return (
    limited() ??
    (own === undefined ? undefined : exceeded(state, `${endpoint}.${tap.id}`, own, now)) ??
    unpaid() ??
    route.handle({ ...call, tap })
  )
}

/** The refusal, if this is one call too many in this minute. */
const exceeded = (state: FirehoseState, key: string, limit: number, now: number): Reply | undefined => {
  const standing = state.world.ledger.take("firehose", key, { limit, windowMillis: MINUTE }, now)
  if (!standing.isExceeded) return undefined
  return tooManyAttempts(state.world.settings, Math.max(1, Math.ceil((standing.resetAt - now) / 1_000)))
}
