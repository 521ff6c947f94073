/** Counts what clients did: calls per rate-limit window, connections, and violations of limits. */
import type { SimulatedPlatform } from "./endpoints.ts"

export interface Limit {
  readonly limit: number
  readonly windowMillis: number
  /** Extends the window for each call over the limit. */
  readonly penaltyMillis?: number
}

export interface LimitStatus {
  readonly limit: number
  readonly remaining: number
  /** End of the window, in milliseconds. */
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
  private readonly peaks = new Map<SimulatedPlatform, number>()
  readonly attempts: Array<ConnectionAttempt> = []
  readonly violations: Array<Violation> = []

  /** Counts one call. Calls with the same `key` share a window, which starts at its first call. */
  take(platform: SimulatedPlatform, key: string, limit: Limit, now: number): LimitStatus {
    const name = `${platform}.${key}`
    const window = this.windows.get(name) ?? { limit: limit.limit, used: 0, most: 0, resetAt: now }
    this.windows.set(name, window)
    if (window.resetAt <= now) Object.assign(window, { used: 0, resetAt: now + limit.windowMillis })
    window.limit = limit.limit
    const isExceeded = window.used >= limit.limit
    if (isExceeded) {
      window.resetAt += limit.penaltyMillis ?? 0
      const message = `${key}: more than ${limit.limit} calls in a window`
      this.recordViolation({ platform, at: now, kind: "calls", message })
    } else {
      window.used++
    }
    window.most = Math.max(window.most, window.used)
    return { limit: limit.limit, remaining: limit.limit - window.used, resetAt: window.resetAt, isExceeded }
  }

  refund(platform: SimulatedPlatform, key: string): void {
    const window = this.windows.get(`${platform}.${key}`)
    if (window !== undefined && window.used > 0) window.used--
  }

  /** `status` is 0 when the connection was dropped. */
  recordReply(platform: SimulatedPlatform, endpoint: string, status: number, now: number): void {
    const name = `${platform}.${endpoint}`
    const totals = this.totals.get(name) ?? { calls: 0, statuses: {} }
    this.totals.set(name, totals)
    totals.calls++
    totals.statuses[status] = (totals.statuses[status] ?? 0) + 1
    if (endpoint === "stream") pushBounded(this.attempts, { platform, at: now, status })
  }

  recordOpen(platform: SimulatedPlatform, open: number): void {
    this.peaks.set(platform, Math.max(this.peaks.get(platform) ?? 0, open))
  }

  recordViolation(violation: Violation): void {
    pushBounded(this.violations, violation)
  }

  get calls(): Readonly<Record<string, Totals>> {
    return Object.fromEntries(this.totals)
  }

  /** The last window of each key; `most` covers all its windows. */
  get callWindows(): Readonly<Record<string, Window>> {
    return Object.fromEntries(this.windows)
  }

  get peakConnections(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.peaks)
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
  readonly statuses: Record<number, number>
}

/** Enough for a day of reconnects. */
const MAX_ENTRIES = 10_000

const pushBounded = <A>(list: Array<A>, item: A): void => {
  list.push(item)
  if (list.length > MAX_ENTRIES) list.shift()
}
