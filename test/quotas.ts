/** Quotas for tests. */

import { Clock, Effect, Layer } from "effect"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import { type Defaults, WINDOW_SECONDS } from "../core/quotas/Limit.ts"
import { Quotas } from "../core/quotas/Quotas.ts"
import { memoryLimits } from "./stores/memoryLimits.ts"

export const NO_LIMITS: Defaults = {
  requests: 0,
  checks: 0,
  matching: 0,
  events: 0,
  streams: 0,
  webhooks: 0,
  subscriptions: 0,
  challenges: 0,
  feeds: 0,
  matches: 0,
  bytes: 0
}

/** On a memory store, with no limits except these. */
export const quotas = (limits: Partial<Defaults> = {}) =>
  Quotas.layerWith({ defaults: { ...NO_LIMITS, ...limits } }).pipe(
    Layer.provide(Layer.merge(memoryLimits, RuntimeEntropy.layer))
  )

/** Counters start again at every full minute: waits for the next one if this one is nearly over. */
export const earlyInMinute = Effect.gen(function* () {
  const window = WINDOW_SECONDS * 1_000
  const passed = (yield* Clock.currentTimeMillis) % window
  if (passed > window - 10_000) yield* Effect.sleep(window - passed)
})
