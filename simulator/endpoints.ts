/** Endpoint names, used by faults, rate limits and counters. */
import { Schema } from "effect"

/** The platforms that the simulator plays. */
export const SimulatedPlatform = Schema.Literal("x", "firehose", "wikimedia", "feeds")
export type SimulatedPlatform = typeof SimulatedPlatform.Type

export const endpoints = {
  x: [
    "rules.list",
    "rules.update",
    "rules.counts",
    "counts.recent",
    "stream",
    "connections.list",
    "connections.kill",
    "usage",
    "posts"
  ],
  firehose: ["taps", "rules", "validate", "stream"],
  wikimedia: ["stream"],
  /** Below /feeds. */
  feeds: ["1.xml", "2.xml", "3.xml", "4.json"]
} as const

export type XEndpoint = (typeof endpoints.x)[number]
export type FirehoseEndpoint = (typeof endpoints.firehose)[number]

export const isEndpointOf = (platform: SimulatedPlatform, name: string): boolean =>
  endpoints[platform].some((endpoint) => endpoint === name)
