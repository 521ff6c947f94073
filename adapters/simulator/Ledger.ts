/** What clients did: calls in windows, connections with their times, and where they asked for more than is allowed. */
import type { SimulatedPlatform } from "./endpoints.ts"

export interface Limit {
  readonly limit: number
  readonly windowMillis: number
  /** How much later the window ends for each call over the limit. */
  readonly penaltyMillis?: number
}

export interface Standing {
  readonly limit: number
  readonly remaining: number
  /** When the window ends, in milliseconds. */
  readonly resetAt: number
  readonly isExceeded: boolean
}

export interface ConnectionAttempt {
  readonly platform: SimulatedPlatform
  readonly at: number
  readonly status: number
}

export interface Violation {
  readonly platform: SimulatedPlatform
  readonly at: number
  readonly kind: "calls" | "connections"
  readonly message: string
}

export class Ledger {
  private readonly windows = new Map<string, Window>()
  private readonly totals = new Map<string, Totals>()
  private readonly mostOpen = new Map<SimulatedPlatform, number>()
  readonly attempts: Array<ConnectionAttempt> = []
  readonly violations: Array<Violation> = []

  /** One call: uses up one of the window, which begins with its first call. `key` says which calls are counted together. */
  take(platform: SimulatedPlatform, key: string, limit: Limit, now: number): Standing {
    const name = `${platform}.${key}`
    const window = this.windows.get(name) ?? { limit: limit.limit, used: 0, most: 0, resetAt: now }
    this.windows.set(name, window)
    if (window.resetAt <= now) Object.assign(window, { used: 0, resetAt: now + limit.windowMillis })
    window.limit = limit.limit
    const isExceeded = window.used >= limit.limit
    if (isExceeded) {
      window.resetAt += limit.penaltyMillis ?? 0
      this.violate({ platform, at: now, kind: "calls", message: `${key}: more than ${limit.limit} calls in a window` })
    } else {
      window.used++
    }
    window.most = Math.max(window.most, window.used)
    return { limit: limit.limit, remaining: limit.limit - window.used, resetAt: window.resetAt, isExceeded }
  }

  /** Takes back one call of the window. */
  giveBack(platform: SimulatedPlatform, key: string): void {
    const window = this.windows.get(`${platform}.${key}`)
    if (window !== undefined && window.used > 0) window.used--
  }

  answered(platform: SimulatedPlatform, endpoint: string, status: number, now: number): void {
    const totals = this.totalsOf(`${platform}.${endpoint}`)
    totals.calls++
    totals.statuses[status] = (totals.statuses[status] ?? 0) + 1
    if (endpoint === "stream") keep(this.attempts, { platform, at: now, status })
  }

  opened(platform: SimulatedPlatform, open: number): void {
    this.mostOpen.set(platform, Math.max(this.mostOpen.get(platform) ?? 0, open))
  }

  violate(violation: Violation): void {
    keep(this.violations, violation)
  }

  get calls(): Readonly<Record<string, Totals>> {
    return Object.fromEntries(this.totals)
  }

  /** The last window of each kind of call; `most` is over all windows. */
  get callWindows(): Readonly<Record<string, Window>> {
    return Object.fromEntries(this.windows)
  }

  get mostConnections(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.mostOpen)
  }

  private totalsOf(name: string): Totals {
    const found = this.totals.get(name) ?? { calls: 0, statuses: {} }
    this.totals.set(name, found)
    return found
  }
}

// ---- helpers ----

interface Window {
  limit: number
  used: number
  most: number
  resetAt: number
}

interface Totals {
  calls: number
  /** Calls by the status of their answers; 0 for one that got none. */
  readonly statuses: Record<number, number>
}

/** Enough for a day of reconnects; the oldest go first. */
const MOST_KEPT = 10_000

const keep = <A>(list: Array<A>, item: A): void => {
  list.push(item)
  if (list.length > MOST_KEPT) list.shift()
}
