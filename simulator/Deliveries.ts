/** The records that went out on streams, so that a test can tell what a client must have received. */
import type { SimulatedPlatform } from "./endpoints.ts"

/** The event of a record, and the rules that it was sent for. */
export interface SentEvent {
  /** A post id, or an event id of Firehose. */
  readonly event: string
  /** Of a page. */
  readonly url?: string
  readonly rules: ReadonlyArray<string>
  /** The fault that damaged the record. */
  readonly damaged_by?: DamagedBy
}

export type DamagedBy = "cut" | "torn-line" | "half-utf8" | "without-rules" | "unknown-rules" | "oversized"

export interface Delivery extends SentEvent {
  /** Counts from 1, in the order of sending. */
  readonly number: number
  /** In milliseconds. */
  readonly at: number
  readonly platform: SimulatedPlatform
  readonly connection: string
}

export interface DeliveryPage {
  readonly delivered: ReadonlyArray<Delivery>
  /** `since` of the next page. */
  readonly next: number
  /** The oldest ones, no longer kept. */
  readonly forgotten: number
}

export class Deliveries {
  private readonly kept: Array<Delivery> = []
  private forgotten = 0

  record(delivery: Omit<Delivery, "number">): void {
    this.kept.push({ number: this.forgotten + this.kept.length + 1, ...delivery })
    if (this.kept.length <= MAX_KEPT) return
    this.kept.splice(0, MAX_KEPT / 2)
    this.forgotten += MAX_KEPT / 2
  }

  /** The rules that each event was sent for without damage. */
  intact(platform: SimulatedPlatform): ReadonlyMap<string, ReadonlySet<string>> {
    const rulesOf = new Map<string, Set<string>>()
    for (const { event, rules, platform: of, damaged_by } of this.kept) {
      if (of !== platform || damaged_by !== undefined) continue
      const known = rulesOf.get(event) ?? new Set()
      rulesOf.set(event, known)
      for (const rule of rules) known.add(rule)
    }
    return rulesOf
  }

  /** Those after the number `since`, oldest first. */
  page(since: number, limit: number): DeliveryPage {
    const start = Math.max(0, since - this.forgotten)
    const delivered = this.kept.slice(start, start + limit)
    return { delivered, next: delivered.at(-1)?.number ?? Math.max(since, this.forgotten), forgotten: this.forgotten }
  }
}

// ---- helpers ----

const MAX_KEPT = 100_000
