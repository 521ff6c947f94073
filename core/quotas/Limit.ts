/** The limits of an account. */
import type { PlatformId } from "../model/PlatformId.ts"

/** The counters of limits per minute start again at every full minute. */
export const WINDOW_SECONDS = 60

/** All limits, except those on rules: each platform has one. */
const limits = {
  requests: "Requests per minute",
  checks: "Compute seconds per minute for checks and backtests",
  matching:
    "Compute seconds per minute for matching rules against shared events; over the limit, the most expensive rules are paused",
  events: "Events sent per minute",
  streams: "Open live streams and waits per server",
  webhooks: "Webhooks",
  subscriptions: "Subscriptions of MCP clients to events",
  challenges: "Challenges of callback URLs per minute, before a subscription",
  feeds: "Feeds that the account has added",
  matches: "Stored matches; over the limit, the oldest are deleted",
  bytes: "Bytes of stored matches; over the limit, the oldest are deleted"
} as const

type PlainLimit = keyof typeof limits

/** The platforms without which a limit does not exist. */
const onlyWith: Partial<Readonly<Record<PlainLimit, PlatformId>>> = { feeds: "feeds" }

const windowLimits = ["requests", "checks", "matching", "events", "challenges"] as const

/** Limits per minute. */
export type WindowLimit = (typeof windowLimits)[number]

export type LimitName = PlainLimit | `rules.${PlatformId}`

/** 0: no limit. */
export type Defaults = Readonly<Record<PlainLimit, number>>

export const isPlain = (name: LimitName): name is PlainLimit => Object.hasOwn(limits, name)

export const isWindowLimit = (name: LimitName): name is WindowLimit => windowLimits.some((one) => one === name)

export const describeLimit = (name: LimitName): string =>
  isPlain(name) ? limits[name] : `Rules on ${platformOf(name)}`

export const rulesOn = (platform: PlatformId): LimitName => `rules.${platform}`

export const platformOf = (name: `rules.${PlatformId}`): PlatformId => name.slice("rules.".length)

/** The names of all limits of a server with these platforms. */
export const limitNames = (platforms: ReadonlyArray<PlatformId>): ReadonlyArray<LimitName> => [
  // `keys` returns strings; these are the keys of the table.
  ...(Object.keys(limits) as ReadonlyArray<PlainLimit>).filter((name) => {
    const platform = onlyWith[name]
    return platform === undefined || platforms.includes(platform)
  }),
  ...platforms.map(rulesOn)
]
