/** The endpoints that faults, limits and counters go by. */
import type { PlatformId } from "../../core/model/PlatformId.ts"

export const ENDPOINTS = {
  x: ["rules.list", "rules.update", "rules.counts", "stream", "connections.list", "connections.kill", "usage"],
  firehose: ["taps", "rules", "validate", "stream"]
} as const

export type XEndpoint = (typeof ENDPOINTS.x)[number]
export type FirehoseEndpoint = (typeof ENDPOINTS.firehose)[number]

export const isEndpointOf = (platform: PlatformId, name: string): boolean =>
  ENDPOINTS[platform].some((endpoint) => endpoint === name)
