/** The endpoints that faults, limits and counters go by. */
import { Schema } from "effect"

/** The platforms that the simulator plays. */
export const SimulatedPlatform = Schema.Literal("x", "firehose")
export type SimulatedPlatform = typeof SimulatedPlatform.Type

export const ENDPOINTS = {
  x: ["rules.list", "rules.update", "rules.counts", "stream", "connections.list", "connections.kill", "usage"],
  firehose: ["taps", "rules", "validate", "stream"]
} as const

export type XEndpoint = (typeof ENDPOINTS.x)[number]
export type FirehoseEndpoint = (typeof ENDPOINTS.firehose)[number]

export const isEndpointOf = (platform: SimulatedPlatform, name: string): boolean =>
  ENDPOINTS[platform].some((endpoint) => endpoint === name)
