/** Quotas for tests. */
import { Layer } from "effect"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import type { Defaults } from "../core/quotas/Limit.ts"
import { LimitStore } from "../core/quotas/LimitStore.ts"
import { Quotas } from "../core/quotas/Quotas.ts"

export const NO_LIMITS: Defaults = {
  requests: 0,
  checks: 0,
  matching: 0,
  events: 0,
  streams: 0,
  webhooks: 0,
  matches: 0,
  bytes: 0
}

/** On a memory store, with no limits except these. */
export const quotas = (limits: Partial<Defaults> = {}) =>
  Quotas.layerWith({ defaults: { ...NO_LIMITS, ...limits }, isOnlyProcess: true }).pipe(
    Layer.provide(Layer.merge(LimitStore.layerMemory, RuntimeEntropy.layer))
  )
