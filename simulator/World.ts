/** State shared by both platforms: settings, clock, faults, random numbers and the ledger. */
import { Clock, Effect } from "effect"
import { type Random, seeded } from "../adapters/demo/random.ts"
import { Deliveries } from "./Deliveries.ts"
import type { SimulatedPlatform } from "./endpoints.ts"
import { Faults } from "./faults.ts"
import { Ledger } from "./Ledger.ts"
import { applyPatch, type Settings, type SettingsPatch } from "./settings.ts"

/** A cap, and whether a `lower-caps` fault lowered it. */
export interface Cap {
  readonly cap: number
  readonly isLowered: boolean
}

export class World {
  settings: Settings
  readonly faults = new Faults()
  readonly ledger = new Ledger()
  readonly deliveries = new Deliveries()
  readonly random: Random
  isClosing = false
  private advancedMillis = 0
  private readonly listeners = new Set<() => void>()

  constructor(options: { readonly settings: Settings; readonly seed: number }) {
    this.settings = options.settings
    this.random = seeded(options.seed)
  }

  /** The simulator's clock: the runtime's clock plus the time it was advanced by. */
  readonly now: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (millis) => millis + this.advancedMillis)

  advance(millis: number): void {
    this.advancedMillis += millis
    this.notify()
  }

  /** Ends every open stream. New ones end at once. */
  close(): void {
    this.isClosing = true
    this.notify()
  }

  patch(patch: SettingsPatch): void {
    this.settings = applyPatch(this.settings, patch)
    this.notify()
  }

  /** The time that the platform reports, shifted by a `clock-skew` fault. */
  reportedTime(platform: SimulatedPlatform, now: number): number {
    return now + (this.faults.take("clock-skew", { platform, now })?.skew_seconds ?? 0) * 1_000
  }

  effectiveCap(platform: SimulatedPlatform, of: "rules" | "connections", cap: number, now: number): Cap {
    const lowered = this.faults.peek("lower-caps", { platform, now })?.[of]
    return lowered !== undefined && lowered < cap ? { cap: lowered, isLowered: true } : { cap, isLowered: false }
  }

  /** Calls the listener on every change that may end a wait. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  notify(): void {
    for (const listener of this.listeners) listener()
  }

  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.random.below(16).toString(16)).join("")
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  alphanumeric(length: number): string {
    return Array.from({ length }, () => ALPHANUMERIC.charAt(this.random.below(ALPHANUMERIC.length))).join("")
  }
}

// ---- helpers ----

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
